// The input and the result of write_georeferencing().
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "driver/conventions/attribute_change.h"
#include "zarrcore/base/json.h"

namespace gdal_zarr {

// A node that has the name of a variable that the array has or could have.
struct NodeBeside {
  zarrcore::Json attributes = zarrcore::Json::object();
  // The unpacked coordinates that it gives to the array's dimension of that name. Empty when it is
  // not a numeric array of that one dimension, or too long to be read.
  std::vector<double> coordinates;
  // Whether it may be changed and removed with the array: it is an array in the same group, and no
  // other array has a dimension or a grid mapping of that name.
  bool is_own = false;
};

struct RasterDimension {
  std::string name;  // empty for none
  std::uint64_t size;
};

struct GeoreferencedArray {
  std::string name;  // in its group
  RasterDimension x;
  RasterDimension y;
  const zarrcore::Json& attributes;
  // Attributes of the groups from which it inherits a CRS or a geotransform: its own group, the
  // group that describes its pyramid (and its entry there), and the root.
  std::vector<std::shared_ptr<const zarrcore::Json>> groups;
  // The node of that name in the array's group, else in the nearest group above. Empty when the
  // name is free; but an empty NodeBeside if other arrays of the group have a dimension of that
  // name, to which a new variable would also belong. Null for an array without a group: it cannot
  // have variables, and for the convention cf its CRS is stored as for gdal.
  std::function<std::optional<NodeBeside>(const std::string& name)> find_node;
  // Whether nodes around the array state a CRS for one of these attributes, when the variable
  // `removed` has gone. May be null: nothing is around it.
  std::function<bool(const zarrcore::Json& attributes, const std::string& removed)> inherits_crs =
      {};
};

struct Variable {
  std::string name;
  std::vector<std::string> dimension_names;  // one for coordinates, none for a grid mapping
  // One float64 for each element of its dimension. Empty for a grid mapping, which holds an int32
  // without meaning. Neither has a fill value unless the format requires one: xarray would treat
  // it as missing values.
  std::vector<double> values;
  zarrcore::Json attributes;
};

// Variables must be written first and removed last, so that a reader or a crash in between finds
// the variables that the array's attributes name.
struct GeoreferencingChange {
  AttributeChange array;
  // All attributes of the array while variables change, one after the other: they state CRS and
  // transform by themselves and have precedence over the variables.
  zarrcore::Json meanwhile;
  // To be written into the array's group; each replaces the node of its name.
  std::vector<Variable> variables;
  // Other variables of the array's group, by name, whose attributes change.
  std::vector<std::pair<std::string, AttributeChange>> variable_attributes;
  std::vector<std::string> removed_variables;
  // Not empty when coordinates that the array shares with others contradict the new transform:
  // readers without support for `spatial:transform` will use them.
  std::string warning;
};

}  // namespace gdal_zarr
