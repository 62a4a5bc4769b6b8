#include "driver/virtual/cube_raster.h"

#include <ogr_spatialref.h>

#include <algorithm>
#include <cmath>

#include "driver/virtual/grib_blocks.h"
#include "zarrcore/base/error.h"

namespace gdal_zarr {
namespace {

using zarrcore::Error;

std::optional<GeoTransform> transform_of(GDALDataset& dataset) {
  GeoTransform transform{};
  if (GDALGetGeoTransform(GDALDataset::ToHandle(&dataset), transform.data()) != CE_None) {
    return std::nullopt;
  }
  const bool is_valid = std::ranges::all_of(transform, [](double x) { return std::isfinite(x); }) &&
                        transform[1] > 0 && transform[5] != 0;
  if (!is_valid || transform[2] != 0 || transform[4] != 0) {
    throw Error("its rows and columns do not run along the axes of the CRS");
  }
  return transform;
}

std::optional<double> value_if_set(double value, int is_set) {
  return is_set != FALSE ? std::optional(value) : std::nullopt;
}

CubeRaster describe_band(GDALRasterBand& band) {
  CubeRaster raster;
  raster.type = band.GetRasterDataType();
  raster.missing = missing_pixel(band);
  int is_set = FALSE;
  const double nodata = band.GetNoDataValue(&is_set);
  double nearest = 0;
  GDALCopyWords(raster.missing.data(), raster.type, 0, &nearest, GDT_Float64, 0, 1);
  raster.has_nodata =
      is_set != FALSE && (nearest == nodata || (std::isnan(nearest) && std::isnan(nodata)));
  double value = band.GetScale(&is_set);
  raster.scale = value_if_set(value, is_set);
  value = band.GetOffset(&is_set);
  raster.offset = value_if_set(value, is_set);
  const char* unit = band.GetUnitType();
  raster.unit = unit != nullptr ? unit : "";
  return raster;
}

// What differs; null if nothing does.
const char* difference(const CubeRaster& a, const CubeRaster& b) {
  if (a.type != b.type) return "data type";
  if (a.missing != b.missing || a.has_nodata != b.has_nodata) return "nodata value";
  if (a.scale != b.scale || a.offset != b.offset || a.unit != b.unit) {
    return "scale, offset or unit";
  }
  return nullptr;
}

const char* difference_of_place(const CubeRaster& a, const CubeRaster& b) {
  if (a.bands != b.bands) return "number of bands";
  if ((a.crs == nullptr) != (b.crs == nullptr) || (a.crs && a.crs->IsSame(b.crs.get()) == FALSE)) {
    return "CRS";
  }
  if (a.transform.has_value() != b.transform.has_value()) return "position";
  constexpr double kPrecision = 1e-9;
  const auto is_near = [&](std::size_t i) {
    return std::abs((*a.transform)[i] - (*b.transform)[i]) <=
           kPrecision * std::abs((*a.transform)[i]);
  };
  return a.transform && !(is_near(1) && is_near(5)) ? "pixel size" : nullptr;
}

}  // namespace

CubeRaster describe_raster(GDALDataset& dataset, std::span<const int> bands) {
  const auto describe = [&](int number) {
    CubeRaster band = describe_band(*dataset.GetRasterBand(number));
    if (is_grib(dataset)) {
      const double nan = std::nan("");
      band.missing = {};
      GDALCopyWords(&nan, GDT_Float64, 0, band.missing.data(), band.type, 0, 1);
      band.has_nodata = true;
      const char* const unit = dataset.GetRasterBand(number)->GetMetadataItem("GRIB_UNIT");
      const std::string text = unit != nullptr ? unit : "";  // as "[K]", "[-]"
      if (text.size() > 2 && text != "[-]") band.unit = text.substr(1, text.size() - 2);
    }
    return band;
  };
  CubeRaster raster = describe(bands.front());
  for (const int band : bands) {
    if (const char* what = difference(describe(band), raster)) {
      throw Error(std::string("its bands differ in ") + what);
    }
  }
  raster.bands = static_cast<int>(bands.size());
  raster.transform = transform_of(dataset);
  if (const OGRSpatialReference* crs = dataset.GetSpatialRef()) raster.crs.reset(crs->Clone());
  return raster;
}

const char* find_difference(const CubeRaster& a, const CubeRaster& b) {
  const char* what = difference(a, b);
  return what != nullptr ? what : difference_of_place(a, b);
}

}  // namespace gdal_zarr
