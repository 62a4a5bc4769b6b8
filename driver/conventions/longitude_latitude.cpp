#include "driver/conventions/longitude_latitude.h"

#include <cpl_port.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "driver/conventions/axis.h"
#include "driver/conventions/cf/units.h"
#include "driver/gdal/compat.h"
#include "zarrcore/base/path.h"
#include "zarrcore/base/text.h"

namespace gdal_zarr {
namespace {

std::string text_of(const EvidenceVariable& variable, const char* name) {
  const std::string* text = zarrcore::find_string(*variable.attributes, name);
  return text != nullptr ? *text : std::string();
}

// Whether one of the words in a name is that of longitudes ("lon") or latitudes ("lat"): "XLONG",
// "nav_lon", "lonc", "Longitude_t", but not "longwave" or "plate".
bool names_coordinate(std::string_view name, const std::string& word) {
  const std::string text = zarrcore::lower_case(name);
  const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
  for (auto start = text.begin(); start != text.end();) {
    start = std::find_if(start, text.end(), is_letter);
    const auto end = std::find_if_not(start, text.end(), is_letter);
    const std::string part(start, end);
    for (const std::string suffix : {"", "s", "g", "gs", "gitude", "gitudes", "itude", "itudes"}) {
      if (part.ends_with(word + suffix)) return true;
    }
    if (part.starts_with(word) && part.size() <= word.size() + 1) return true;
    start = end;
  }
  return false;
}

}  // namespace

int certainty_of(const EvidenceVariable& variable, const char* word) {
  const bool is_longitude = EQUAL(word, "longitude");
  const std::string standard_name = text_of(variable, "standard_name");
  if (!standard_name.empty()) return standard_name == word ? 2 : 0;
  const std::string unit = text_of(variable, "units");
  AxisRole role;
  if (cf::read_unit(unit).kind == cf::UnitKind::angle && !EQUAL(unit.c_str(), "degrees") &&
      !EQUAL(unit.c_str(), "degree")) {
    role = find_axis_role({}, {{"units", unit}});
  }
  if (!role.type.empty()) {
    return (role.type == GDAL_DIM_TYPE_HORIZONTAL_X) == is_longitude ? 2 : 0;
  }
  const cf::UnitKind kind = cf::read_unit(unit).kind;
  if (kind == cf::UnitKind::length || kind == cf::UnitKind::other) return 0;
  const std::string_view name = zarrcore::last_segment(variable.path);
  return names_coordinate(name, is_longitude ? "lon" : "lat") ? 1 : 0;
}

}  // namespace gdal_zarr
