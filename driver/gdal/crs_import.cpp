#include "driver/gdal/crs_import.h"

#include <cpl_error.h>
#include <cpl_port.h>

#include <algorithm>
#include <cctype>

#include "driver/gdal/messages.h"
#include "zarrcore/base/error.h"

namespace gdal_zarr {

namespace {

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
         std::all_of(authority.begin(), authority.end(),
                     [&](char c) { return is_one_of(c, "_"); }) &&
         std::all_of(code.begin(), code.end(), [&](char c) { return is_one_of(c, "_.-"); });
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

}  // namespace gdal_zarr
