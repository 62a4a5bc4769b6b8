// Where the blocks of a raster are: in which part of which file, and how they are encoded. They
// become the chunks of an array that is stored nowhere else.
//
//   find_raster_blocks()  chooses by the format: tiff_blocks.cpp, vrt_blocks.cpp, grib.cpp
//   RasterBlocks::visit   gives the blocks one after the other, each with its Reference
//   check_block()         decodes one and compares it with what GDAL reads
#pragma once

#include <gdal_priv.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "driver/stores/references/reference.h"
#include "driver/stores/references/target_files.h"
#include "zarrcore/base/strided.h"
#include "zarrcore/codec/codec_chain.h"
#include "zarrcore/dtype/data_type.h"
#include "zarrcore/metadata/codec_metadata.h"
#include "zarrcore/store/store.h"

namespace gdal_zarr {

// What an array needs to have such blocks as its chunks.
struct BlockLayout {
  zarrcore::Shape chunk_shape;
  zarrcore::DataType data_type;
  std::vector<zarrcore::CodecMetadata> codecs;

  bool operator==(const BlockLayout& other) const;
};

// A reference to a part of the file at a path for GDAL.
Reference file_part(const std::string& path, const zarrcore::ByteRange& part);

// Decodes blocks, to compare them with what GDAL reads.
class BlockDecoder {
 public:
  explicit BlockDecoder(const BlockLayout& layout);

  // The first `count` elements of a block along each dimension, dense.
  zarrcore::Buffer decode(const Reference& block, std::span<const std::uint64_t> count);

 private:
  std::vector<std::byte> zero_;
  zarrcore::CodecChain chain_;
  TargetFiles files_;
};

// The position of an element or chunk with this number in C order.
zarrcore::Shape position_of(std::uint64_t number, std::span<const std::uint64_t> shape);

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
  bool is_by_pixel = false;  // true if blocks have several bands, which vary fastest
  std::uint64_t block_rows = 0;
  std::uint64_t block_columns = 0;
  zarrcore::DataType data_type;
  std::vector<zarrcore::CodecMetadata> codecs;  // their members `shape` and `axis` are not set
  bool has_nan_for_nodata = false;              // true if they make NaN of missing values
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

// The name of the dataset's driver: "GTiff", "VRT", "GRIB"; "(none)" without one.
std::string format_of(GDALDataset& dataset);

// The blocks of a TIFF, a GRIB file or a VRT. Throws zarrcore::Error, which says why, if they
// cannot be chunks. With `copies_others`, those of a VRT that cannot are copied, if others can. The
// dataset must outlive the result.
RasterBlocks find_raster_blocks(GDALDataset& dataset, BlockCheck check = BlockCheck::first,
                                bool copies_others = false);

// The tiles and strips of a TIFF; throws for other formats. A strip at the bottom that is shorter
// than the others becomes a value of the references.
RasterBlocks find_tiff_blocks(GDALDataset& dataset, BlockCheck check = BlockCheck::first);

// The same for its overview `index` (counted from 0), in the same file or in that beside it.
RasterBlocks find_tiff_overview(GDALDataset& dataset, int index);

// The blocks of the TIFF files of which a VRT consists: they have blocks of one kind, each in its
// place in the grid of the mosaic. Files are opened one after the other, when they are visited;
// those after the first are checked only then. With `copies_others`, the blocks of sources that are
// not like the first one are copied.
RasterBlocks find_vrt_blocks(GDALDataset& dataset, bool copies_others);

// The messages of a GRIB file: each is the chunk of one band. Throws when messages cannot be
// chunks: those with several fields, and those whose points do not run from west to east, row after
// row. All messages are decoded for a check, as GDAL may show those of some elements in other
// units; only the first one if `check` is none and the options of GDAL for that are NO.
RasterBlocks find_grib_blocks(GDALDataset& dataset, BlockCheck check);

// A value of any data type of GDAL, with zeros after it. NaN has one form.
using Pixel = std::array<std::byte, 2 * sizeof(double)>;
Pixel make_pixel(const void* value, GDALDataType type);

// What GDAL reads where a band has no block: the nearest value of its type to nodata, else zero.
Pixel missing_pixel(GDALRasterBand& band);

// Throws zarrcore::Error unless decoding a block gives what GDAL reads there from the bands from
// `first_band` (counted from 1) on.
void check_block(const RasterBlocks& blocks, const RasterBlock& block, GDALDataset& source,
                 int first_band);

// Rasters side by side in the grid of a larger one, the mosaic.

// Where a file is in the mosaic, in pixels.
struct Placement {
  std::string file;
  std::uint64_t x = 0;
  std::uint64_t y = 0;
  std::uint64_t columns = 0;
  std::uint64_t rows = 0;
};

// Throws zarrcore::Error unless the blocks of the file are blocks of the mosaic.
void check_alignment(const Placement& source, const RasterBlocks& mosaic);

// Throws zarrcore::Error unless blocks have the shape and encoding of those of the mosaic.
void check_alike(const RasterBlocks& blocks, const RasterBlocks& mosaic);

// Calls `use(row, column)` for the blocks of the mosaic that a source touches, until it returns
// false.
template <typename Use>
bool for_touched(const Placement& source, const RasterBlocks& mosaic, const Use& use) {
  const std::uint64_t height = mosaic.block_rows;
  const std::uint64_t width = mosaic.block_columns;
  for (auto row = source.y / height; row * height < source.y + source.rows; ++row) {
    for (auto column = source.x / width; column * width < source.x + source.columns; ++column) {
      if (!use(row, column)) return false;
    }
  }
  return true;
}

// Throws zarrcore::Error if two of them overlap.
void check_overlaps(std::span<const Placement* const> sources);

}  // namespace gdal_zarr
