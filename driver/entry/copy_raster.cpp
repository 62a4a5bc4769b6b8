#include "driver/entry/copy_raster.h"

#include <cpl_string.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "driver/gdal/messages.h"
#include "driver/gdal/partial_progress.h"
#include "driver/raster/raster_band.h"
#include "driver/raster/sidecar.h"
#include "driver/raster/slice_description.h"
#include "zarrcore/base/buffer.h"
#include "zarrcore/base/error.h"

namespace gdal_zarr {
namespace {

// The size of a window of the source, and a limit for what is pending until chunks are complete.
constexpr std::uint64_t kWindowBytes = std::uint64_t{16} << 20;
constexpr std::uint64_t kPendingBytes = std::uint64_t{128} << 20;

// How a raster is cut into windows. Each row of chunks is finished before the next is begun; if
// such a row is too large to stay pending, each group of chunks in it.
class Windows {
 public:
  Windows(const RasterView& view, bool wants_all_bands) {
    const Array& array = view.array();
    const zarrcore::Shape& chunk = array.metadata().chunk_shape;
    const zarrcore::Shape block = array.core().inner_chunk_shape();
    const auto length = [](const zarrcore::Shape& shape, std::optional<std::size_t> axis,
                           int limit) {
      const auto all = static_cast<std::uint64_t>(limit);
      return axis && *axis < shape.size() ? std::clamp<std::uint64_t>(shape[*axis], 1, all) : 1;
    };
    width_ = static_cast<std::uint64_t>(view.width());
    height_ = static_cast<std::uint64_t>(view.height());
    const auto all_bands = static_cast<std::uint64_t>(view.band_count());
    const std::uint64_t item_size = array.GetDataType().GetSize();
    const std::uint64_t chunk_columns = length(chunk, view.x_axis(), view.width());
    chunk_rows_ = length(chunk, view.y_axis(), view.height());
    const std::uint64_t block_rows = length(block, view.y_axis(), view.height());
    const bool has_band_axis = view.arrays().size() == 1 && view.other_axes().size() == 1;
    const std::uint64_t chunk_bands =
        has_band_axis ? length(chunk, view.other_axes()[0], view.band_count()) : 1;

    const auto bytes = [&](std::uint64_t columns, std::uint64_t rows, std::uint64_t bands) {
      return columns * rows * bands * item_size;
    };
    bands_ = wants_all_bands && bytes(width_, chunk_rows_, all_bands) <= kPendingBytes
                 ? all_bands
                 : chunk_bands;
    columns_ = width_;
    if (bytes(width_, chunk_rows_, bands_) > kPendingBytes) {
      const std::uint64_t chunks = kPendingBytes / bytes(chunk_columns, chunk_rows_, bands_);
      columns_ = std::min(width_, chunk_columns * std::max<std::uint64_t>(1, chunks));
    }
    // Several rows of chunks if these are small, or some rows of blocks of a large one.
    const std::uint64_t unit =
        bytes(columns_, chunk_rows_, bands_) <= kWindowBytes ? chunk_rows_ : block_rows;
    const std::uint64_t units = kWindowBytes / bytes(columns_, unit, bands_);
    rows_ = unit * std::max<std::uint64_t>(1, units);
    if (unit == chunk_rows_) chunk_rows_ = rows_;
    all_bands_ = all_bands;
  }

  // Calls visit(band, x, y, bands, columns, rows) for each window in order, until it returns false.
  template <typename Visit>
  bool for_each(const Visit& visit) const {
    for (std::uint64_t band = 0; band < all_bands_; band += bands_) {
      const std::uint64_t bands = std::min(bands_, all_bands_ - band);
      for (std::uint64_t top = 0; top < height_; top += chunk_rows_) {
        const std::uint64_t bottom = std::min(height_, top + chunk_rows_);
        for (std::uint64_t x = 0; x < width_; x += columns_) {
          const std::uint64_t columns = std::min(columns_, width_ - x);
          for (std::uint64_t y = top; y < bottom; y += rows_) {
            if (!visit(band, x, y, bands, columns, std::min(rows_, bottom - y))) return false;
          }
        }
      }
    }
    return true;
  }

