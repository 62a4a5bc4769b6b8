#include "driver/conventions/gdal_attributes.h"

#include <cpl_port.h>

#include <initializer_list>

#include "driver/gdal/crs_text.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"

namespace gdal_zarr {
namespace {

using zarrcore::find_member;
using zarrcore::find_string;
using zarrcore::Json;

constexpr std::string_view kAuthority = "EPSG:";
// GDAL's multidimensional API has no other place for it.
constexpr const char* kShownRegistration = "spatial:registration";
constexpr const char* kUrl = "http://www.opengis.net/def/crs/EPSG/0/";

// The first of these members that exists: older versions have other names.
const Json* find_any(const Json& object, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (const Json* member = find_member(object, name)) return member;
  }
  return nullptr;
}

const Json* find_references(const Json& holder) {
  for (const char* key : {"_nczarr_array", "_NCZARR_ARRAY"}) {
    const Json* array = find_member(holder, key);
    const Json* found =
        array != nullptr ? find_any(*array, {"dimension_references", "dimrefs"}) : nullptr;
    if (found != nullptr) return found;
  }
  return nullptr;
}

const Json* find_group(const zarrcore::GroupMetadata& group) {
  const Json* found = find_any(group.attributes, {"_nczarr_group", "_NCZARR_GROUP"});
  return found != nullptr ? found
                          : find_any(group.unknown_members, {"_nczarr_group", "_NCZARR_GROUP"});
}

const Json* find_group_member(const zarrcore::GroupMetadata& group,
                              std::initializer_list<const char*> names) {
  const Json* found = find_group(group);
  return found != nullptr ? find_any(*found, names) : nullptr;
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

AttributeChange difference(const Json& before, const Json& after) {
  AttributeChange change;
  for (const auto& [name, value] : after.items()) {
    const Json* old = find_member(before, name);
    if (old == nullptr || *old != value) change.set[name] = value;
  }
  for (const auto& [name, value] : before.items()) {
    if (find_member(after, name) == nullptr) change.remove.push_back(name);
  }
  return change;
}

Json apply_change(Json attributes, const AttributeChange& change) {
  for (const std::string& name : change.remove) attributes.erase(name);
  for (const auto& [name, value] : change.set.items()) attributes[name] = value;
  return attributes;
}

void write_gdal_crs(Json& attributes, const OGRSpatialReference& crs) {
  const std::string code = authority_code(crs);
  const bool is_of_epsg = code.starts_with(kAuthority);
  Json& value = attributes["_CRS"] = Json::object();
  if (is_of_epsg) value["url"] = kUrl + code.substr(kAuthority.size());
  value["wkt"] = export_wkt_with_epoch(crs);
  value["projjson"] = export_projjson(crs);
  if (crs.GetCoordinateEpoch() > 0) value["epoch"] = crs.GetCoordinateEpoch();
  attributes["crs"] = is_of_epsg ? code : export_wkt(crs);
}

void adopt_epoch(OGRSpatialReference& crs, const Json& attributes) {
  const Json* epoch = find_member(attributes, kCoordinateEpoch);
  if (epoch != nullptr && epoch->is_number() && crs.GetCoordinateEpoch() <= 0) {
    crs.SetCoordinateEpoch(epoch->get<double>());
  }
}

bool crs_repeats_gdals(const Json& attributes) {
  const Json* value = find_member(attributes, "_CRS");
  const std::string* text = find_string(attributes, "crs");
  if (value == nullptr || text == nullptr || text->empty()) return false;
  if (text->starts_with(kAuthority)) {
    const std::string* url = find_string(*value, "url");
    return url != nullptr && *url == kUrl + text->substr(kAuthority.size());
  }
  // With an epoch, the WKT in `_CRS` may have more around it.
  const std::string* wkt = find_string(*value, "wkt");
  return wkt != nullptr && wkt->find(*text) != std::string::npos;
}

zarrcore::Json shown_attributes(const zarrcore::Json& attributes) {
  zarrcore::Json shown = attributes;
  const bool has_copy_of_crs = crs_repeats_gdals(attributes);
  zarrcore::erase_members(shown, [&](const std::string& name) {
    const bool is_expressed_by_gdal = name == "_CRS" || (name == "crs" && has_copy_of_crs) ||
                                      name == "zarr_conventions" || name == "multiscales" ||
                                      name == "gdal:geotransform" || name == kCoordinateEpoch ||
                                      name == kPlainMetadata || name.starts_with("proj:") ||
                                      (name.starts_with("spatial:") && name != kShownRegistration);
    return is_expressed_by_gdal || is_nczarr_name(name);
  });
  return shown;
}

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
