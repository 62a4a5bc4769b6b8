#include "driver/gdal/crs_export.h"

#include <cpl_conv.h>
#include <cpl_error.h>

#include "driver/gdal/crs_import.h"
#include "driver/gdal/messages.h"
#include "zarrcore/base/error.h"

namespace gdal_zarr {
namespace {

using zarrcore::Json;

// The text that an exporting member function of OGRSpatialReference makes.
template <typename Export>
std::string exported(const char* format, const Export& run) {
  const QuietErrors quiet;
  char* text = nullptr;
  const OGRErr result = run(&text);
  const std::string copy = text != nullptr ? text : "";
  CPLFree(text);
  if (result != OGRERR_NONE || copy.empty()) {
    throw zarrcore::Error("the CRS cannot be written as " + std::string(format) + ": " +
                          CPLGetLastErrorMsg());
  }
  return copy;
}

}  // namespace

std::string export_wkt(const OGRSpatialReference& crs) {
  const char* const options[] = {"FORMAT=WKT2_2019", "MULTILINE=NO", nullptr};
  return exported("WKT", [&](char** text) { return crs.exportToWkt(text, options); });
}

std::string export_wkt_with_epoch(const OGRSpatialReference& crs) {
  std::string wkt = export_wkt(crs);
  const double epoch = crs.GetCoordinateEpoch();
  if (epoch > 0) {
    std::string metadata =
        "COORDINATEMETADATA[" + wkt + ",EPOCH[" + zarrcore::dump_json(epoch) + "]]";
    const auto again = import_crs(metadata);
    if (again && again->GetCoordinateEpoch() == epoch) return metadata;
  }
  return wkt;
}

std::string proj4_text(const OGRSpatialReference& crs) {
  try {
    return exported("PROJ string", [&](char** text) { return crs.exportToProj4(text); });
  } catch (const zarrcore::Error&) {
    return {};
  }
}

Json export_projjson(const OGRSpatialReference& crs) {
  return zarrcore::parse_json(
      exported("PROJJSON", [&](char** text) { return crs.exportToPROJJSON(text, nullptr); }));
}

std::string authority_code(const OGRSpatialReference& crs) {
  const char* authority = crs.GetAuthorityName(nullptr);
  const char* code = crs.GetAuthorityCode(nullptr);
  if (authority == nullptr || code == nullptr || crs.GetCoordinateEpoch() > 0) return {};
  // GDAL ignores a transformation, here and in IsSame().
  if (export_projjson(crs)["type"] == "BoundCRS") return {};
  std::string text = std::string(authority) + ':' + code;
  const auto meant = import_crs(text);
  const char* const options[] = {"IGNORE_DATA_AXIS_TO_SRS_AXIS_MAPPING=YES",
                                 "CRITERION=EQUIVALENT_EXCEPT_AXIS_ORDER_GEOGCRS", nullptr};
  return meant && meant->IsSame(&crs, options) != 0 ? text : std::string();
}

}  // namespace gdal_zarr
