// What the rasters of a cube (cube.h) must have in common.
#pragma once

#include <gdal_priv.h>

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "driver/conventions/geotransform.h"
#include "driver/virtual/raster_blocks.h"

namespace gdal_zarr {

// What the files of a cube have in common.
struct CubeRaster {
  GDALDataType type = GDT_Unknown;
  int bands = 0;
  std::optional<GeoTransform> transform;  // of the first file, then of the cube
  std::shared_ptr<OGRSpatialReference> crs;
  Pixel missing{};  // see missing_pixel()
  bool has_nodata = false;
  std::optional<double> scale;
  std::optional<double> offset;
  std::string unit;
};

// Of bands, counted from 1. Throws zarrcore::Error if they differ, or if rows and columns do not
// run along the axes. Missing values of GRIB are NaN.
CubeRaster describe_raster(GDALDataset& dataset, std::span<const int> bands);

// What differs, apart from the position; null if nothing does.
const char* find_difference(const CubeRaster& a, const CubeRaster& b);

}  // namespace gdal_zarr