 private:
  std::uint64_t width_;
  std::uint64_t height_;
  std::uint64_t all_bands_;
  std::uint64_t bands_;       // of a window
  std::uint64_t columns_;     // of a window
  std::uint64_t rows_;        // of a window
  std::uint64_t chunk_rows_;  // that are finished before the next
};

bool is_interleaved_by_pixel(GDALDataset& source) {
  const char* interleave = source.GetMetadataItem("INTERLEAVE", "IMAGE_STRUCTURE");
  return interleave != nullptr && EQUAL(interleave, "PIXEL");
}

bool copy_pixels(GDALDataset& source, RasterDataset& destination, const PartialProgress& progress) {
  const RasterView& view = destination.view();
  const GDALDataType type = view.array().GetDataType().GetNumericDataType();
  const auto pixel = static_cast<GSpacing>(GDALGetDataTypeSizeBytes(type));
  const double total = static_cast<double>(view.width()) * view.height() * view.band_count();
  double done = 0;
  zarrcore::Buffer buffer;
  return Windows(view, is_interleaved_by_pixel(source))
      .for_each([&](std::uint64_t first_band, std::uint64_t x, std::uint64_t y,
                    std::uint64_t band_count, std::uint64_t column_count, std::uint64_t row_count) {
        const auto columns = static_cast<int>(column_count);
        const auto rows = static_cast<int>(row_count);
        const std::uint64_t bytes =
            band_count * column_count * row_count * static_cast<std::uint64_t>(pixel);
        if (buffer.size() < bytes) buffer = zarrcore::Buffer(bytes);
        std::vector<int> bands(band_count);
        std::iota(bands.begin(), bands.end(), static_cast<int>(first_band) + 1);
        for (const GDALRWFlag flag : {GF_Read, GF_Write}) {
          GDALDataset& dataset = flag == GF_Read ? source : destination;
          if (dataset.RasterIO(flag, static_cast<int>(x), static_cast<int>(y), columns, rows,
                               buffer.data(), columns, rows, type, static_cast<int>(band_count),
                               bands.data(), pixel, pixel * columns, pixel * columns * rows,
                               nullptr) != CE_None) {
            return false;
          }
        }
        done += static_cast<double>(band_count * column_count * row_count);
        if (progress(done / total)) return true;
        report(CE_Failure, CPLE_UserInterrupt, "Zarr: %s: stopped by the user",
               destination.GetDescription());
        return false;
      });
}

void copy_nodata(GDALRasterBand& source, GDALRasterBand& destination) {
  int is_set = FALSE;
  if (source.GetRasterDataType() == GDT_Int64) {
    const auto value = source.GetNoDataValueAsInt64(&is_set);
    if (is_set != FALSE) destination.SetNoDataValueAsInt64(value);
  } else if (source.GetRasterDataType() == GDT_UInt64) {
    const auto value = source.GetNoDataValueAsUInt64(&is_set);
    if (is_set != FALSE) destination.SetNoDataValueAsUInt64(value);
  } else {
    const double value = source.GetNoDataValue(&is_set);
    if (is_set != FALSE) destination.SetNoDataValue(value);
  }
}

// The description of a slice is kept in the sidecar: it is not the name of the new array.
void copy_name(GDALRasterBand& source, RasterBand& destination) {
  const std::string name = source.GetDescription();
  if (name == describe_slice(source.GetMetadata())) {
    destination.set_sidecar_name(name);
  } else if (!name.empty()) {
    destination.SetDescription(name.c_str());
  }
}

void copy_band_description(GDALRasterBand& source, GDALRasterBand& destination) {
  copy_nodata(source, destination);
  int is_set = FALSE;
  const double offset = source.GetOffset(&is_set);
  if (is_set != FALSE) destination.SetOffset(offset);
  const double scale = source.GetScale(&is_set);
  if (is_set != FALSE) destination.SetScale(scale);
  const char* unit = source.GetUnitType();
  if (unit != nullptr && unit[0] != '\0') destination.SetUnitType(unit);
  const GDALColorInterp color = source.GetColorInterpretation();
  if (color != destination.GetColorInterpretation()) destination.SetColorInterpretation(color);
  copy_unstored(source, destination);
}

// Copies everything but pixels. Nodata must be set before them, because it becomes the value of
// missing chunks.
void copy_description(GDALDataset& source, RasterDataset& destination) {
  destination.CloneInfo(&source, GCIF_GEOTRANSFORM | GCIF_PROJECTION | GCIF_METADATA);
  for (int band = 1; band <= source.GetRasterCount(); ++band) {
    copy_band_description(*source.GetRasterBand(band), *destination.GetRasterBand(band));
    copy_name(*source.GetRasterBand(band),
              static_cast<RasterBand&>(*destination.GetRasterBand(band)));
  }
  copy_unstored(source, destination);
}

// Zarr has no complex integers: floating point numbers hold them without loss.
GDALDataType storable_type(GDALDataType type) {
  if (type == GDT_CInt16) return GDT_CFloat32;
  return type == GDT_CInt32 ? GDT_CFloat64 : type;
}

GDALDataType common_type(GDALDataset& source, bool is_strict) {
  GDALDataType type = source.GetRasterBand(1)->GetRasterDataType();
  for (int band = 2; band <= source.GetRasterCount(); ++band) {
    const GDALDataType other = source.GetRasterBand(band)->GetRasterDataType();
    if (other != type && is_strict)
      throw zarrcore::Error("bands of different data types cannot share an array");
    type = GDALDataTypeUnion(type, other);
  }
  return is_strict ? type : storable_type(type);
}

// The nodata value as text, for comparison; empty without one.
std::string nodata_text(GDALRasterBand& band) {
  int is_set = FALSE;
  if (band.GetRasterDataType() == GDT_Int64) {
    const auto value = band.GetNoDataValueAsInt64(&is_set);
    return is_set != FALSE ? std::to_string(value) : std::string();
  }
  if (band.GetRasterDataType() == GDT_UInt64) {
    const auto value = band.GetNoDataValueAsUInt64(&is_set);
    return is_set != FALSE ? std::to_string(value) : std::string();
  }
  const double value = band.GetNoDataValue(&is_set);
  return is_set != FALSE ? CPLSPrintf("%.17g", value) : std::string();
}

// Whether bands differ in scale, offset, unit or nodata.
bool bands_differ(GDALDataset& source) {
  const auto key = [&](int index) {
    GDALRasterBand& band = *source.GetRasterBand(index);
    const char* unit = band.GetUnitType();
    return std::tuple(band.GetScale(nullptr), band.GetOffset(nullptr),
                      std::string(unit != nullptr ? unit : ""), nodata_text(band));
  };
  const auto first = key(1);
  for (int band = 2; band <= source.GetRasterCount(); ++band) {
    if (key(band) != first) return true;
  }
  return false;
}

std::optional<GeoTransform> unrotated_transform(GDALDataset& source) {
  GeoTransform transform{};
  if (GDALGetGeoTransform(GDALDataset::ToHandle(&source), transform.data()) != CE_None ||
      transform[2] != 0 || transform[4] != 0) {
    return std::nullopt;
  }
  return transform;
}

}  // namespace

NewRaster new_raster_like(GDALDataset& source, bool is_strict) {
  return {source.GetRasterXSize(),        source.GetRasterYSize(),     source.GetRasterCount(),
          common_type(source, is_strict), unrotated_transform(source), bands_differ(source)};
}

bool copy_raster(GDALDataset& source, RasterDataset& destination, bool is_strict,
                 bool has_overviews, GDALProgressFunc progress, void* progress_data) {
  copy_description(source, destination);
  constexpr double kPixelsWithOverviews = 0.75;
  const double pixels = has_overviews ? kPixelsWithOverviews : 1;
  if (!copy_pixels(source, destination, {0, pixels, progress, progress_data})) return false;
  if (GDALDriver::DefaultCopyMasks(&source, &destination, is_strict ? TRUE : FALSE, nullptr,
                                   nullptr, nullptr) != CE_None) {
    return false;
  }
  if (has_overviews) {
    const PartialProgress rest(pixels, 1, progress, progress_data);
    if (!destination.build_default_overviews(rest.function(), rest.data())) return false;
  }
  return destination.flush(false) == CE_None;
}

}  // namespace gdal_zarr
