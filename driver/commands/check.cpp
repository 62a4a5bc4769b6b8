// Looks for damage, and for what contradicts conventions: CF, xarray's dimensions, and GeoZarr's
// proj, spatial and multiscales.
#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "driver/commands/examined.h"
#include "driver/stores/vsi/vsi_file.h"
#include "driver/stores/vsi/zarr_folder.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"

namespace gdal_zarr {

using zarrcore::ExaminedArray;
using zarrcore::Finding;
using zarrcore::Json;

namespace {

// Attributes that contradict the store, or have another form than the convention states.
class Conventions {
 public:
  Conventions(const zarrcore::Hierarchy& hierarchy, const zarrcore::ExaminedStore& examined)
      : hierarchy_(hierarchy) {
    for (const ExaminedArray& array : examined.arrays) arrays_.emplace(array.path, &array);
    groups_.insert(examined.groups.begin(), examined.groups.end());
    for (const Finding& finding : examined.findings) {
      if (finding.kind == Finding::Kind::document) broken_.insert(finding.place);
    }
  }

  std::vector<Finding> run() {
    for (const auto& [path, array] : arrays_) check_array(*array);
    for (const std::string& group : groups_) {
      const auto node = hierarchy_.node(group, zarrcore::NodeKind::group);
      if (!node) continue;
      const Json& attributes = std::get<zarrcore::GroupMetadata>(*node).attributes;
      check_geozarr(group, attributes);
      check_multiscales(group, attributes);
    }
    return std::move(findings_);
  }

 private:
  void add(const std::string& node, std::string problem) {
    findings_.push_back({Finding::Kind::convention, node, std::move(problem)});
  }

  bool exists(const std::string& path) const {
    return arrays_.contains(path) || groups_.contains(path) || broken_.contains(path);
  }
  // A name of CF: in the group of the variable or one above it, or a path.
  bool finds(const std::string& variable, const std::string& name) const {
    if (name.starts_with("..")) return true;  // relative paths are not followed
    if (name.starts_with('/')) return exists(name.substr(1));
    for (std::string group(zarrcore::parent_path(variable));;) {
      if (exists(zarrcore::join_path(group, name))) return true;
      if (group.empty()) return false;
      group = std::string(zarrcore::parent_path(group));
    }
  }

  void check_names(const std::string& variable, const Json& attributes, const char* attribute);
  void check_array(const ExaminedArray& array);
  void check_geozarr(const std::string& node, const Json& attributes);
  void check_multiscales(const std::string& group, const Json& attributes);

  const zarrcore::Hierarchy& hierarchy_;
  std::map<std::string, const ExaminedArray*> arrays_;
  std::set<std::string> groups_;
  std::set<std::string> broken_;  // nodes with documents that cannot be used
  std::vector<Finding> findings_;
};

void Conventions::check_names(const std::string& variable, const Json& attributes,
                              const char* attribute) {
  const Json* const value = zarrcore::find_member(attributes, attribute);
  if (value == nullptr || !value->is_string()) return;
  const auto text = value->get<std::string>();
  // "crs: x y other: lat lon" names grid mappings before colons, and coordinates.
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (word.ends_with(':')) word.pop_back();
    if (!finds(variable, word)) {
      add(variable, std::string("its ") + attribute + " names " + word + ", which does not exist");
    }
  }
}

void Conventions::check_array(const ExaminedArray& array) {
  const auto& metadata = array.metadata;
  const Json& attributes = metadata.attributes;
  for (const char* name : {"grid_mapping", "coordinates"}) {
    check_names(array.path, attributes, name);
  }
  check_geozarr(array.path, attributes);
  const Json* const names = zarrcore::find_member(attributes, "_ARRAY_DIMENSIONS");
  if (names == nullptr || !names->is_array()) return;
  if (names->size() != metadata.shape.size()) {
    add(array.path, "_ARRAY_DIMENSIONS has " + std::to_string(names->size()) +
                        " names, and the array " + std::to_string(metadata.shape.size()) +
                        " dimensions");
    return;
  }
  const std::string group(zarrcore::parent_path(array.path));
  for (std::size_t i = 0; i < metadata.shape.size(); ++i) {
    if (!(*names)[i].is_string()) continue;
    const auto name = (*names)[i].get<std::string>();
    const auto found = arrays_.find(zarrcore::join_path(group, name));
    if (found == arrays_.end() || found->second->metadata.shape.size() != 1) continue;
    const std::uint64_t length = found->second->metadata.shape.front();
    if (length != metadata.shape[i]) {
      add(array.path, "its dimension " + name + " has " + std::to_string(metadata.shape[i]) +
                          " elements, and the coordinates of this name " + std::to_string(length));
    }
  }
}

void Conventions::check_geozarr(const std::string& node, const Json& attributes) {
  const auto are_numbers = [](const Json& json) {
    return std::ranges::all_of(json, [](const Json& item) { return item.is_number(); });
  };
  const auto demand = [&](const char* name, const char* form, const auto& is_right) {
    const Json* const value = zarrcore::find_value(attributes, name);
    if (value != nullptr && !is_right(*value)) {
      add(node, std::string(name) + " is not " + form);
    }
  };
  demand("proj:code", "a text such as EPSG:4326", [](const Json& json) {
    return json.is_string() && json.get<std::string>().find(':') != std::string::npos;
  });
  demand("proj:wkt2", "a text", [](const Json& json) { return json.is_string(); });
  demand("proj:projjson", "an object", [](const Json& json) { return json.is_object(); });
  demand("spatial:transform", "an array of 6 numbers", [&](const Json& json) {
    return json.is_array() && json.size() == 6 && are_numbers(json);
  });
  demand("spatial:bbox", "an array of 4 or 6 numbers", [&](const Json& json) {
    return json.is_array() && (json.size() == 4 || json.size() == 6) && are_numbers(json);
  });
}

void Conventions::check_multiscales(const std::string& group, const Json& attributes) {
  const Json* const multiscales = zarrcore::find_member(attributes, "multiscales");
  if (multiscales == nullptr || !multiscales->is_object()) return;  // OME has an array
  const Json* const layout = zarrcore::find_member(*multiscales, "layout");
  if (layout == nullptr || !layout->is_array()) return;
  for (const Json& level : *layout) {
    const Json* const asset = zarrcore::find_member(level, "asset");
    if (asset == nullptr || !asset->is_string()) {
      add(group, "a level of its multiscales names no asset");
    } else if (const auto name = asset->get<std::string>();
               name != "." && !name.starts_with("..") && !name.starts_with('/') &&
               !exists(
                   zarrcore::join_path(group, name.starts_with("./") ? name.substr(2) : name))) {
      add(group, "its multiscales name " + name + ", which does not exist");
    }
  }
}

// The damage that keeps a store from being opened, which is then all that is known of it.
zarrcore::ExaminedStore with_broken_root(const zarrcore::Error& error) {
  zarrcore::ExaminedStore examined;
  examined.findings.push_back({Finding::Kind::document, "", error.what()});
  return examined;
}

}  // namespace

