// Decides which nodes are shown as rasters: single arrays, and the arrays of a group as the bands
// of one.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "driver/conventions/product.h"
#include "driver/multidim/session.h"

namespace gdal_zarr {

// The arrays of a store that are shown as rasters.

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

// Finds the arrays below `group` that are shown as rasters: arrays of two or more dimensions,
// without those that only describe others (coordinates, bounds, grid mappings, coarser levels of
// pyramids); if there are none, arrays of fewer dimensions. With `list_all`, all arrays that can be
// shown as a raster. Arrays that cannot be used are skipped with a warning.
Candidates find_candidates(Session& session, bool list_all, const std::string& group = {});

// Returns true if there are arrays besides the first raster and the variables of its dimensions.
bool has_others(const Session& session, const Candidates& candidates);

// Groups as rasters: arrays of a group that have two dimensions and share shape, type and place are
// the bands of one raster, such as the reflectances of Sentinel-2 in EOPF products.
//
//   ZARR:"x.zarr":/measurements/reflectance/r10m                  all of them
//   ZARR:"x.zarr":/measurements/reflectance/r10m/{b04,b03,b02}    these, in this order

// The name of a group, and of arrays in it; no names mean all arrays.
struct GroupName {
  std::string group;  // a node path
  std::vector<std::string> arrays;
};

// Parses `name`, which may begin with a slash. Empty if it is neither a group with arrays in braces
// nor an existing group.
std::optional<GroupName> parse_group_name(const Session& session, const std::string& name);

// The arrays that are bands. If `name` lists no arrays: at most 64, first the arrays that the group
// or the product states as bands, in their order, then the others by name. Throws zarrcore::Error
// if there are no such arrays, or if a listed array does not exist or differs from the others.
std::vector<std::shared_ptr<Array>> bands_of_group(Session& session, const GroupName& name);

// The spectral bands that an array's group and its product state.
std::vector<SpectralBand> spectral_bands_of(const Array& array);

// A group with several such arrays that have a place, as far as metadata show it.
struct GroupRaster {
  std::string group;
  std::size_t bands;
  zarrcore::Shape shape;
  zarrcore::DataType type;
};

std::vector<GroupRaster> find_group_rasters(const Session& session,
                                            std::span<const Candidate> candidates);

}  // namespace gdal_zarr
