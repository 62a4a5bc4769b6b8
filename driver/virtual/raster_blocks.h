// Where the blocks of a raster are: in which part of which file, and how they are encoded. They
// become the chunks of an array that is stored nowhere else.
#pragma once

#include <gdal_priv.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "driver/stores/references/reference.h"
#include "zarrcore/base/strided.h"
#include "zarrcore/dtype/data_type.h"
#include "zarrcore/metadata/codec_metadata.h"

namespace gdal_zarr {

// What an array needs to have such blocks as its chunks.
struct BlockLayout {
  zarrcore::Shape chunk_shape;
  zarrcore::DataType data_type;
  std::vector<zarrcore::CodecMetadata> codecs;

  bool operator==(const BlockLayout& other) const;
};

// A block of a raster: its place among the blocks, and its bytes. The target is a path for GDAL.
struct RasterBlock {
  std::uint64_t band = 0;  // counted from 0; 0 for a block with all bands
  std::uint64_t row = 0;
  std::uint64_t column = 0;
  Reference reference;
  bool is_copied = false;  // it has no reference: its values are those that GDAL reads
};
// Returns false to stop.
using VisitBlock = std::function<bool(RasterBlock block)>;

struct RasterBlocks {
  std::uint64_t bands = 0;
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  bool is_by_pixel = false;  // whether blocks have several bands, which vary fastest
  std::uint64_t block_rows = 0;
  std::uint64_t block_columns = 0;
  zarrcore::DataType data_type;
  std::vector<zarrcore::CodecMetadata> codecs;  // their members `shape` and `axis` are not set
  bool has_nan_for_nodata = false;              // whether they make NaN of missing values
  // Calls the function for each block that exists, until it returns false. Throws zarrcore::Error.
  std::function<void(const VisitBlock&)> visit;

  // For an array with the dimensions rows, columns and, if is_by_pixel, bands; chunks have one
  // element along those before them.
  BlockLayout layout(std::size_t rank) const;
  // The number of blocks with values of a band, if none is missing.
  std::uint64_t count_per_band() const;
};

// One block is decoded and compared with what GDAL reads, unless that has been done for another
// file like it.
enum class BlockCheck : bool { none, first };

// The blocks of a TIFF, a GRIB file or a VRT. Throws zarrcore::Error, which says why, if they
// cannot be chunks. With `copies_others`, those of a VRT that cannot are copied, if others can. The
// dataset must outlive the result.
RasterBlocks find_raster_blocks(GDALDataset& dataset, BlockCheck check = BlockCheck::first,
                                bool copies_others = false);

// A value of any data type of GDAL, with zeros behind it. NaN has one form.
using Pixel = std::array<std::byte, 2 * sizeof(double)>;
Pixel make_pixel(const void* value, GDALDataType type);

// What GDAL reads where a band has no block: the nearest value of its type to nodata, else zero.
Pixel missing_pixel(GDALRasterBand& band);

// Throws zarrcore::Error unless decoding a block gives what GDAL reads there from the bands from
// `first_band` (counted from 1) on.
void check_block(const RasterBlocks& blocks, const RasterBlock& block, GDALDataset& source,
                 int first_band);

}  // namespace gdal_zarr
