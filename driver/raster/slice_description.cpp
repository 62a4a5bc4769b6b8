#include "driver/raster/slice_description.h"

#include <cpl_conv.h>
#include <cpl_string.h>

#include <charconv>
#include <string_view>

namespace gdal_zarr {
namespace {

constexpr std::string_view kDimensionPrefix = "DIM_";
constexpr std::string_view kIndex = "_INDEX";

std::string shortest(auto number) {
  char text[64];
  const auto [end, error] =
      std::to_chars(text, text + sizeof(text), number, std::chars_format::general);
  return error == std::errc() ? std::string(text, end) : std::string();
}

// GDAL writes fractions with all digits that a type may need: "0.10000000000000001" is 0.1. Other
// texts that look like numbers stay as they are.
std::string shorten(const std::string& text) {
  if (text.find('.') == std::string::npos || CPLGetValueType(text.c_str()) != CPL_VALUE_REAL) {
    return text;
  }
  const double number = CPLAtof(text.c_str());
  if (CPLSPrintf("%.9g", static_cast<float>(number)) == text) {
    return shortest(static_cast<float>(number));
  }
  const bool is_double = CPLSPrintf("%.17g", number) == text || CPLSPrintf("%.18g", number) == text;
  return is_double ? shortest(number) : text;
}

// "2020-01-01T00:00" for "2020-01-01T00:00:00Z".
std::string without_seconds_of_zero(std::string time) {
  if (time.ends_with('Z')) time.pop_back();
  if (time.ends_with(":00")) time.resize(time.size() - 3);
  return time;
}

std::string value_text(const CPLStringList& items, const std::string& dimension,
                       const char* index) {
  const auto item = [&](const char* suffix) -> std::string {
    return items.FetchNameValueDef((dimension + suffix).c_str(), "");
  };
  if (const std::string time = item("_DATETIME"); !time.empty()) {
    return without_seconds_of_zero(time);
  }
  const std::string value = item("_VALUE");
  if (value.empty()) return index;
  const std::string unit = item("_UNIT");
  const bool is_plain = unit.empty() || unit == "1";
  return shorten(value) + (is_plain ? "" : ' ' + unit);
}

}  // namespace

std::string describe_slice(CSLConstList metadata) {
  const CPLStringList items(CSLDuplicate(metadata));
  std::string description;
  for (int i = 0; i < items.size(); ++i) {
    char* key = nullptr;
    const char* index = CPLParseNameValue(items[i], &key);
    const std::string name = key != nullptr ? key : "";
    CPLFree(key);
    if (index == nullptr || !name.starts_with(kDimensionPrefix) || !name.ends_with(kIndex))
      continue;
    const std::string prefix = name.substr(0, name.size() - kIndex.size());
    if (prefix.size() <= kDimensionPrefix.size()) continue;
    if (!description.empty()) description += ", ";
    description += prefix.substr(kDimensionPrefix.size()) + '=' + value_text(items, prefix, index);
  }
  return description;
}

}  // namespace gdal_zarr
