// An array of a cube (cube.h): CubeBuilder makes a Cube of many rasters, one after the other, and
// make_cube_dataset() shows cubes to GDAL as arrays, as a source for copies.
#pragma once

#include <gdal_priv.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "driver/conventions/geotransform.h"
#include "driver/virtual/cube.h"
#include "driver/virtual/grib.h"
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

// A file, or a band of it, at its place in a step.
struct CubeSource : Placement {
  std::int64_t column = 0;  // of its upper left pixel, counted from the first source's
  std::int64_t row = 0;
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

// Bands of a file that become a part of the array.
struct CubeInput {
  GDALDataset& dataset;
  std::string file;
  std::size_t number = 0;  // of the file
  std::vector<int> bands;  // counted from 1, in ascending order
  // What each band of a GRIB file is; empty for other files.
  std::vector<GribField> fields;
  const RasterBlocks* blocks = nullptr;  // of the whole file; null if they cannot be chunks
  std::string problem = {};              // why
};

// Functions throw zarrcore::Error when a file does not fit. The options must outlive the object.
class CubeBuilder {
 public:
  explicit CubeBuilder(const CubeOptions& options);

  void add(const CubeInput& input);

  // Nothing can be added after it.
  std::shared_ptr<Cube> finish();

 private:
  void take_blocks(const CubeInput& input);
  void add_sources(const CubeInput& input, CubeSource source, std::size_t first_block);
  std::optional<std::int64_t> time_of_item(const char* value) const;
  std::optional<std::int64_t> time_of(const CubeInput& input) const;
  std::optional<std::int64_t> time_of_band(const CubeInput& input, int band,
                                           std::size_t first_block) const;
  void place_sources();
  void number_steps();
  void check_gaps() const;

  const CubeOptions& options_;
  std::shared_ptr<Cube> cube_;
  bool has_layout_ = false;
  bool bands_are_steps_ = false;
  // The least column and row of all sources.
  std::int64_t left_ = 0;
  std::int64_t top_ = 0;
};

// Calls the function for each block that exists, as ArrayBlocks::visit() does.
void visit_cube(const Cube& cube, const ArrayBlocks::Visit& visit);

std::unique_ptr<GDALDataset> make_cube_dataset(
    const std::vector<std::shared_ptr<const Cube>>& cubes);

// Null for an array that is not made of a cube.
const Cube* cube_of(const GDALMDArray& array);

}  // namespace gdal_zarr
