// Pyramids: several arrays that hold the same thing at falling resolution. Two conventions say so
// in the attributes of a group: `multiscales` of Zarr's conventions, and OME-Zarr 0.4 and 0.5.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "zarrcore/base/json.h"

namespace gdal_zarr {

struct Level {
  // Node path relative to the group: of the array, or of a group that holds it under the name that
  // it has at the other levels. Empty for the group itself.
  std::string asset;
  // The layout entry of the level, which may have `spatial:` members.
  zarrcore::Json entry;
};

struct Multiscales {
  std::vector<Level> levels;      // the finest first
  std::vector<std::string> axes;  // OME: the names of the arrays' dimensions, if it has them
  std::map<std::string, std::size_t, std::less<>> level_of_asset;  // the finest of that asset

  // The level whose asset is `path`, relative to the group, or holds it; of assets inside each
  // other the inner one.
  std::optional<std::size_t> find_level(std::string_view path) const;
};

// Nothing when the attributes describe no pyramid, or one without levels.
std::optional<Multiscales> parse_multiscales(const zarrcore::Json& group_attributes);

}  // namespace gdal_zarr
