// Pyramids: arrays with the same content at decreasing resolution. Three conventions describe them
// in the attributes of a group: `multiscales` (https://github.com/zarr-conventions/multiscales),
// OME-Zarr 0.4 to 0.6 (https://ngff.openmicroscopy.org/0.5/#multiscale-md), and GeoZarr's draft of
// 2023, whose levels are the tile matrices of OGC's Two Dimensional Tile Matrix Set. Carbonplan's
// ndpyramid writes a list like OME-Zarr's with the coarsest level first.
//
//   "multiscales": {"layout": [{"asset": "0"}, {"asset": "1", "derived_from": "0"}]}
//   "multiscales": [{"axes": [{"name": "y"}, {"name": "x"}], "datasets": [{"path": "0"}, …]}]
//   "multiscales": {"tile_matrix_set": {"tileMatrices": [{"id": "0", "cellSize": 10}, …]}}
//   "multiscales": {"tile_matrix_set": "WebMercatorQuad", "tile_matrix_set_limits": {"0": …}}
#pragma once

#include <cstdint>
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
  // Node path relative to the group: of the array, or of a group that has it under the name that it
  // has at the other levels. Empty for the group itself.
  std::string asset;
  // The layout entry of the level, which may have `spatial:` members.
  zarrcore::Json entry;
};

// A channel of an image, as OME-Zarr's `omero` describes it.
struct Channel {
  std::string label;                        // empty for none
  std::optional<std::uint32_t> color = {};  // 0xRRGGBB
};

struct Multiscales {
  std::vector<Level> levels;  // the finest first, if the order is certain
  // True if the attributes state which level is the finest, by `derived_from` or by scales. Else
  // the levels are in the order of the list, and the sizes of their arrays decide.
  bool order_is_certain = false;
  std::vector<std::string> axes;  // OME-Zarr: the names of the arrays' dimensions, if given
  std::vector<Channel> channels;  // OME-Zarr: along the dimension `channel_axis`
  std::optional<std::size_t> channel_axis;
  std::map<std::string, std::size_t, std::less<>> level_of_asset;  // the finest of that asset

  // The level whose asset is `path`, relative to the group, or contains it; the innermost of
  // several.
  std::optional<std::size_t> find_level(std::string_view path) const;
  // The same pyramid with the levels in the opposite order, for layouts where that is certain.
  Multiscales reversed() const;
};

// The pyramids with levels that the attributes of a group describe: usually none or one.
std::vector<Multiscales> parse_multiscales(const zarrcore::Json& group_attributes);

// A coarser level to write.
struct CoarserLevel {
  std::string asset;
  std::vector<double> scale;  // cell size relative to the next finer level, for each dimension
  std::uint64_t columns = 0;
  std::uint64_t rows = 0;
  std::optional<GeoTransform> transform = {};
  std::string resampling = {};  // empty keeps the old one
};

// The `resampling_method` of the first level that states one by the convention `multiscales`; null
// if none does.
const std::string* resampling_method(const zarrcore::Json& group_attributes);

struct FinestLevel {
  // An array; or "" for the group itself, whose arrays then share the pyramid: the levels are
  // groups with arrays of the same names.
  std::string asset;
  std::size_t rank;  // the number of its dimensions
};

// `attributes` with a pyramid, by the convention `multiscales`, of `finest` and these levels, each
// derived from the previous one. An empty list removes the pyramid.
zarrcore::Json with_multiscales(zarrcore::Json attributes, const FinestLevel& finest,
                                const std::vector<CoarserLevel>& levels);

}  // namespace gdal_zarr
