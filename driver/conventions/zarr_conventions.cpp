#include "driver/conventions/zarr_conventions.h"

#include <cpl_error.h>
#include <cpl_port.h>

#include <algorithm>
#include <cmath>

#include "driver/gdal/crs_text.h"
#include "driver/gdal/messages.h"

namespace gdal_zarr {
namespace {

using zarrcore::find_member;
using zarrcore::Json;

constexpr const char* kList = "zarr_conventions";

// The releases of the conventions, in the order of ZarrConvention. Other releases are recognized by
// the uuid.
struct Declaration {
  const char* repository;
  const char* uuid;
  const char* name;
  const char* description;
};

const Declaration& declaration_of(ZarrConvention convention) {
  static constexpr Declaration kDeclarations[] = {
      {"zarr-conventions/multiscales", "d35379db-88df-4056-af3a-620245f8e347", "multiscales",
       "Multiscale layout of zarr datasets"},
      {"zarr-conventions/proj", "f17cb550-5864-4468-aeb7-f3180cfb622f",
       "proj:", "Coordinate reference system information for geospatial data"},
      {"zarr-conventions/spatial", "689b58e2-cf7b-45e0-9fff-9cfc0883d6b4",
       "spatial:", "Spatial coordinate information"}};
  return kDeclarations[static_cast<std::size_t>(convention)];
}

// The entry of a convention in the list of those that a node follows, by its uuid; the end without.
Json::const_iterator find_declaration(const Json& list, ZarrConvention convention) {
  return std::find_if(list.begin(), list.end(), [&](const Json& entry) {
    const Json* uuid = find_member(entry, "uuid");
    return uuid != nullptr && *uuid == declaration_of(convention).uuid;
  });
}

// The list; an empty one if there is none.
Json declarations(const Json& attributes) {
  const Json* list = find_member(attributes, kList);
  return list != nullptr && list->is_array() ? *list : Json::array();
}

constexpr const char* kKeys[] = {"proj:code", "proj:wkt2", "proj:projjson", "proj:epsg"};

// `key` has the prefix "proj:", which drafts of the convention replace by an object: `geo:proj`, or
// `proj` in `geo`.
const Json* find_proj(const Json& attributes, const char* key) {
  if (const auto* value = find_member(attributes, key)) return value;
  const auto* object = find_member(attributes, "geo:proj");
  if (object == nullptr) {
    const auto* geo = find_member(attributes, "geo");
    object = geo != nullptr ? find_member(*geo, "proj") : nullptr;
  }
  return object != nullptr ? find_member(*object, key + 5) : nullptr;
}

// Moves a transform from a corner of the first cell to its centre, or back.
GeoTransform moved(const GeoTransform& transform, double cells) {
  GeoTransform result = transform;
  result[0] += (transform[1] + transform[2]) * cells;
  result[3] += (transform[4] + transform[5]) * cells;
  return result;
}

}  // namespace

std::optional<GeoTransform> affine_transform(const Json& list) {
  // Nine numbers are a whole 3×3 matrix.
  if (!list.is_array() || (list.size() != 6 && list.size() != 9)) return std::nullopt;
  GeoTransform transform{};
  constexpr std::size_t kOrder[] = {2, 0, 1, 5, 3, 4};
  for (std::size_t i = 0; i < transform.size(); ++i) {
    const Json& number = list[kOrder[i]];
    if (!number.is_number() || !std::isfinite(number.get<double>())) return std::nullopt;
    transform[i] = number.get<double>();
  }
  return transform;
}

void declare_convention(Json& attributes, ZarrConvention convention, bool is_followed) {
  Json list = declarations(attributes);
  const auto found = find_declaration(list, convention);
  if ((found != list.end()) == is_followed) return;
  if (is_followed) {
    const Declaration& own = declaration_of(convention);
    const std::string repository = own.repository;
    list.push_back({{"schema_url", "https://raw.githubusercontent.com/" + repository +
                                       "/refs/tags/v0.1/schema.json"},
                    {"spec_url", "https://github.com/" + repository + "/blob/v0.1/README.md"},
                    {"uuid", own.uuid},
                    {"name", own.name},
                    {"description", own.description}});
  } else {
    list.erase(found);
  }
  if (list.empty()) {
    attributes.erase(kList);
  } else {
    attributes[kList] = std::move(list);
  }
}

std::shared_ptr<OGRSpatialReference> crs_from_proj(const Json& attributes) {
  std::string not_understood;
  for (const char* key : kKeys) {
    const Json* value = find_proj(attributes, key);
    if (value == nullptr || value->is_null()) continue;
    if (auto crs = import_crs(*value)) return crs;
    if (not_understood.empty()) not_understood = key;
  }
  if (!not_understood.empty()) {
    report(CE_Warning, CPLE_AppDefined, "Zarr: the attribute %s is not understood",
           not_understood.c_str());
  }
  return nullptr;
}

std::optional<GeoTransform> proj_transform(const Json& attributes) {
  const Json* list = find_proj(attributes, "proj:transform");
  return list != nullptr ? affine_transform(*list) : std::nullopt;
}

bool proj_denies_crs(const Json& attributes) {
  const Json* code = find_member(attributes, "proj:code");
  return code != nullptr && std::all_of(std::begin(kKeys), std::end(kKeys), [&](const char* key) {
           return zarrcore::find_value(attributes, key) == nullptr;
         });
}

void write_proj(Json& attributes, const OGRSpatialReference& crs) {
  if (std::string code = authority_code(crs); !code.empty()) {
    attributes["proj:code"] = std::move(code);
    return;
  }
  attributes["proj:wkt2"] = export_wkt_with_epoch(crs);
  attributes["proj:projjson"] = export_projjson(crs);
}

std::optional<GeoTransform> spatial_transform(const Json& attributes) {
  const Json* transform = zarrcore::find_value(attributes, "spatial:transform");
  if (transform == nullptr) return std::nullopt;
  if (const Json* type = zarrcore::find_value(attributes, "spatial:transform_type");
      type != nullptr && *type != "affine") {
    return std::nullopt;
  }
  const auto result = transform->size() == 6 ? affine_transform(*transform) : std::nullopt;
  if (!result) {
    report(CE_Warning, CPLE_AppDefined, "Zarr: \"spatial:transform\" is %s, not six numbers",
           zarrcore::excerpt(*transform).c_str());
    return std::nullopt;
  }
  return spatial_registration(attributes) == Registration::node ? moved(*result, -0.5) : result;
}

std::optional<Registration> spatial_registration(const Json& attributes) {
  const std::string* text = zarrcore::find_string(attributes, "spatial:registration");
  if (text == nullptr) return std::nullopt;
  for (const Registration registration : {Registration::pixel, Registration::node}) {
    if (*text == registration_name(registration)) return registration;
  }
  return std::nullopt;
}

std::string area_or_point(const Json& attributes) {
  if (const auto registration = spatial_registration(attributes)) {
    return *registration == Registration::node ? "Point" : "Area";
  }
  const auto has = [&](const char* name) {
    return zarrcore::find_value(attributes, name) != nullptr;
  };
  if (has("spatial:registration")) return "";
  const Json list = declarations(attributes);
  const bool is_declared = find_declaration(list, ZarrConvention::spatial) != list.end() &&
                           (has("spatial:dimensions") || has("spatial:bbox"));
  return is_declared || has("spatial:transform") ? "Area" : "";
}

std::optional<Registration> registration_of(const std::string& area_or_point) {
  if (EQUAL(area_or_point.c_str(), "Point")) return Registration::node;
  if (EQUAL(area_or_point.c_str(), "Area")) return Registration::pixel;
  return std::nullopt;
}

const char* registration_name(Registration registration) {
  return registration == Registration::node ? "node" : "pixel";
}

std::optional<SpatialDimensions> spatial_dimensions(const Json& attributes) {
  const Json* names = find_member(attributes, "spatial:dimensions");
  if (names == nullptr || !names->is_array() || names->size() != 2 || !(*names)[0].is_string() ||
      !(*names)[1].is_string()) {
    return std::nullopt;
  }
  return SpatialDimensions{(*names)[0].get<std::string>(), (*names)[1].get<std::string>()};
}

void write_spatial(Json& attributes, const GeoTransform& transform, std::uint64_t columns,
                   std::uint64_t rows, const std::optional<SpatialDimensions>& dimensions,
                   Registration registration) {
  const bool is_node = registration == Registration::node;
  const auto [c, a, b, f, d, e] = is_node ? moved(transform, 0.5) : transform;
  // The box of what the transform places: cells, or nodes.
  const double width = static_cast<double>(columns) - (is_node && columns > 0 ? 1 : 0);
  const double height = static_cast<double>(rows) - (is_node && rows > 0 ? 1 : 0);
  const auto [left, right] =
      std::minmax({c, c + a * width, c + b * height, c + a * width + b * height});
  const auto [bottom, top] =
      std::minmax({f, f + d * width, f + e * height, f + d * width + e * height});
  if (dimensions) attributes["spatial:dimensions"] = {dimensions->y, dimensions->x};
  attributes["spatial:registration"] = registration_name(registration);
  attributes["spatial:transform_type"] = "affine";
  attributes["spatial:transform"] = {a, b, c, d, e, f};
  attributes["spatial:bbox"] = {left, bottom, right, top};
  attributes["spatial:shape"] = {rows, columns};
}

}  // namespace gdal_zarr
