#include "driver/conventions/zarr_conventions.h"

#include <algorithm>

namespace gdal_zarr {
namespace {

using zarrcore::find_member;
using zarrcore::Json;

constexpr const char* kList = "zarr_conventions";

// Of the releases of the conventions. Others are known by the uuid as well.
Json declaration(ZarrConvention convention) {
  const auto make = [](const char* repository, const char* uuid, const char* name,
                       const char* description) {
    const std::string path = repository;
    return Json{
        {"schema_url", "https://raw.githubusercontent.com/" + path + "/refs/tags/v0.1/schema.json"},
        {"spec_url", "https://github.com/" + path + "/blob/v0.1/README.md"},
        {"uuid", uuid},
        {"name", name},
        {"description", description}};
  };
  switch (convention) {
    case ZarrConvention::multiscales:
      return make("zarr-conventions/multiscales", "d35379db-88df-4056-af3a-620245f8e347",
                  "multiscales", "Multiscale layout of zarr datasets");
    case ZarrConvention::proj:
      return make("zarr-conventions/proj", "f17cb550-5864-4468-aeb7-f3180cfb622f",
                  "proj:", "Coordinate reference system information for geospatial data");
    case ZarrConvention::spatial:
      break;
  }
  return make("zarr-conventions/spatial", "689b58e2-cf7b-45e0-9fff-9cfc0883d6b4",
              "spatial:", "Spatial coordinate information");
}

}  // namespace

bool declares_convention(const Json& attributes, ZarrConvention convention) {
  const Json* list = find_member(attributes, kList);
  if (list == nullptr || !list->is_array()) return false;
  const Json uuid = declaration(convention)["uuid"];
  return std::any_of(list->begin(), list->end(), [&](const Json& entry) {
    const Json* own = find_member(entry, "uuid");
    return own != nullptr && *own == uuid;
  });
}

void declare_convention(Json& attributes, ZarrConvention convention, bool is_followed) {
  const Json own = declaration(convention);
  const auto is_own = [&](const Json& entry) {
    const Json* uuid = find_member(entry, "uuid");
    return uuid != nullptr && *uuid == own["uuid"];
  };
  Json list = Json::array();
  if (const Json* current = find_member(attributes, kList); current != nullptr) {
    if (current->is_array()) list = *current;
  }
  const auto found = std::find_if(list.begin(), list.end(), is_own);
  const bool is_listed = found != list.end();
  if (is_listed == is_followed) return;
  if (is_followed) {
    list.push_back(own);
  } else {
    list.erase(found);
  }
  if (list.empty()) {
    attributes.erase(kList);
  } else {
    attributes[kList] = std::move(list);
  }
}

}  // namespace gdal_zarr
