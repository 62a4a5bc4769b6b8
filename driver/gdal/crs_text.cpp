#include "driver/gdal/crs_text.h"

#include <cpl_conv.h>
#include <cpl_error.h>
#include <cpl_port.h>

#include <algorithm>
#include <cctype>

#include "driver/gdal/messages.h"
#include "zarrcore/base/error.h"

namespace gdal_zarr {
namespace {

using zarrcore::Json;

// GDAL accepts much more as a CRS, and opens the files that some of it names.
bool is_code(const std::string& text) {
  const auto is_one_of = [](char c, std::string_view others) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x80 && (std::isalnum(byte) != 0 || others.find(c) != std::string_view::npos);
  };
  const auto colon = text.find(':');
  if (text.size() >= 64 || colon == 0 || colon >= text.size() - 1) return false;
  const std::string_view authority(text.data(), colon);
  const std::string_view code = std::string_view(text).substr(colon + 1);
  return std::isalpha(static_cast<unsigned char>(text[0])) != 0 &&
         std::ranges::all_of(authority, [&](char c) { return is_one_of(c, "_"); }) &&
         std::ranges::all_of(code, [&](char c) { return is_one_of(c, "_.-"); });
}

bool is_url(const std::string& text) {
  return STARTS_WITH_CI(text.c_str(), "urn:ogc:def:crs:") ||
         STARTS_WITH_CI(text.c_str(), "http://www.opengis.net/def/crs/") ||
         STARTS_WITH_CI(text.c_str(), "https://www.opengis.net/def/crs/");
}

// WKT begins with a keyword and a bracket, PROJJSON with a brace.
bool is_wkt_or_json(const std::string& text) {
  const auto start = text.find_first_not_of(" \t\r\n");
  if (start == std::string::npos) return false;
  if (text[start] == '{') return true;
  const auto end = text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_", start);
  return end != std::string::npos && end > start && (text[end] == '[' || text[end] == '(');
}

// A PROJ string that names no file, such as a grid.
bool is_proj_string(std::string text) {
  constexpr std::string_view kNoGrid = "+nadgrids=@null";
  if (const auto at = text.find(kNoGrid); at != std::string::npos) text.erase(at, kNoGrid.size());
  const auto has = [&](const char* part) { return text.find(part) != std::string::npos; };
  return text.starts_with('+') && has("+proj=") && !has("+init") && !has("grids") &&
         !has("file=") && !has("model=") && !has("/") && !has("\\");
}

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

std::shared_ptr<OGRSpatialReference> import_crs(const std::string& given) {
  constexpr std::string_view kInit = "+init=epsg:";  // of older PROJ strings
  const bool is_init = STARTS_WITH_CI(given.c_str(), kInit.data());
  const std::string text =
      is_init ? "EPSG:" + given.substr(kInit.size(), given.find(' ') - kInit.size()) : given;
  if (!is_code(text) && !is_url(text) && !is_wkt_or_json(text) && !is_proj_string(text)) {
    return nullptr;
  }
  auto crs = std::make_shared<OGRSpatialReference>();
  const QuietErrors quiet;
  if (crs->SetFromUserInput(text.c_str(),
                            OGRSpatialReference::SET_FROM_USER_INPUT_LIMITATIONS_get()) !=
      OGRERR_NONE) {
    return nullptr;
  }
  // WKT states only the code of the whole CRS, but GeoTIFF needs the code of the vertical part.
  const char* authority = crs->IsCompound() ? crs->GetAuthorityName(nullptr) : nullptr;
  if (authority != nullptr && is_wkt_or_json(text)) {
    const std::string code = std::string(authority) + ':' + crs->GetAuthorityCode(nullptr);
    const auto known = is_code(code) ? import_crs(code) : nullptr;
    if (known && known->IsSame(crs.get()) != 0) {
      known->SetCoordinateEpoch(crs->GetCoordinateEpoch());
      return known;
    }
  }
  return crs;
}

std::shared_ptr<OGRSpatialReference> import_crs(const zarrcore::Json& value) {
  if (value.is_string()) return import_crs(value.get_ref<const std::string&>());
  if (value.is_number_integer()) return import_crs("EPSG:" + zarrcore::dump_json(value));
  return value.is_object() ? import_crs(zarrcore::dump_json(value)) : nullptr;
}

void check_crs(OGRErr result) {
  if (result == OGRERR_NONE) return;
  const std::string reason = CPLGetLastErrorMsg();
  throw zarrcore::Error(reason.empty() ? "GDAL makes no CRS of the parameters" : reason);
}

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
