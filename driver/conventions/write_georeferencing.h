// Stating where an array lies: the inverse of what crs.h and the driver's search for a geotransform
// read. A pure function says what is to be changed; whoever owns the store changes it.
//
// Three conventions differ in how they state the CRS:
//   gdal          the array's attribute `_CRS`
//   spatial_proj  the array's members `proj:…`
//   cf            a grid mapping variable, which the array's attribute `grid_mapping` names
// and share the rest. Coordinate variables of X and Y state the geotransform in all of them,
// because every reader knows those. `spatial:…` states it too in spatial_proj, and in the others
// where coordinates cannot: a rotated or sheared grid, one cell along an axis, dimensions without a
// name or whose variables are not the array's to change. The grid mapping of cf has it as text, as
// well.
//
// What is read afterwards is what was set, whatever stood there before: statements of other
// conventions that would count before the new ones go, and those of groups above are overridden.
#pragma once

#include <ogr_spatialref.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "driver/conventions/attribute_change.h"
#include "driver/conventions/geotransform.h"

namespace gdal_zarr {

enum class GeoreferencingConvention : std::uint8_t { gdal, spatial_proj, cf };

// The convention that the attributes of an array follow already, so that changes keep to it; the
// driver's default, gdal, when they follow none.
GeoreferencingConvention georeferencing_convention(const zarrcore::Json& array_attributes);

// What stands under the name of a variable that an array has or could have.
struct NodeBeside {
  zarrcore::Json attributes = zarrcore::Json::object();
  // The positions, unpacked, that it gives the array's dimension of that name. Empty when it gives
  // none: it is no numeric array of that one dimension, or too long to be read.
  std::vector<double> coordinates;
  // Whether it may be changed and removed for the array's sake: it is an array in the array's own
  // group, and no other one has a dimension or a grid mapping of that name.
  bool is_own = false;
};

struct RasterDimension {
  std::string name;  // empty when it has none
  std::uint64_t size;
};

struct GeoreferencedArray {
  std::string name;  // in its group
  RasterDimension x;
  RasterDimension y;
  const zarrcore::Json& attributes;
  // Attributes of the groups from which it would take a CRS or a geotransform: that it is in, that
  // describes its pyramid (and its entry there), and the root.
  std::vector<std::shared_ptr<const zarrcore::Json>> groups;
  // What the array's group, or else a group above, holds under a name. Nothing when the name is
  // free; but if other arrays of the group have a dimension of that name, then an empty NodeBeside,
  // for a new variable would be theirs, too. Null for an array that is in no group: it can have no
  // variables, and the convention cf states its CRS as gdal does.
  std::function<std::optional<NodeBeside>(const std::string& name)> find_node;
};

struct Variable {
  std::string name;
  std::vector<std::string> dimension_names;  // one for coordinates, none for a grid mapping
  // One for each element along its dimension, as float64. Empty for a grid mapping: it holds an
  // int32 that means nothing. Neither has a fill value where the format does not ask for one:
  // xarray would take it for missing values.
  std::vector<double> values;
  zarrcore::Json attributes;
};

// Variables are to be written first and removed last: then a reader, or a crash, in between finds
// what the array's attributes name.
struct GeoreferencingChange {
  AttributeChange array;
  // All attributes of the array for the time in which variables change, one after the other: they
  // state CRS and transform by themselves, and count before the variables.
  zarrcore::Json meanwhile;
  // To be written into the array's group; each takes the place of what has its name there.
  std::vector<Variable> variables;
  // Other variables of the array's group, by name, of which only attributes change.
  std::vector<std::pair<std::string, AttributeChange>> variable_attributes;
  std::vector<std::string> removed_variables;
  // Not empty when coordinates that the array shares with others contradict what was set: readers
  // that know no `spatial:transform` will believe them.
  std::string warning;
};

// `transform` and `crs` are all that is to be known of the array's place afterwards: without a
// transform, coordinate variables stay only if they are not evenly spaced. `crs` may be null or
// empty; its axis mapping does not count. Throws zarrcore::Error when the transform is not finite
// or PROJ cannot express the CRS.
GeoreferencingChange write_georeferencing(GeoreferencingConvention convention,
                                          const GeoreferencedArray& array,
                                          const std::optional<GeoTransform>& transform,
                                          const OGRSpatialReference* crs);

}  // namespace gdal_zarr
