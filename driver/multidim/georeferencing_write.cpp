#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "driver/conventions/position.h"
#include "driver/gdal/messages.h"
#include "driver/multidim/array.h"
#include "driver/multidim/dimension.h"
#include "driver/multidim/georeferencing.h"
#include "driver/multidim/group.h"  // IWYU pragma: keep, a complete type
#include "driver/new_array/new_array.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"

namespace gdal_zarr {
namespace {

using zarrcore::Error;
using zarrcore::Json;

RasterDimension raster_dimension(const Array& array, std::optional<std::size_t> axis) {
  if (!axis) return {};
  const auto& name = array.metadata().dimension_names[*axis];
  return {name.value_or(std::string()), array.known_dimensions()[*axis]->GetSize()};
}

// The group of an array, in which its coordinates are.
class Surroundings {
 public:
  Surroundings(const RasterView& view, const Array& array)
      : view_(view),
        array_(array),
        session_(*array.session()),
        group_(zarrcore::parent_path(array.node_path())) {}

  std::vector<std::shared_ptr<const Json>> groups() const {
    std::vector<std::shared_ptr<const Json>> groups;
    if (session_.root_is_array()) return groups;
    groups.push_back(session_.attributes(group_));
    if (const auto pyramid = session_.pyramids().find(array_.node_path())) {
      groups.push_back(session_.attributes(pyramid->group));
      groups.push_back({pyramid->multiscales, &pyramid->entry()});
    }
    groups.push_back(session_.attributes(""));
    return groups;
  }

  std::optional<NodeBeside> find_node(const std::string& name) const {
    for (const std::string& group : paths_upward(group_)) {
      const std::string path = zarrcore::join_path(group, name);
      if (const auto node = session_.hierarchy().node(path)) {
        NodeBeside found;
        found.attributes = *session_.attributes(path);
        found.coordinates = coordinates(path, name);
        found.is_own = group == group_ && std::holds_alternative<zarrcore::ArrayMetadata>(*node) &&
                       !is_used_by_others(name);
        return found;
      }
    }
    return is_used_by_others(name) ? std::optional<NodeBeside>(std::in_place) : std::nullopt;
  }

 private:
  std::vector<double> coordinates(const std::string& path, const std::string& name) const {
    for (const auto& dimension : array_.GetDimensions()) {
      if (dimension->GetName() != name) continue;
      const auto variable = dimension->GetIndexingVariable();
      if (variable && session_.node_path(variable->GetFullName()) == path) {
        return read_values(*variable);
      }
    }
    return {};
  }

  // Returns true if an array of the group that is not a band of this raster has such a dimension or
  // grid mapping.
  bool is_used_by_others(const std::string& name) const {
    for (const zarrcore::Child& child : session_.hierarchy().children(group_)) {
      const std::string path = zarrcore::join_path(group_, child.name);
      const bool is_own = std::ranges::any_of(
          view_.arrays(), [&](const auto& own) { return own->node_path() == path; });
      const auto other = session_.array_metadata(path);
      if (!other || is_own || child.name == name) continue;
      const auto& names = other->dimension_names;
      if (std::ranges::find(names, name) != names.end()) return true;
      const Json* mapping = zarrcore::find_member(other->attributes, "grid_mapping");
      if (mapping != nullptr && *mapping == name) return true;
    }
    return false;
  }

