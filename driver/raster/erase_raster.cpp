#include "driver/raster/erase_raster.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "driver/multidim/mask_arrays.h"
#include "driver/multidim/raster_view.h"
#include "driver/raster/overview_levels.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"

namespace gdal_zarr {
namespace {

// An array that has none, or cannot be shown as a raster, has nothing to remove.
void erase_overviews(Session& session, const std::string& node_path) {
  try {
    const auto array = session.array(node_path);
    if (array->GetDimensions().size() < 2 || array->overviews().empty()) return;
    const auto axes = array->raster_axes();
    const RasterView view(array, axes.x, axes.y, {});
    OverviewLevels levels(view);
    levels.remove_all();
    levels.describe({});
  } catch (const zarrcore::Error&) {
    // The levels stay: another program has replaced them by something else.
  }
}

// The names of the dimensions of the arrays in a group and in the groups below it, which share the
// coordinates of groups above. Without the arrays of `excluded` paths.
std::set<std::string> dimension_names_below(Session& session, const std::string& group,
                                            const std::set<std::string>& excluded) {
  std::set<std::string> names;
  for (const zarrcore::Child& child : session.hierarchy().children(group)) {
    const std::string path = zarrcore::join_path(group, child.name);
    if (excluded.contains(path)) continue;
    if (child.kind == zarrcore::Child::Kind::group) {
      names.merge(dimension_names_below(session, path, excluded));
    } else if (const auto metadata = session.array_metadata(path)) {
      for (const auto& name : metadata->dimension_names) {
        if (name) names.insert(*name);
      }
    }
  }
  return names;
}

}  // namespace

bool is_coordinate_of_others(Session& session, const std::string& node_path,
                             const std::set<std::string>& excluded) {
  if (!session.is_dimension_variable(node_path)) return false;
  const std::string group(zarrcore::parent_path(node_path));
  return dimension_names_below(session, group, excluded)
      .contains(std::string(zarrcore::last_segment(node_path)));
}

void erase_raster(Session& session, const std::string& node_path) {
  const std::string group(zarrcore::parent_path(node_path));
  const auto metadata = session.array_metadata(node_path);
  erase_overviews(session, node_path);
  std::vector<std::string> paths = mask_paths(session, node_path, true);
  std::vector<std::string> unused;
  for (const auto& name :
       metadata ? metadata->dimension_names : decltype(metadata->dimension_names)()) {
    if (!name || !zarrcore::is_valid_segment(*name)) continue;
    std::string path = zarrcore::join_path(group, *name);
    if (path != node_path && session.is_dimension_variable(path)) unused.push_back(std::move(path));
  }
  paths.push_back(node_path);
  if (!unused.empty()) {
    std::set<std::string> of_raster(paths.begin(), paths.end());
    of_raster.insert(unused.begin(), unused.end());
    const std::set<std::string> used = dimension_names_below(session, group, of_raster);
    std::erase_if(unused, [&](const std::string& path) {
      return used.contains(std::string(zarrcore::last_segment(path)));
    });
  }
  paths.insert(paths.end(), unused.begin(), unused.end());
  session.erase_nodes(paths);
}

}  // namespace gdal_zarr
