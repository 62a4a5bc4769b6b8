// GRIB files that GDAL has opened: what their bands are. Where the messages are, each the chunk of
// one band, is found by find_grib_blocks() (raster_blocks.h).
#pragma once

#include <cpl_conv.h>
#include <gdal_priv.h>

#include <optional>
#include <string>
#include <vector>

#include "zarrcore/base/buffer.h"

namespace gdal_zarr {

// While it lives, GDAL reads GRIB files in this thread as they are, unless the user says otherwise.
class PlainGrib {
  CPLConfigOptionSetter units_{"GRIB_NORMALIZE_UNITS", "NO", true};
  CPLConfigOptionSetter longitudes_{"GRIB_ADJUST_LONGITUDE_RANGE", "NO", true};
};

// The product definition section of the message of each band; empty ones in edition 2. Throws
// zarrcore::Error if messages are not bands.
std::vector<zarrcore::Buffer> read_grib1_products(GDALDataset& dataset);

// Element, level and member of an ensemble, by the metadata that GDAL shows.
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
