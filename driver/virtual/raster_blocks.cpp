#include "driver/virtual/raster_blocks.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <map>
#include <numeric>
#include <utility>

#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/error.h"

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
    // The same bits may be a NaN of the message's own.
    if (std::memcmp(stored.data() + at, expected.data() + at, sizeof(double)) == 0) continue;
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

Reference file_part(const std::string& path, const zarrcore::ByteRange& part) {
  Reference reference;
  reference.target = path;
  reference.offset = part.offset;
  reference.length = part.length;
  reference.is_path = true;
  return reference;
}

BlockDecoder::BlockDecoder(const BlockLayout& layout)
    : zero_(layout.data_type.item_size),
      chain_(layout.codecs, {layout.chunk_shape, layout.data_type, zero_}),
      files_("") {}

Buffer BlockDecoder::decode(const Reference& block, std::span<const std::uint64_t> count) {
  const Buffer encoded = block.target.empty() ? Buffer::copy_of(block.value.span())
                                              : files_.get(block, chain_.max_encoded_size());
  zarrcore::DecodedChunk decoded = chain_.decode(encoded.span());
  if (std::ranges::equal(count, chain_.spec().shape)) return std::move(decoded.elements);
  const std::uint64_t item_size = zero_.size();
  Buffer elements(*zarrcore::checked_product(count) * item_size);
  zarrcore::copy_strided(count, item_size, decoded.elements.data(),
                         zarrcore::c_strides(chain_.spec().shape, item_size), elements.data(),
                         zarrcore::c_strides(count, item_size));
  return elements;
}

zarrcore::Shape position_of(std::uint64_t number, std::span<const std::uint64_t> shape) {
  zarrcore::Shape position(shape.size());
  for (std::size_t i = shape.size(); i-- > 0; number /= shape[i]) position[i] = number % shape[i];
  return position;
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

std::string format_of(GDALDataset& dataset) {
  const GDALDriver* driver = dataset.GetDriver();
  return driver != nullptr ? driver->GetDescription() : "(none)";
}

RasterBlocks find_raster_blocks(GDALDataset& dataset, BlockCheck check, bool copies_others) {
  const std::string format = format_of(dataset);
  if (format == "GRIB") return find_grib_blocks(dataset, check);
  return format == "VRT" ? find_vrt_blocks(dataset, copies_others)
                         : find_tiff_blocks(dataset, check);
}

void check_block(const RasterBlocks& blocks, const RasterBlock& block, GDALDataset& source,
                 int first_band) {
  const std::uint64_t row = block.row * blocks.block_rows;
  const std::uint64_t column = block.column * blocks.block_columns;
  const std::uint64_t rows = std::min(blocks.block_rows, blocks.rows - row);
  const std::uint64_t columns = std::min(blocks.block_columns, blocks.columns - column);
  zarrcore::Shape shape{rows, columns};
  if (blocks.is_by_pixel) shape.push_back(blocks.bands);
  const Buffer stored = BlockDecoder(blocks.layout(shape.size())).decode(block.reference, shape);
  std::vector<int> bands(blocks.is_by_pixel ? blocks.bands : 1);
  std::iota(bands.begin(), bands.end(), first_band + static_cast<int>(block.band));
  GDALRasterBand& band = *source.GetRasterBand(bands[0]);
  const GDALDataType type = band.GetRasterDataType();
  const auto size = static_cast<GSpacing>(blocks.data_type.item_size);
  if (GDALGetDataTypeSizeBytes(type) != size) {
    throw Error("GDAL shows its values as " + std::string(GDALGetDataTypeName(type)) +
                ", not as they are stored");
  }
  const auto width = static_cast<int>(columns);
  const auto height = static_cast<int>(rows);
  const auto pixel = size * static_cast<GSpacing>(bands.size());
  Buffer expected(stored.size());
  if (source.RasterIO(GF_Read, static_cast<int>(column), static_cast<int>(row), width, height,
                      expected.data(), width, height, type, static_cast<int>(bands.size()),
                      bands.data(), pixel, pixel * width, size, nullptr) != CE_None) {
    throw Error("it cannot be read");
  }
  if (std::memcmp(stored.data(), expected.data(), stored.size()) != 0 &&
      !(blocks.has_nan_for_nodata && is_like_grib(stored.span(), expected.span(), band))) {
    throw Error("decoding its blocks does not give the values that GDAL reads");
  }
}

void check_alignment(const Placement& source, const RasterBlocks& mosaic) {
  const auto fits = [](std::uint64_t start, std::uint64_t length, std::uint64_t block,
                       std::uint64_t all) {
    return start % block == 0 && length <= all && start <= all - length &&
           ((start + length) % block == 0 || start + length == all);
  };
  if (!fits(source.x, source.columns, mosaic.block_columns, mosaic.columns) ||
      !fits(source.y, source.rows, mosaic.block_rows, mosaic.rows)) {
    throw Error("its blocks are not aligned with those of the mosaic");
  }
}

void check_alike(const RasterBlocks& blocks, const RasterBlocks& mosaic) {
  const std::size_t rank = mosaic.is_by_pixel ? 3 : 2;
  if (blocks.is_by_pixel != mosaic.is_by_pixel || !(blocks.layout(rank) == mosaic.layout(rank))) {
    throw Error("its blocks have another shape or encoding than those of the first");
  }
}

// Goes down the rows with the sources that cross the present one.
void check_overlaps(std::span<const Placement* const> placed) {
  std::vector<const Placement*> sources(placed.begin(), placed.end());
  std::ranges::sort(sources, {}, &Placement::y);
  std::map<std::uint64_t, const Placement*> crossing;  // by their first column
  std::multimap<std::uint64_t, std::uint64_t> ends;    // first columns by the row after the last
  for (const Placement* source : sources) {
    while (!ends.empty() && ends.begin()->first <= source->y) {
      crossing.erase(ends.begin()->second);
      ends.erase(ends.begin());
    }
    const auto next = crossing.lower_bound(source->x);
    const bool overlaps = (next != crossing.end() && next->first < source->x + source->columns) ||
                          (next != crossing.begin() &&
                           std::prev(next)->first + std::prev(next)->second->columns > source->x);
    if (overlaps) throw Error(source->file + ": it overlaps another source");
    crossing.emplace_hint(next, source->x, source);
    ends.emplace(source->y + source->rows, source->x);
  }
}

}  // namespace gdal_zarr
