// What the bands of a GRIB file are: element, level and member of an ensemble, by the metadata that
// GDAL shows.
#pragma once

#include <gdal_priv.h>

#include <optional>
#include <string>

namespace gdal_zarr {

struct GribField {
  std::string element;  // as "TMP"
  std::string comment;  // a description
  // What distinguishes statistics, such as maxima and ensemble means, from values at a time.
  std::string kind;
  // The type of the level, as "ISBL", if the level is a number; else the level, as "0-0.1-DBLL".
  std::string level_type;
  std::optional<double> level;
  std::optional<double> member;

  // Returns true if both may be in one array.
  bool is_alike(const GribField& other) const;
};

GribField describe_grib_band(GDALRasterBand& band);

}  // namespace gdal_zarr
