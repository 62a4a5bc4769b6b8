// The facts about an array from which its position on the Earth is determined: its attributes and
// dimensions, and nodes around it that may describe it. gather_evidence() collects them from a
// store; find_crs() and find_position() use nothing else.
#pragma once

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

}  // namespace gdal_zarr
