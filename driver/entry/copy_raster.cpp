#include <cpl_string.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "driver/entry/create.h"
#include "driver/gdal/messages.h"
#include "driver/multidim/copied_array.h"
#include "driver/raster/raster_band.h"
#include "zarrcore/base/buffer.h"

namespace gdal_zarr {
namespace {

// The size of a window of the source, and of the largest, if that saves reading blocks twice.
constexpr std::uint64_t kWindowBytes = std::uint64_t{32} << 20;
constexpr std::uint64_t kMaxWindowBytes = std::uint64_t{128} << 20;

bool is_interleaved_by_pixel(GDALDataset& source) {
  const char* interleave = source.GetMetadataItem("INTERLEAVE", "IMAGE_STRUCTURE");
  return interleave != nullptr && EQUAL(interleave, "PIXEL");
}

// The lengths of bands, rows and columns.
zarrcore::Shape raster_lengths(const RasterView& view, const zarrcore::Shape& chunk) {
  const auto length = [&](std::optional<std::size_t> axis, int all) {
    return axis && *axis < chunk.size()
               ? std::clamp<std::uint64_t>(chunk[*axis], 1, static_cast<std::uint64_t>(all))
               : 1;
  };
  const bool has_band_axis = view.arrays().size() == 1 && view.other_axes().size() == 1;
  return {has_band_axis ? length(view.other_axes()[0], view.band_count()) : 1,
          length(view.y_axis(), view.height()), length(view.x_axis(), view.width())};
}

// The block that the source reads at once, in the same order.
zarrcore::Shape source_block(GDALDataset& source) {
  int columns = 0;
  int rows = 0;
  source.GetRasterBand(1)->GetBlockSize(&columns, &rows);
  const int bands = is_interleaved_by_pixel(source) ? source.GetRasterCount() : 1;
  return {static_cast<std::uint64_t>(bands), static_cast<std::uint64_t>(rows),
          static_cast<std::uint64_t>(columns)};
}

bool copy_pixels(GDALDataset& source, RasterDataset& destination, PartialProgress& progress) {
  const RasterView& view = destination.view();
  // A type that can hold the values of all bands.
  GDALDataType type = view.array().GetDataType().GetNumericDataType();
  for (const auto& array : view.arrays()) {
    type = union_of_types(type, array->GetDataType().GetNumericDataType());
  }
  const auto pixel = static_cast<std::uint64_t>(GDALGetDataTypeSizeBytes(type));
  const zarrcore::Box all{
      {0, 0, 0},
      {static_cast<std::uint64_t>(view.band_count()), static_cast<std::uint64_t>(view.height()),
       static_cast<std::uint64_t>(view.width())}};
  double done = 0;
  zarrcore::Buffer buffer;
  return for_each_region(
      all.count, source_block(source), raster_lengths(view, view.array().metadata().chunk_shape),
      raster_lengths(view, view.array().core().inner_chunk_shape()), kWindowBytes / pixel,
      kMaxWindowBytes / pixel, [&](const CopyRegion& region, double /*share*/) {
        const Slabs windows(region.box, region.plan.slab);
        for (std::size_t i = 0; i < windows.size(); ++i) {
          const zarrcore::Box window = windows[i];
          if (!copy_window(source, destination, window, type, buffer)) return false;
          done += static_cast<double>(window.size());
          if (!progress(done / static_cast<double>(all.size()))) {
            report_stop(destination.GetDescription());
            return false;
          }
        }
        return true;
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

// The description of a slice is not the name of the new array: it is stored in a list, or in the
// sidecar.
void copy_name(GDALRasterBand& source, RasterBand& destination) {
  const std::string name = source.GetDescription();
  if (name == describe_slice(source.GetMetadata())) {
    if (name.empty() || !destination.set_name_in_list(name)) destination.set_sidecar_name(name);
  } else if (!name.empty()) {
    destination.SetDescription(name.c_str());
  }
}

void copy_band_description(GDALRasterBand& source, GDALRasterBand& destination,
                           const RasterBlocks* blocks) {
  int is_set = FALSE;
  if (blocks == nullptr || !blocks->has_nan_for_nodata) {
    copy_nodata(source, destination);
  } else if (source.GetNoDataValue(&is_set); is_set != FALSE) {
    destination.SetNoDataValue(std::numeric_limits<double>::quiet_NaN());
  }
  const double offset = source.GetOffset(&is_set);
  if (is_set != FALSE) destination.SetOffset(offset);
  const double scale = source.GetScale(&is_set);
  if (is_set != FALSE) destination.SetScale(scale);
  const char* unit = source.GetUnitType();
  if (unit != nullptr && unit[0] != '\0') destination.SetUnitType(unit);
  const GDALColorInterp color = source.GetColorInterpretation();
  if (color != destination.GetColorInterpretation()) destination.SetColorInterpretation(color);
}

std::optional<GeoTransform> source_transform(GDALDataset& source) {
  GeoTransform transform{};
  const CPLErr found = GDALGetGeoTransform(GDALDataset::ToHandle(&source), transform.data());
  return found == CE_None ? std::optional(transform) : std::nullopt;
}

// Returns true if bands keep their names when a dataset's item `long_name` becomes an attribute of
// the arrays. A band without a name takes that attribute as its name; a slice has its own name.
bool leaves_names(const char* item, GDALDataset& source, const RasterView& copy) {
  for (GDALRasterBand* band : source.GetBands()) {
    const std::string name = band->GetDescription();
    const bool can_have_other =
        !name.empty() && (!copy.bands_are_arrays() || name == describe_slice(band->GetMetadata()));
    if (item != nullptr && name != item && !can_have_other) return false;
  }
  return true;
}

// Copies what must be set before the pixels: nodata becomes the value of missing chunks.
void copy_description(GDALDataset& source, RasterDataset& destination, const RasterBlocks* blocks) {
  // Without a geotransform, ground control points place the raster, in their own CRS.
  const bool has_own_crs = source.GetGCPCount() == 0 || source_transform(source);
  if (!leaves_names(source.GetMetadataItem(kLongName), source, destination.view())) {
    destination.keep_plain(kLongName);
  }
  destination.CloneInfo(&source,
                        GCIF_GEOTRANSFORM | GCIF_METADATA | (has_own_crs ? GCIF_PROJECTION : 0));
  for (int band = 1; band <= source.GetRasterCount(); ++band) {
    copy_band_description(*source.GetRasterBand(band), *destination.GetRasterBand(band), blocks);
    copy_name(*source.GetRasterBand(band),
              static_cast<RasterBand&>(*destination.GetRasterBand(band)));
  }
  copy_unstored(source, destination);
}

std::vector<GDALDataType> types_of_bands(GDALDataset& source) {
  std::vector<GDALDataType> types;
  for (int band = 1; band <= source.GetRasterCount(); ++band) {
    types.push_back(source.GetRasterBand(band)->GetRasterDataType());
  }
  return types;
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

// Returns true if bands differ in type, scale, offset, unit or nodata.
bool bands_differ(GDALDataset& source) {
  const auto key = [&](int index) {
    GDALRasterBand& band = *source.GetRasterBand(index);
    const char* unit = band.GetUnitType();
    return std::tuple(band.GetRasterDataType(), band.GetScale(nullptr), band.GetOffset(nullptr),
                      std::string(unit != nullptr ? unit : ""), nodata_text(band));
  };
  const auto first = key(1);
  for (int band = 2; band <= source.GetRasterCount(); ++band) {
    if (key(band) != first) return true;
  }
  return false;
}

// Returns true if all pixels are 0 or 1, and nodata, if there is one.
bool has_one_bit(GDALDataset& source) {
  for (int index = 1; index <= source.GetRasterCount(); ++index) {
    GDALRasterBand& band = *source.GetRasterBand(index);
    const char* bits = band.GetMetadataItem("NBITS", "IMAGE_STRUCTURE");
    if (band.GetRasterDataType() != GDT_Byte || bits == nullptr || !EQUAL(bits, "1")) return false;
    int is_set = FALSE;
    const double nodata = band.GetNoDataValue(&is_set);
    if (is_set != FALSE && nodata != 0 && nodata != 1) return false;
  }
  return true;
}

std::optional<GeoTransform> unrotated_transform(GDALDataset& source) {
  const auto transform = source_transform(source);
  const bool is_rotated = transform && ((*transform)[2] != 0 || (*transform)[4] != 0);
  return is_rotated ? std::nullopt : transform;
}

}  // namespace

bool copy_window(GDALDataset& source, RasterDataset& destination, const zarrcore::Box& window,
                 GDALDataType type, zarrcore::Buffer& buffer) {
  const auto band_count = static_cast<int>(window.count[0]);
  const auto rows = static_cast<int>(window.count[1]);
  const auto columns = static_cast<int>(window.count[2]);
  const auto pixel = static_cast<GSpacing>(GDALGetDataTypeSizeBytes(type));
  const std::uint64_t bytes = window.size() * static_cast<std::uint64_t>(pixel);
  if (buffer.size() < bytes) buffer = zarrcore::Buffer(bytes);
  std::vector<int> bands(window.count[0]);
  std::iota(bands.begin(), bands.end(), static_cast<int>(window.start[0]) + 1);
  for (const GDALRWFlag flag : {GF_Read, GF_Write}) {
    GDALDataset& dataset = flag == GF_Read ? source : destination;
    if (dataset.RasterIO(flag, static_cast<int>(window.start[2]), static_cast<int>(window.start[1]),
                         columns, rows, buffer.data(), columns, rows, type, band_count,
                         bands.data(), pixel, pixel * columns, pixel * columns * rows,
                         nullptr) != CE_None) {
      return false;
    }
  }
  return true;
}

NewRaster new_raster_like(GDALDataset& source, bool is_strict) {
  return {source.GetRasterXSize(),
          source.GetRasterYSize(),
          types_of_bands(source),
          unrotated_transform(source),
          bands_differ(source),
          has_one_bit(source),
          {},
          is_strict};
}

bool copy_raster(GDALDataset& source, RasterDataset& destination, const RasterBlocks* blocks,
                 bool is_strict, bool has_overviews, GDALProgressFunc progress,
                 void* progress_data) {
  copy_description(source, destination, blocks);
  constexpr double kPixelsWithOverviews = 0.75;
  const double pixels = has_overviews ? kPixelsWithOverviews : 1;
  PartialProgress part(0, pixels, progress, progress_data);
  if (blocks != nullptr ? !refer_to_blocks(*blocks, source, destination, part)
                        : !copy_pixels(source, destination, part)) {
    return false;
  }
  // Writing pixels removes statistics, so the source's statistics are copied afterwards.
  for (int band = 1; band <= source.GetRasterCount(); ++band) {
    copy_unstored(*source.GetRasterBand(band), *destination.GetRasterBand(band));
  }
  if (GDALDriver::DefaultCopyMasks(&source, &destination, is_strict ? TRUE : FALSE, nullptr,
                                   nullptr, nullptr) != CE_None) {
    return false;
  }
  if (has_overviews) {
    PartialProgress rest(pixels, 1, progress, progress_data);
    if (!destination.build_default_overviews(rest.function(), rest.data())) return false;
  }
  return destination.flush(false) == CE_None;
}

}  // namespace gdal_zarr
