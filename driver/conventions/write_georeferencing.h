// Writes an array's CRS and geotransform: the inverse of position.h. A pure function
// computes the changes; the owner of the store applies them.
//
// Three conventions differ in how they store the CRS:
//   gdal          the array's attributes `_CRS` and `crs` (gdal_attributes.h)
//   spatial_proj  the array's attributes `proj:…`
//   cf            a grid mapping variable, named by the array's attributes `grid_mapping` and
//                 `coordinates`
// In all of them, coordinate variables of X and Y store the geotransform, because every reader
// supports those. spatial_proj stores it as `spatial:…` as well, and so do the others where
// coordinates cannot: for a rotated or sheared grid, one cell along an axis, dimensions without a
// name or whose variables may not be changed. For cf the grid mapping also has it as text.
//
// Reading afterwards gives the new values, regardless of the old attributes: statements of other
// conventions that have precedence are removed, and statements of groups above are overridden.
#pragma once

#include <ogr_spatialref.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "driver/conventions/gdal_attributes.h"
#include "driver/conventions/geotransform.h"
#include "zarrcore/base/json.h"

namespace gdal_zarr {

// A node that has the name of a variable that the array has or could have.
struct NodeBeside {
  zarrcore::Json attributes = zarrcore::Json::object();
  // The unpacked coordinates that the node gives to the array's dimension of the same name. Empty
  // if it is not a numeric array of that single dimension, or too long to be read.
  std::vector<double> coordinates;
  // True if it may be changed and removed with the array: it is an array in the same group, and no
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
  // Returns true if nodes around the array state a CRS for one of these attributes after the
  // variable `removed` has been removed. May be null: no nodes are around it.
  std::function<bool(const zarrcore::Json& attributes, const std::string& removed)> inherits_crs =
      {};
};

struct Variable {
  std::string name;
  std::vector<std::string> dimension_names;  // one for coordinates; empty for a grid mapping
  // One float64 for each element of the dimension. Empty for a grid mapping, which is a meaningless
  // int32. Neither has a fill value unless the format requires one: xarray would treat it as
  // missing values.
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
  // Variables to be written into the array's group; each replaces the node of its name.
  std::vector<Variable> variables;
  // Other variables of the array's group, by name, whose attributes change.
  std::vector<std::pair<std::string, AttributeChange>> variable_attributes;
  std::vector<std::string> removed_variables;
  // Not empty when coordinates that the array shares with others contradict the new transform:
  // readers without support for `spatial:transform` will use them.
  std::string warning;
};

enum class GeoreferencingConvention : std::uint8_t { gdal, spatial_proj, cf };

// The convention that the attributes of an array follow, so that changes keep it; gdal, the
// driver's default, if they follow none.
GeoreferencingConvention georeferencing_convention(const zarrcore::Json& array_attributes);

struct WrittenGeoreferencing {
  std::optional<GeoTransform> transform = {};
  const OGRSpatialReference* crs = nullptr;  // may be null or empty; its axis mapping is ignored
  // Ground control points, in the CRS. Only cf can store them; the others ignore them.
  std::span<const GroundControlPoint> gcps = {};
};

// Afterwards `written` is the array's whole georeferencing: without a transform, coordinate
// variables are removed unless they are unevenly spaced. Throws zarrcore::Error when the transform
// is not finite or PROJ cannot express the CRS.
GeoreferencingChange write_georeferencing(GeoreferencingConvention convention,
                                          const GeoreferencedArray& array,
                                          const WrittenGeoreferencing& written);

}  // namespace gdal_zarr
