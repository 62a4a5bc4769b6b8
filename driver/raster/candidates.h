// The arrays of a store that are shown as rasters.
#pragma once

#include <set>
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

struct Candidates {
  std::vector<Candidate> rasters;
  // Node paths of all arrays of any type, but of those without dimensions and of those that only
  // describe others.
  std::set<std::string> array_paths;
};

// The arrays of two or more dimensions, without those that only describe others (coordinates,
// bounds, grid mappings, coarser levels of pyramids); if the store has none, those of fewer
// dimensions. With `list_all`, all that can be shown as a raster. Arrays that cannot be used are
// skipped with a warning. Of the nodes below `group`.
Candidates find_candidates(Session& session, bool list_all, const std::string& group = {});

// Whether there are arrays besides the first raster and the variables of its dimensions.
bool has_others(const Session& session, const Candidates& candidates);

}  // namespace gdal_zarr