CommandResult run_check(const Arguments& arguments, const CommandProgress& progress) {
  const std::string path = store_of(arguments);
  std::unique_ptr<zarrcore::Hierarchy> hierarchy;
  zarrcore::ExaminedStore examined;
  try {
    hierarchy = open_examined(path);
  } catch (const zarrcore::AccessFailure&) {
    throw;
  } catch (const zarrcore::Error& error) {
    const bool is_zarr =
        is_folder(path) ? is_zarr_folder(path) : find_zipped_store(path).has_value();
    if (!is_zarr) throw;
    examined = with_broken_root(error);
  }
  if (hierarchy) {
    examined = examine(
        *hierarchy, arguments.has("read") ? ExaminedParts::values : ExaminedParts::names, progress);
    for (Finding& finding : Conventions(*hierarchy, examined).run()) {
      examined.findings.push_back(std::move(finding));
    }
    for (const std::string& file : examined.temporary_files) {
      examined.findings.push_back(
          {Finding::Kind::leftover, file, "a program that was killed has left this file"});
    }
  }
  CommandResult result;
  Json findings = Json::array();
  for (const Finding& finding : examined.findings) {
    const std::string kind(name_of(finding.kind));
    findings.push_back({{"kind", kind}, {"place", finding.place}, {"problem", finding.problem}});
    result.text += kind + ' ' + node_name(finding.place) + ": " + finding.problem + '\n';
  }
  Json arrays = Json::array();
  for (const ExaminedArray& array : examined.arrays) {
    arrays.push_back({{"path", node_name(array.path)},
                      {"chunks", array.grid_chunks},
                      {"stored", array.chunks},
                      {"missing", array.grid_chunks - array.chunks}});
    if (array.inner_chunks) arrays.back()["inner_chunks"] = *array.inner_chunks;
    result.text += node_name(array.path) + ": " + std::to_string(array.chunks) + " of " +
                   count_of(array.grid_chunks, "chunk") + " stored\n";
  }
  if (examined.foreign_values != 0) {
    result.text += count_of(examined.foreign_values, "value") +
                   (examined.foreign_values == 1 ? " belongs" : " belong") +
                   " to no node, such as " + examined.first_foreign.front() + '\n';
  }
  result.text +=
      findings.empty() ? "No damage was found.\n" : count_of(findings.size(), "finding") + ".\n";
  if (!findings.empty()) result.exit = CommandResult::Exit::found;
  result.json["findings"] = std::move(findings);
  result.json["arrays"] = std::move(arrays);
  result.json["foreign_values"] = examined.foreign_values;
  result.json["first_foreign_values"] = examined.first_foreign;
  return result;
}

}  // namespace gdal_zarr
