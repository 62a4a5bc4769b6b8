// The arrays that cube.cpp makes of many rasters, as a source for copies.
#pragma once

#include <gdal_priv.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "driver/virtual/cube_raster.h"
#include "driver/virtual/mosaic.h"

namespace gdal_zarr {

// A file, or a band of it, at its place in a step.
struct CubeSource : Placement {
  std::int64_t time = 0;  // in seconds, or the number of the file
  std::size_t step = 0;
  int first_band = 1;
  double level = 0;          // of GRIB
  double member = 0;         // of an ensemble
  std::string problem = {};  // why it cannot be referred to
};

// A block in the grid of its source. Those with a value are in Cube::values.
struct CubeBlock {
  std::uint32_t source;
  std::uint32_t band;
  std::uint32_t row;
  std::uint32_t column;
  std::uint32_t target;  // one of Cube::targets
  std::uint64_t offset;
  std::uint64_t length;
};

// A dimension after time.
struct CubeAxis {
  std::string name;
  std::vector<double> values;
};

struct Cube {
  std::string name;
  std::string comment = {};
  std::string dimension;  // empty for none
  bool has_times = false;
  CubeRaster raster;
  RasterBlocks grid;  // without visit; of the whole cube
  std::vector<CubeSource> sources;
  std::map<std::size_t, std::vector<const CubeSource*>> sources_of_step;
  std::vector<std::int64_t> times;
  std::vector<CubeAxis> axes;  // the lengths of times and axes multiply to the number of steps
  std::vector<CubeBlock> blocks;
  std::vector<std::string> targets;
  std::map<std::size_t, zarrcore::Buffer> values;  // by the number of the block

  bool bands_are_last() const { return grid.is_by_pixel; }
  bool has_bands() const { return grid.bands > 1; }
  std::size_t rank() const { return step_shape().size() + (has_bands() ? 3 : 2); }
  zarrcore::Shape step_shape() const;
  // The index of a pixel or of a chunk.
  zarrcore::Shape index(std::uint64_t step, std::uint64_t band, std::uint64_t row,
                        std::uint64_t column) const;
};

std::unique_ptr<GDALDataset> make_cube_dataset(
    const std::vector<std::shared_ptr<const Cube>>& cubes);

// Null if the array is not that of a cube.
const Cube* cube_of(const GDALMDArray& array);

}  // namespace gdal_zarr
