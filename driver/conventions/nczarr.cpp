#include "driver/conventions/nczarr.h"

#include <cpl_port.h>

#include <initializer_list>

#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"

namespace gdal_zarr {
namespace {

using zarrcore::find_member;
using zarrcore::Json;

// The member `dimension_references`, or `dimrefs` of older versions.
const Json* find_references(const Json& holder) {
  for (const char* array_key : {"_nczarr_array", "_NCZARR_ARRAY"}) {
    const Json* array = find_member(holder, array_key);
    if (array == nullptr) continue;
    for (const char* key : {"dimension_references", "dimrefs"}) {
      if (const Json* references = find_member(*array, key)) return references;
    }
  }
  return nullptr;
}

const Json* find_group(const zarrcore::GroupMetadata& group) {
  for (const Json* holder : {&group.attributes, &group.unknown_members}) {
    for (const char* key : {"_nczarr_group", "_NCZARR_GROUP"}) {
      if (const Json* found = find_member(*holder, key)) return found;
    }
  }
  return nullptr;
}

// Finds a member by its name, or by the name in older versions.
const Json* find_group_member(const zarrcore::GroupMetadata& group,
                              std::initializer_list<const char*> names) {
  const Json* found = find_group(group);
  if (found == nullptr) return nullptr;
  for (const char* name : names) {
    if (const Json* member = find_member(*found, name)) return member;
  }
  return nullptr;
}

bool is_reference(const Json& value) {
  if (!value.is_string()) return false;
  const auto& path = value.get_ref<const std::string&>();
  try {
    return path.size() > 1 && path.front() == '/' && '/' + zarrcore::normalize_path(path) == path;
  } catch (const zarrcore::Error&) {
    return false;
  }
}

}  // namespace

std::vector<std::string> nczarr_dimensions(const zarrcore::ArrayMetadata& array) {
  const Json* references = find_references(array.attributes);
  if (references == nullptr) references = find_references(array.unknown_members);
  std::vector<std::string> paths;
  if (references == nullptr || !references->is_array() ||
      references->size() != array.shape.size()) {
    return paths;
  }
  for (const Json& reference : *references) {
    if (!is_reference(reference)) return {};
    paths.push_back(reference.get<std::string>());
  }
  return paths;
}

std::vector<GroupDimension> nczarr_group_dimensions(const zarrcore::GroupMetadata& group) {
  std::vector<GroupDimension> found;
  const Json* dimensions = find_group_member(group, {"dimensions", "dims"});
  if (dimensions == nullptr || !dimensions->is_object()) return found;
  for (const auto& [name, value] : dimensions->items()) {
    // A number, or {"size": 5, "unlimited": 1}.
    const Json* size = value.is_object() ? find_member(value, "size") : &value;
    if (size == nullptr || !size->is_number_unsigned()) continue;
    found.push_back({name, size->get<std::uint64_t>()});
  }
  return found;
}

bool is_nczarr_group(const zarrcore::GroupMetadata& group) {
  return find_group(group) != nullptr;
}

std::vector<std::string> nczarr_group_names(const zarrcore::GroupMetadata& group) {
  std::vector<std::string> names;
  const Json* groups = find_group_member(group, {"groups"});
  if (groups == nullptr || !groups->is_array()) return names;
  for (const Json& name : *groups) {
    if (name.is_string() && zarrcore::is_valid_segment(name.get_ref<const std::string&>())) {
      names.push_back(name.get<std::string>());
    }
  }
  return names;
}

bool is_nczarr_name(const std::string& name) {
  return STARTS_WITH_CI(name.c_str(), "_nczarr_");
}

Json without_nczarr(const Json& attributes) {
  Json others = attributes;
  zarrcore::erase_members(others, is_nczarr_name);
  return others;
}

}  // namespace gdal_zarr
