// Pyramids: several arrays that hold the same thing at falling resolution. Two conventions say so
// in the attributes of a group: `multiscales` of Zarr's conventions, and OME-Zarr 0.4 and 0.5.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "driver/conventions/geotransform.h"
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

// A coarser level that is to be described.
struct CoarserLevel {
  std::string asset;
  std::vector<double> scale;  // of a cell, by the cell of the next finer level, for each dimension
  std::uint64_t columns = 0;
  std::uint64_t rows = 0;
  std::optional<GeoTransform> transform = {};
  std::string resampling = {};  // the convention's word; empty keeps what is said of the level
};

// `attributes` with a pyramid of `finest` and these levels, each made of the one before; without a
// level, without any. For `multiscales` of Zarr's conventions. `finest` is an asset: "" for the
// group itself, whose arrays then share the pyramid, each with those of its name in the groups that
// are the levels.
zarrcore::Json with_multiscales(zarrcore::Json attributes, const std::string& finest,
                                const std::vector<CoarserLevel>& levels);

}  // namespace gdal_zarr
