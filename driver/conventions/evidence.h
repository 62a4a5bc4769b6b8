// The facts about an array from which its position on the Earth is determined: its attributes and
// dimensions, and nodes around it that may describe it. gather_evidence() collects them from a
// store; find_crs() and find_position() use nothing else.
//
// Then the questions that both ask: which variable states the CRS, which dimensions are X and Y,
// which variables hold longitudes and latitudes, which coordinates are angles of a satellite's
// view.
#pragma once

#include <ogr_spatialref.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "zarrcore/base/json.h"

namespace gdal_zarr {

// Positions of the dimensions X and Y of an array.
struct RasterAxes {
  std::size_t x;
  std::size_t y;

  bool operator==(const RasterAxes&) const = default;
};

struct EvidenceAxis {
  std::string name;
  bool is_named = false;  // by the array's metadata
  std::uint64_t size = 0;
  std::string type;  // a GDAL_DIM_TYPE_…, or empty
  // The dimension's coordinate variable. `attributes` is null if it has none, or if its numbers are
  // only distances from the first element; `path` is empty if the variable is not in the store.
  std::shared_ptr<const zarrcore::Json> attributes = {};
  std::string path = {};
  std::string unit = {};
};

// A node, or an entry of a pyramid's layout, whose attributes may hold for the array.
struct EvidenceScope {
  std::string name;  // for messages: "group /a"
  std::shared_ptr<const zarrcore::Json> attributes;
  // How a transform in it relates to the array's shape.
  enum class Shape : std::uint8_t {
    own,      // it is for this array
    finest,   // for an array of this shape, or of any if it states none
    matching  // only for an array of the shape that the scope states
  } shape = Shape::own;
};

// A variable that the array, or a group for it, names.
struct EvidenceVariable {
  std::string path;  // of the node; empty for one outside the store
  std::shared_ptr<const zarrcore::Json> attributes;
};

struct Evidence {
  std::string array;                                 // its full name, for messages
  std::shared_ptr<const zarrcore::Json> attributes;  // of the array
  std::vector<EvidenceAxis> axes;
  // From the array to the group that describes its pyramid, the nearest first.
  std::vector<EvidenceScope> scopes;
  std::string store_name = {};   // the last part of the store's path
  bool assumes_longlat = false;  // true if longitudes and latitudes without a CRS are of WGS 84

  // The following are called when they are needed, because they may cost requests.

  // Attributes of the root of a product; null without one.
  std::function<std::shared_ptr<const zarrcore::Json>()> product = {};
  // Finds a variable by name, in the array's group and the groups above, or by a path ("/a/b",
  // "../b", "./b").
  std::function<std::optional<EvidenceVariable>(const std::string& name)> find = {};
  // Variables beside the array, of these names, that no array names as its grid mapping.
  std::function<std::vector<EvidenceVariable>(const std::vector<std::string>& names)> unnamed = {};
  // For each dimension of a variable, which one of the array's it is.
  std::function<std::vector<std::optional<std::size_t>>(const EvidenceVariable&)> axes_of = {};
  // The unpacked coordinates along dimensions; empty for those that have none or cannot be read.
  std::function<std::vector<std::vector<double>>(const std::vector<std::size_t>&)> coordinates = {};
  // The unpacked edges of the cells along dimensions, two for each cell, from the variables that
  // `bounds` of the coordinates names; empty for those that have none.
  std::function<std::vector<std::vector<double>>(const std::vector<std::size_t>&)> bounds = {};
  // The unpacked elements of a variable of one dimension.
  std::function<std::vector<double>(const EvidenceVariable&)> values = {};
  // Returns true if the elements of a variable are the same at all indexes of its first dimensions,
  // all but the last two.
  std::function<bool(const EvidenceVariable&)> is_constant = {};
  // The unpacked elements at the corners of the last two dimensions of a variable, at the first
  // indexes of others, row by row; empty if they cannot be read.
  std::function<std::vector<double>(const EvidenceVariable&)> corners = {};
  // Returns the evidence of the same array at the finest level of its pyramid; null if the array is
  // at that level.
  std::function<std::shared_ptr<const Evidence>()> finest = {};
};

// A variable that CF's attribute `grid_mapping` names, and the coordinates that it is for.
struct GridMapping {
  std::string variable;
  std::vector<std::string> coordinates = {};  // empty for all
};

// "crs", or "crs: x y other: lat lon".
std::vector<GridMapping> grid_mappings(const zarrcore::Json& attributes);

// The name of the grid mapping variable for coordinates named `x` and `y`, else the first one;
// empty without the attribute.
std::string grid_mapping_variable(const zarrcore::Json& attributes, const std::string& x = {},
                                  const std::string& y = {});

// The name in a scope's attributes, for the axes X and Y of an array, if they are known.
std::string grid_mapping_variable(const EvidenceScope& scope, const Evidence& evidence,
                                  const std::optional<RasterAxes>& axes);

// The names in CF's attribute `coordinates`, of the array, else of the nearest of its groups.
std::vector<std::string> coordinate_names(const Evidence& evidence);

// Variables beside the array that may be its grid mapping, whose name was lost, as xarray can lose
// it.
std::vector<EvidenceVariable> lost_grid_mappings(const Evidence& evidence);

// The variable that states the array's CRS: the one named by the attribute `grid_mapping`, else one
// that `coordinates` names, else a grid mapping whose name was lost.
std::optional<EvidenceVariable> find_crs_variable(const Evidence& evidence,
                                                  const std::optional<RasterAxes>& axes);

// Returns true if the attributes belong to such a variable.
bool states_crs(const zarrcore::Json& attributes);
// Returns true if the attributes belong to a grid whose cells are not in a plane; see healpix.h.
bool is_grid_on_the_sphere(const zarrcore::Json& attributes);

// The dimensions X and Y that `spatial:dimensions` names, else by their coordinates or names.
std::optional<RasterAxes> known_raster_axes(const Evidence& evidence);

// The same for an array of at least two dimensions: if they are not known, the dimensions of the
// shape that the convention states, else the last two.
RasterAxes find_raster_axes(const Evidence& evidence);

// Returns true if CF's `featureType` states that arrays hold points, profiles or lines of them:
// neither grids nor swaths.
bool has_discrete_features(const Evidence& evidence);

// Not if one of them is known to be something else, such as time or depth.
bool are_on_the_map(const Evidence& evidence, const RasterAxes& axes);

// The certainty that a variable holds `word`, "longitude" or "latitude": 2 by its standard name or
// unit, 1 by its own name, 0 if it does not.
int certainty_of(const EvidenceVariable& variable, const char* word);

// The height of the satellite, in metres, of a geostationary CRS, on whose grids coordinates are
// angles of the view; empty for others.
std::optional<double> satellite_height(const OGRSpatialReference& crs);

// By what angles along an axis, in its unit, are multiplied to become lengths in metres, as PROJ
// has them; 0 if its unit is not an angle. The azimuth of EUMETSAT's MTG counts to the west.
double metres_of_view(const EvidenceAxis& axis, double height);

}  // namespace gdal_zarr
