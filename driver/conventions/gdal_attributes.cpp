#include "driver/conventions/gdal_attributes.h"

#include <string>

#include "driver/conventions/nczarr.h"
#include "driver/gdal/crs_text.h"

namespace gdal_zarr {
namespace {

using zarrcore::find_string;
using zarrcore::Json;

constexpr std::string_view kAuthority = "EPSG:";
// GDAL's multidimensional API has no other place for it.
constexpr const char* kShownRegistration = "spatial:registration";
constexpr const char* kUrl = "http://www.opengis.net/def/crs/EPSG/0/";

}  // namespace

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
  const Json* epoch = zarrcore::find_member(attributes, kCoordinateEpoch);
  if (epoch != nullptr && epoch->is_number() && crs.GetCoordinateEpoch() <= 0) {
    crs.SetCoordinateEpoch(epoch->get<double>());
  }
}

bool crs_repeats_gdals(const Json& attributes) {
  const Json* value = zarrcore::find_member(attributes, "_CRS");
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

}  // namespace gdal_zarr
