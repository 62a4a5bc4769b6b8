// Makes one array of many rasters: finds the steps and the place of each file.
#pragma once

#include <gdal_priv.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "driver/virtual/cube.h"
#include "driver/virtual/cube_array.h"
#include "driver/virtual/grib_field.h"

namespace gdal_zarr {

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
  void add_sources(const CubeInput& input, const CubeSource& source, std::size_t first_block);
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
  // Of each source from the first, in columns and rows; and the least of them.
  std::vector<std::pair<std::int64_t, std::int64_t>> places_;
  std::int64_t left_ = 0;
  std::int64_t top_ = 0;
};

// Calls the function for each block that there is, as ArrayBlocks::visit() does.
void visit_cube(const Cube& cube, const ArrayBlocks::Visit& visit);

}  // namespace gdal_zarr
