#include <algorithm>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "driver/multidim/attribute.h"
#include "zarrcore/base/text.h"

namespace gdal_zarr {

using zarrcore::Json;

namespace {

bool is_list_of(const Json& list, bool (Json::*is_one)() const noexcept) {
  return list.is_array() && !list.empty() && std::ranges::all_of(list, std::mem_fn(is_one));
}

// The narrowest of int32, int64, uint64 and float64 that holds every number of a list.
GDALDataType common_type(const Json& numbers) {
  bool fits_int32 = true;
  bool has_negative = false;
  bool needs_uint64 = false;
  for (const Json& number : numbers) {
    if (number.is_number_float()) return GDT_Float64;
    if (number.is_number_unsigned()) {
      const auto value = number.get<std::uint64_t>();
      fits_int32 = fits_int32 && value <= std::numeric_limits<std::int32_t>::max();
      needs_uint64 = needs_uint64 || value > std::numeric_limits<std::int64_t>::max();
    } else {
      const auto value = number.get<std::int64_t>();
      fits_int32 = fits_int32 && value >= std::numeric_limits<std::int32_t>::min() &&
                   value <= std::numeric_limits<std::int32_t>::max();
      has_negative = has_negative || value < 0;
    }
  }
  if (fits_int32) return GDT_Int32;
  if (!needs_uint64) return GDT_Int64;
  return has_negative ? GDT_Float64 : GDT_UInt64;
}

template <typename Number>
Json number_json(const std::byte* element, GDALDataType type, GDALDataType json_type) {
  Number value = 0;
  GDALCopyWords(element, type, 0, &value, json_type, 0, 1);
  return value;
}

Json number_json(const std::byte* element, GDALDataType type) {
  if (GDALDataTypeIsComplex(type) != 0) {
    double parts[2] = {};
    GDALCopyWords(element, type, 0, parts, GDT_CFloat64, 0, 1);
    return Json::array({parts[0], parts[1]});
  }
  if (GDALDataTypeIsInteger(type) == 0) return number_json<double>(element, type, GDT_Float64);
  return GDALDataTypeIsSigned(type) == 0 ? number_json<std::uint64_t>(element, type, GDT_UInt64)
                                         : number_json<std::int64_t>(element, type, GDT_Int64);
}

void store_number(const Json& number, GDALDataType type, std::byte* element) {
  const auto store = [&](const auto& value, GDALDataType from) {
    GDALCopyWords(&value, from, 0, element, type, 0, 1);
  };
  if (number.is_array()) {
    const double parts[] = {number[0].get<double>(), number[1].get<double>()};
    store(parts, GDT_CFloat64);
  } else if (number.is_number_float()) {
    store(number.get<double>(), GDT_Float64);
  } else if (number.is_number_unsigned()) {
    store(number.get<std::uint64_t>(), GDT_UInt64);
  } else {
    store(number.get<std::int64_t>(), GDT_Int64);
  }
}

}  // namespace

bool is_json_list(const Json& value) {
  return is_list_of(value, &Json::is_string) || is_list_of(value, &Json::is_number);
}

GDALExtendedDataType json_type(const Json& value) {
  if (value.is_number()) return GDALExtendedDataType::Create(common_type(Json::array({value})));
  if (is_list_of(value, &Json::is_number)) return GDALExtendedDataType::Create(common_type(value));
  const bool is_text = value.is_string() || is_list_of(value, &Json::is_string);
  return GDALExtendedDataType::CreateString(0, is_text ? GEDTST_NONE : GEDTST_JSON);
}

Json value_json(const std::byte* element, const GDALExtendedDataType& type) {
  if (type.GetClass() != GEDTC_COMPOUND) return number_json(element, type.GetNumericDataType());
  Json members = Json::object();
  for (const auto& member : type.GetComponents()) {
    members[member->GetName()] = value_json(element + member->GetOffset(), member->GetType());
  }
  return members;
}

void store_value(const Json& value, const GDALExtendedDataType& type, std::byte* element) {
  if (type.GetClass() != GEDTC_COMPOUND) {
    return store_number(value, type.GetNumericDataType(), element);
  }
  for (const auto& member : type.GetComponents()) {
    store_value(value[member->GetName()], member->GetType(), element + member->GetOffset());
  }
}

std::string json_text(const Json& value) {
  return zarrcore::dump_json(value, {.as_read = true});
}

std::string attribute_text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!is_list_of(value, &Json::is_number)) return json_text(value);
  std::string text = "{";
  for (const Json& number : value) {
    if (text.size() > 1) text += ',';
    text += zarrcore::dump_json(number);
  }
  return text + '}';
}

// Sorted and built at once: adding items one by one, GDAL would move half of its list for each.
CPLStringList attribute_items(const Json& attributes) {
  using Item = std::pair<std::string, std::string>;  // a name in lower case, NAME=text
  std::vector<Item> items;
  for (const auto& [name, value] : attributes.items()) {
    const std::string shown = name.substr(0, name.find('\0'));
    items.emplace_back(zarrcore::lower_case(shown), shown + '=' + attribute_text(value));
  }
  std::ranges::stable_sort(items, {}, &Item::first);
  CPLStringList list;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i + 1 < items.size() && items[i].first == items[i + 1].first) continue;
    list.AddString(items[i].second.c_str());
  }
  return list;
}

}  // namespace gdal_zarr
