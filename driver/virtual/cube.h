// Many rasters as one array: files of the same time side by side, times one after the other. Its
// chunks are the blocks of the files, which must be alike and aligned with each other. Of GRIB
// files, each element becomes an array, with dimensions of its levels and members if there are
// several.
#pragma once

#include <gdal_priv.h>

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "driver/virtual/array_blocks.h"

namespace gdal_zarr {

struct CubeOptions {
  // Empty for "data", and for the names of elements of GRIB.
  std::string array_name = {};
  // The name of the dimension along which files are stacked: by their times, or else each in turn.
  // Empty for a mosaic without such a dimension, unless the files have times ("time").
  std::string dimension = {};
  // Where the times are: in the names of the files (see find_time()), or in a metadata item of
  // the dataset or of each band. Bands with times of their own are steps of the stack. With both,
  // the pattern is for the item. GRIB files have the item GRIB_VALID_TIME, which is used if
  // nothing is said of dimension and times.
  std::string time_pattern = {};
  std::string time_item = {};
  // True if files that cannot be referred to are copied.
  bool leaves_others = false;
};

// Opens the files one after the other, and notes the places of their blocks. The dataset has a root
// group with the arrays, their dimensions and coordinate variables: X, Y, and CF time in the
// standard calendar. Throws zarrcore::Error, which names the first file that does not fit and says
// why; also if `progress` (0 to 1) returns false.
std::unique_ptr<GDALDataset> make_cube(std::span<const std::string> files,
                                       const CubeOptions& options,
                                       const std::function<bool(double)>& progress);

// The blocks of an array of make_cube(), which must outlive the result; nullopt for others.
std::optional<ArrayBlocks> find_cube_blocks(const GDALMDArray& array);

}  // namespace gdal_zarr
