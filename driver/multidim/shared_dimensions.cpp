#include "driver/multidim/shared_dimensions.h"

#include <cmath>
#include <optional>
#include <utility>

#include "driver/multidim/array.h"
#include "driver/multidim/evidence.h"
#include "driver/multidim/group.h"
#include "driver/multidim/session.h"
#include "zarrcore/base/path.h"

namespace gdal_zarr {
namespace {

// The name of the dimension that replaces the one at `axis`; empty for none.
std::string name_to_share(const Array& array, std::size_t axis, double origin, double step) {
  const std::string& name = array.shareable_names()[axis];
  if (name.empty()) return {};
  const auto dimension = find_visible_dimension(
      *array.session(), std::string(zarrcore::parent_path(array.node_path())), name);
  const bool is_same = dimension && dimension->GetSize() == array.core().shape()[axis] &&
                       has_cells_from(*dimension, origin, step);
  return is_same ? name : std::string();
}

}  // namespace

std::shared_ptr<GDALDimension> find_visible_dimension(Session& session, std::string group,
                                                      const std::string& name) {
  for (;; group = zarrcore::parent_path(group)) {
    for (auto& dimension : session.group(group)->GetDimensions(nullptr)) {
      if (dimension->GetName() == name) return std::move(dimension);
    }
    if (group.empty()) return nullptr;
  }
}

bool has_cells_from(const GDALDimension& dimension, double origin, double step) {
  const auto variable = dimension.GetIndexingVariable();
  const auto axis = variable ? find_regular_axis(read_values(*variable)) : std::nullopt;
  if (!axis) return false;
  const double tolerance = std::abs(step) * 1e-6;
  const auto cells = static_cast<double>(dimension.GetSize());
  return std::abs(axis->first_centre - (origin + step / 2)) <= tolerance &&
         std::abs(axis->step - step) * cells <= tolerance;
}

void share_dimensions(const RasterView& view, const GeoTransform& transform) {
  const bool is_rotated = transform[2] != 0 || transform[4] != 0;
  if (is_rotated || !view.x_axis() || !view.y_axis()) return;
  for (const auto& array : view.arrays()) {
    if (array->shareable_names().empty()) continue;
    const std::string x = name_to_share(*array, *view.x_axis(), transform[0], transform[1]);
    const std::string y = name_to_share(*array, *view.y_axis(), transform[3], transform[5]);
    array->set_shareable_names({});
    if (x.empty() && y.empty()) continue;
    array->change([&](zarrcore::ArrayMetadata& metadata) {
      if (!x.empty()) metadata.dimension_names[*view.x_axis()] = x;
      if (!y.empty()) metadata.dimension_names[*view.y_axis()] = y;
    });
    array->forget_dimensions();
  }
}

}  // namespace gdal_zarr
