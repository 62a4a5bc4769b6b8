// The arrays of a store that are shown as rasters.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "driver/multidim/session.h"

namespace gdal_zarr {

// An array that can be shown as a raster.
struct Candidate {
  std::string node_path;
  zarrcore::Shape shape;
  zarrcore::DataType type;
};

// The arrays of two or more dimensions, without those that only describe others (coordinates,
// bounds, grid mappings, coarser levels of pyramids); if the store has none, those of fewer
// dimensions. With `list_all`, all that can be shown as a raster. Arrays that cannot be used are
// skipped with a warning.
std::vector<Candidate> find_candidates(Session& session, bool list_all);

}  // namespace gdal_zarr
