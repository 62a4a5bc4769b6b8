#include "driver/conventions/nczarr.h"

#include <cpl_port.h>

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
  for (const Json* holder : {&group.attributes, &group.unknown_members}) {
    for (const char* group_key : {"_nczarr_group", "_NCZARR_GROUP"}) {
      const Json* member = find_member(*holder, group_key);
      if (member == nullptr) continue;
      const Json* dimensions = find_member(*member, "dimensions");
      if (dimensions == nullptr) dimensions = find_member(*member, "dims");
      if (dimensions == nullptr || !dimensions->is_object()) continue;
      for (const auto& [name, value] : dimensions->items()) {
        // A number, or {"size": 5, "unlimited": 1}.
        const Json* size = value.is_object() ? find_member(value, "size") : &value;
        if (size == nullptr || !size->is_number_unsigned()) continue;
        found.push_back({name, size->get<std::uint64_t>()});
      }
      return found;
    }
  }
  return found;
}

std::vector<std::string> nczarr_group_names(const zarrcore::GroupMetadata& group) {
  std::vector<std::string> names;
  for (const Json* holder : {&group.attributes, &group.unknown_members}) {
    for (const char* group_key : {"_nczarr_group", "_NCZARR_GROUP"}) {
      const Json* member = find_member(*holder, group_key);
      const Json* groups = member == nullptr ? nullptr : find_member(*member, "groups");
      if (groups == nullptr || !groups->is_array()) continue;
      for (const Json& name : *groups) {
        if (name.is_string() && zarrcore::is_valid_segment(name.get_ref<const std::string&>())) {
          names.push_back(name.get<std::string>());
        }
      }
      return names;
    }
  }
  return names;
}

Json without_nczarr(const Json& attributes) {
  Json others = Json::object();
  for (const auto& [name, value] : attributes.items()) {
    if (!STARTS_WITH_CI(name.c_str(), "_nczarr_")) others[name] = value;
  }
  return others;
}

}  // namespace gdal_zarr
