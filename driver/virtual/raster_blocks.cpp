#include "driver/virtual/raster_blocks.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "driver/stores/references/target_files.h"
#include "driver/virtual/grib_blocks.h"
#include "driver/virtual/tiff_blocks.h"
#include "driver/virtual/vrt_blocks.h"
#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/error.h"
#include "zarrcore/codec/codec_chain.h"

namespace gdal_zarr {
namespace {

using zarrcore::Buffer;
using zarrcore::Error;

// Returns true if values of GRIB are alike: those that are missing are NaN, where GDAL reads
// nodata, and old versions of GDAL compute in single precision.
bool is_like_grib(zarrcore::ByteSpan stored, zarrcore::ByteSpan expected, GDALRasterBand& band) {
  constexpr double kSinglePrecision = 1e-6;
  int has_nodata = FALSE;
  const double nodata = band.GetNoDataValue(&has_nodata);
  for (std::size_t at = 0; at < stored.size(); at += sizeof(double)) {
    double a = 0;
    double b = 0;
    std::memcpy(&a, stored.data() + at, sizeof a);
    std::memcpy(&b, expected.data() + at, sizeof b);
    const bool is_missing = std::isnan(a) && has_nodata != FALSE && b == nodata;
    if (!is_missing && !(std::abs(a - b) <= kSinglePrecision * std::abs(b))) return false;
  }
  return true;
}

}  // namespace

bool BlockLayout::operator==(const BlockLayout& other) const {
  const auto is_same = [](const zarrcore::CodecMetadata& a, const zarrcore::CodecMetadata& b) {
    return a.name == b.name && a.configuration == b.configuration;
  };
  return chunk_shape == other.chunk_shape && data_type == other.data_type &&
         std::ranges::equal(codecs, other.codecs, is_same);
}

BlockLayout RasterBlocks::layout(std::size_t rank) const {
  BlockLayout layout{{block_rows, block_columns}, data_type, codecs};
  if (is_by_pixel) {
    layout.chunk_shape.push_back(bands);
  }
  while (layout.chunk_shape.size() < rank) {
    layout.chunk_shape.insert(layout.chunk_shape.begin(), 1);
  }
  if (layout.chunk_shape.size() != rank) {
    throw Error("its bands are interleaved by pixel, but do not share an array");
  }
  for (zarrcore::CodecMetadata& codec : layout.codecs) {
    if (!codec.configuration.contains("shape")) continue;
    codec.configuration["shape"] = layout.chunk_shape;
    codec.configuration["axis"] = is_by_pixel ? -2 : -1;
  }
  return layout;
}

std::uint64_t RasterBlocks::count_per_band() const {
  return zarrcore::ceil_divide(rows, block_rows) * zarrcore::ceil_divide(columns, block_columns);
}

Pixel make_pixel(const void* value, GDALDataType type) {
  Pixel pixel{};
  double number = 0;
  GDALCopyWords(value, type, 0, &number, GDT_Float64, 0, 1);
  if (std::isnan(number)) {
    number = std::nan("");
    GDALCopyWords(&number, GDT_Float64, 0, pixel.data(), type, 0, 1);
  } else {
    std::memcpy(pixel.data(), value, static_cast<std::size_t>(GDALGetDataTypeSizeBytes(type)));
  }
  return pixel;
}

Pixel missing_pixel(GDALRasterBand& band) {
  const GDALDataType type = band.GetRasterDataType();
  const auto nearest = [&](const void* nodata, GDALDataType from, int is_set) {
    Pixel value{};
    if (is_set != FALSE) GDALCopyWords(nodata, from, 0, value.data(), type, 0, 1);
    return make_pixel(value.data(), type);
  };
  int is_set = FALSE;
  if (type == GDT_Int64) {
    const auto nodata = band.GetNoDataValueAsInt64(&is_set);
    return nearest(&nodata, type, is_set);
  }
  if (type == GDT_UInt64) {
    const auto nodata = band.GetNoDataValueAsUInt64(&is_set);
    return nearest(&nodata, type, is_set);
  }
  const double nodata = band.GetNoDataValue(&is_set);
  return nearest(&nodata, GDT_Float64, is_set);
}

RasterBlocks find_raster_blocks(GDALDataset& dataset, BlockCheck check, bool copies_others) {
  if (is_grib(dataset)) return find_grib_blocks(dataset, check);
  return is_vrt(dataset) ? find_vrt_blocks(dataset, copies_others)
                         : find_tiff_blocks(dataset, check);
}

void check_block(const RasterBlocks& blocks, const RasterBlock& block, GDALDataset& source,
                 int first_band) {
  const BlockLayout layout = blocks.layout(blocks.is_by_pixel ? 3 : 2);
  const std::vector<std::byte> zero(blocks.data_type.item_size);
  const zarrcore::CodecChain chain(layout.codecs, {layout.chunk_shape, blocks.data_type, zero});
  TargetFiles files("");
  const Buffer encoded = block.reference.target.empty()
                             ? Buffer::copy_of(block.reference.value.span())
                             : files.get(block.reference, chain.max_encoded_size());
  const zarrcore::DecodedChunk decoded = chain.decode(encoded.span());
  const std::uint64_t row = block.row * blocks.block_rows;
  const std::uint64_t column = block.column * blocks.block_columns;
  const auto rows = static_cast<int>(std::min(blocks.block_rows, blocks.rows - row));
  const auto columns = static_cast<int>(std::min(blocks.block_columns, blocks.columns - column));
  const std::uint64_t count = blocks.is_by_pixel ? blocks.bands : 1;
  std::vector<int> bands(count);
  std::iota(bands.begin(), bands.end(), first_band + static_cast<int>(block.band));
  const GDALDataType type = source.GetRasterBand(bands[0])->GetRasterDataType();
  const auto pixel = static_cast<std::uint64_t>(GDALGetDataTypeSizeBytes(type)) * count;
  if (pixel != blocks.data_type.item_size * count) {
    throw Error("GDAL shows its values as " + std::string(GDALGetDataTypeName(type)) +
                ", not as they are stored");
  }
  const auto line = pixel * static_cast<std::uint64_t>(columns);
  Buffer expected(line * static_cast<std::uint64_t>(rows));
  if (source.RasterIO(GF_Read, static_cast<int>(column), static_cast<int>(row), columns, rows,
                      expected.data(), columns, rows, type, static_cast<int>(count), bands.data(),
                      static_cast<GSpacing>(pixel), static_cast<GSpacing>(line),
                      static_cast<GSpacing>(pixel / count), nullptr) != CE_None) {
    throw Error("it cannot be read");
  }
  for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(rows); ++i) {
    const std::byte* stored = decoded.elements.data() + i * pixel * blocks.block_columns;
    const std::byte* wanted = expected.data() + i * line;
    if (std::memcmp(stored, wanted, line) != 0 &&
        !(blocks.has_nan_for_nodata &&
          is_like_grib({stored, line}, {wanted, line}, *source.GetRasterBand(bands[0])))) {
      throw Error("decoding its blocks does not give the values that GDAL reads");
    }
  }
}

}  // namespace gdal_zarr