  const RasterView& view_;
  const Array& array_;
  const Session& session_;
  std::string group_;
};

void put_attributes(Array& array, const Json& attributes) {
  const AttributeChange change = difference(array.metadata().attributes, attributes);
  if (change.empty()) return;
  array.change([&](zarrcore::ArrayMetadata& metadata) {
    metadata.attributes = apply_change(std::move(metadata.attributes), change);
  });
  array.session()->writable_hierarchy().flush_node(array.node_path());
}

void write_variable(Session& session, const std::string& group, const Variable& variable) {
  NewArray array;
  array.format = &session.new_array_format();
  const bool is_scalar = variable.dimension_names.empty();
  array.type = GDALExtendedDataType::Create(is_scalar ? GDT_Int32 : GDT_Float64);
  if (!is_scalar) array.shape = {variable.values.size()};
  array.dimension_names = variable.dimension_names;
  zarrcore::ArrayMetadata metadata = make_array_metadata(array, nullptr);
  metadata.attributes = variable.attributes;
  metadata.chunk_shape = array.shape;
  const std::string path = zarrcore::join_path(group, variable.name);
  const auto old = session.array_metadata(path);
  std::shared_ptr<Array> stored;
  // Then replacing attributes and elements is enough.
  if (old && has_same_layout(*old, metadata) && old->dimension_names == metadata.dimension_names) {
    stored = session.array(path);
    put_attributes(*stored, variable.attributes);
  } else {
    if (session.hierarchy().node(path)) session.erase_node(path);
    stored = session.create_array(path, std::move(metadata));
  }
  if (is_scalar) return;
  const GUInt64 start = 0;
  const std::size_t count = variable.values.size();
  if (!stored->Write(&start, &count, nullptr, nullptr, array.type, variable.values.data())) {
    throw Error("coordinate variable /" + path + " could not be written");
  }
  stored->flush();
}

// Attributes that hold for the stored values of a variable only.
constexpr const char* kOfStoredValues[] = {"scale_factor",  "add_offset",   "_FillValue",
                                           "missing_value", "valid_min",    "valid_max",
                                           "valid_range",   "actual_range", "bounds"};

// An array that gets a new georeferencing.
struct PlacedArray {
  std::shared_ptr<Array> array;
  Json attributes;  // as they were
  GeoreferencingConvention convention;
  Json final_attributes = Json::object();
};

std::optional<RasterAxes> raster_axes(const RasterView& view) {
  if (!view.x_axis() || !view.y_axis()) return std::nullopt;
  return RasterAxes{*view.x_axis(), *view.y_axis()};
}

GeoreferencingChange change_of(const PlacedArray& placed, const RasterView& view,
                               const WrittenGeoreferencing& written) {
  const Array& array = *placed.array;
  const Surroundings surroundings(view, array);
  GeoreferencedArray georeferenced{array.GetName(),
                                   raster_dimension(array, view.x_axis()),
                                   raster_dimension(array, view.y_axis()),
                                   placed.attributes,
                                   surroundings.groups(),
                                   nullptr};
  if (!array.session()->root_is_array()) {
    georeferenced.find_node = [&](const std::string& name) { return surroundings.find_node(name); };
  }
  georeferenced.inherits_crs = [&](const Json& attributes, const std::string& removed) {
    Evidence evidence = array.evidence();
    evidence.attributes = std::make_shared<const Json>(attributes);
    evidence.scopes.front().attributes = evidence.attributes;
    evidence.find = [find = evidence.find, &removed](const std::string& name) {
      return name == removed ? std::nullopt : find(name);
    };
    evidence.unnamed = [find = evidence.unnamed, &removed](const std::vector<std::string>& names) {
      auto variables = find(names);
      std::erase_if(variables, [&](const EvidenceVariable& variable) {
        return zarrcore::last_segment(variable.path) == removed;
      });
      return variables;
    };
    evidence.assumes_longlat = false;
    const QuietErrors quiet;
    return find_crs(evidence, raster_axes(view)).crs != nullptr;
  };
  return write_georeferencing(placed.convention, georeferenced, written);
}

void write_variables(const GeoreferencingChange& change, const Array& array) {
  Session& session = *array.session();
  const std::string group(zarrcore::parent_path(array.node_path()));
  for (const Variable& variable : change.variables) write_variable(session, group, variable);
  for (const auto& [name, attributes] : change.variable_attributes) {
    const auto other = session.array(zarrcore::join_path(group, name));
    put_attributes(*other, apply_change(other->metadata().attributes, attributes));
  }
  if (!change.warning.empty()) {
    report(CE_Warning, CPLE_AppDefined, "Zarr: array %s: %s", array.GetFullName().c_str(),
           change.warning.c_str());
  }
}

// The name of the dimension that replaces the one at `axis`; empty if it is not replaced.
std::string name_to_share(const Array& array, std::size_t axis, double origin, double step) {
  const std::string& name = array.shareable_names()[axis];
  if (name.empty()) return {};
  const auto dimension = find_visible_dimension(
      *array.session(), std::string(zarrcore::parent_path(array.node_path())), name);
  const bool is_same = dimension && dimension->GetSize() == array.core().shape()[axis] &&
                       has_cells_from(*dimension, origin, step);
  return is_same ? name : std::string();
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

}  // namespace

std::shared_ptr<GDALDimension> find_visible_dimension(Session& session, const std::string& group,
                                                      const std::string& name) {
  for (const std::string& path : paths_upward(group)) {
    for (auto& dimension : session.group(path)->GetDimensions(nullptr)) {
      if (dimension->GetName() == name) return std::move(dimension);
    }
  }
  return nullptr;
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

// Each document and chunk is put by itself, and the program may be killed between any two of them.
// So the arrays carry the whole georeferencing themselves until the variables for it are written.
void store_georeferencing(const RasterView& view, const WrittenGeoreferencing& written) {
  Session& session = *view.array().session();
  const auto kept = session.writable_hierarchy().keep_listings();
  if (written.transform) share_dimensions(view, *written.transform);
  std::vector<PlacedArray> arrays;
  for (const auto& array : view.arrays()) {
    arrays.push_back({array, array->metadata().attributes, array->convention()});
  }
  for (const PlacedArray& placed : arrays) {
    const GeoreferencingChange change = change_of(placed, view, written);
    const bool has_variables = !change.variables.empty() || !change.variable_attributes.empty() ||
                               !change.removed_variables.empty();
    if (has_variables && !placed.array->is_new()) put_attributes(*placed.array, change.meanwhile);
  }
  std::set<std::string> removed;
  for (PlacedArray& placed : arrays) {
    const GeoreferencingChange change = change_of(placed, view, written);
    write_variables(change, *placed.array);
    for (const std::string& name : change.removed_variables) {
      removed.insert(zarrcore::join_path(zarrcore::parent_path(placed.array->node_path()), name));
    }
    placed.final_attributes = apply_change(placed.attributes, change.array);
  }
  for (const PlacedArray& placed : arrays) put_attributes(*placed.array, placed.final_attributes);
  for (const std::string& path : removed) {
    if (session.hierarchy().node(path)) session.erase_node(path);
  }
}

void store_coarser_coordinates(const Array& fine, const Array& coarse, std::size_t axis,
                               int factor) {
  Session& session = *fine.session();
  const GDALDimension& dimension = *fine.known_dimensions()[axis];
  const auto variable = std::dynamic_pointer_cast<Array>(dimension.GetIndexingVariable());
  const std::string& name = dimension.GetName();
  if (!variable || variable->GetName() != name) return;
  const std::uint64_t size = coarse.core().shape()[axis];
  std::vector<double> values = coarser_coordinates(read_values(*variable), factor, size);
  if (values.empty()) return;
  const std::string group(zarrcore::parent_path(coarse.node_path()));
  for (const zarrcore::Child& child : session.hierarchy().children(group)) {
    const auto other = session.array_metadata(zarrcore::join_path(group, child.name));
    if (!other || child.name == name || child.name == coarse.GetName()) continue;
    const auto& names = other->dimension_names;
    if (session.hierarchy().node(zarrcore::join_path(group, name)) &&
        std::ranges::find(names, name) != names.end()) {
      return;
    }
  }
  Json attributes = variable->metadata().attributes;
  for (const char* attribute : kOfStoredValues) attributes.erase(attribute);
  write_variable(session, group, {name, {name}, std::move(values), std::move(attributes)});
}

}  // namespace gdal_zarr
