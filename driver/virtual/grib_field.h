// What the bands of a GRIB file are: element, level and member of an ensemble, by the metadata that
// GDAL shows.
#pragma once

#include <gdal_priv.h>

#include <optional>
#include <string>

#include "zarrcore/base/buffer.h"

namespace gdal_zarr {

struct GribField {
  std::string element;  // as "TMP"
  std::string comment;  // a description
  // What distinguishes statistics, such as maxima and ensemble means, from values at a time; and in
  // words, which are empty if the comment says it.
  std::string kind;
  std::string words;
  // The type of the level, as "ISBL", if the level is a number; else the level, as "0-0.1-DBLL".
  std::string level_type;
  std::optional<double> level;
  std::optional<double> member;

  // Returns true if both may be in one array.
  bool is_alike(const GribField& other) const;
};

// `product`: the product definition section of a message of edition 1, of which GDAL shows only a
// part. Throws zarrcore::Error if GDAL does not know what the message is.
GribField describe_grib_band(GDALRasterBand& band, zarrcore::ByteSpan product);

}  // namespace gdal_zarr
