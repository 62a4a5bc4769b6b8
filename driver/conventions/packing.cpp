#include "driver/conventions/packing.h"

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <utility>

#include "zarrcore/base/endian.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/text_encoding.h"
#include "zarrcore/metadata/fill_value.h"

namespace gdal_zarr {
namespace {

using zarrcore::ArrayMetadata;
using zarrcore::DataType;
using zarrcore::Json;
using zarrcore::TypeKind;

constexpr const char* kUnsigned = "_Unsigned";

// As xarray stores a float in an attribute of v3: base64 of a little-endian float64.
std::optional<double> parse_base64_double(const Json& value) {
  if (!value.is_string()) return std::nullopt;
  const auto& text = value.get_ref<const std::string&>();
  if (text.size() != 12) return std::nullopt;
  const auto bytes = zarrcore::decode_base64(text);
  if (!bytes || bytes->size() != sizeof(double)) return std::nullopt;
  return std::bit_cast<double>(
      zarrcore::load_integer<std::uint64_t>(bytes->data(), zarrcore::Endian::little));
}

// A text as an element of a string type; empty if it does not fit.
std::optional<std::vector<std::byte>> parse_text(const Json& value, const DataType& type) {
  if (!value.is_string()) return std::nullopt;
  const auto& text = value.get_ref<const std::string&>();
  // Other strings are spelled as their text in fill values as well.
  if (type.kind != TypeKind::fixed_bytes && type.kind != TypeKind::variable_bytes) {
    return zarrcore::parse_fill_value(value, type);
  }
  const auto bytes = std::as_bytes(std::span(text));
  std::vector<std::byte> element(bytes.begin(), bytes.end());
  if (type.is_variable()) return element;
  if (element.size() > type.item_size) return std::nullopt;
  element.resize(type.item_size);
  return element;
}

// The value of an attribute as an element; empty if it does not fit the array's type.
std::optional<std::vector<std::byte>> parse_element(const Json& value, const ArrayMetadata& array) {
  Json number = value.is_array() && value.size() == 1 ? value[0] : value;
  const auto decode = [](Json& part) {
    if (const auto decoded = parse_base64_double(part)) part = *decoded;
  };
  if (array.data_type.kind == TypeKind::floating) decode(number);
  if (array.data_type.kind == TypeKind::complex && number.is_array()) {
    std::for_each(number.begin(), number.end(), decode);
  }
  try {
    if (array.data_type.is_string()) return parse_text(number, array.data_type);
    return zarrcore::parse_fill_value(number, array.data_type);
  } catch (const zarrcore::Error&) {
    const DataType seen = seen_type(array);
    if (seen == array.data_type) return std::nullopt;
    ArrayMetadata other = array;
    other.data_type = seen;
    other.attributes.erase(kUnsigned);
    return parse_element(value, other);
  }
}

bool is_zero(const std::vector<std::byte>& element) {
  return std::all_of(element.begin(), element.end(), [](std::byte b) { return b == std::byte{0}; });
}

std::optional<double> number_attribute(const ArrayMetadata& array, const char* name) {
  const Json* value = zarrcore::find_member(array.attributes, name);
  if (value != nullptr && value->is_array() && value->size() == 1) value = &(*value)[0];
  if (value == nullptr || !value->is_number()) return std::nullopt;
  return value->get<double>();
}

}  // namespace

DataType seen_type(const ArrayMetadata& array) {
  DataType type = array.data_type;
  const std::string* text = zarrcore::find_string(array.attributes, kUnsigned);
  if (text == nullptr) return type;
  if (*text == "true" && type.kind == TypeKind::signed_integer) {
    type.kind = TypeKind::unsigned_integer;
  } else if (*text == "false" && type.kind == TypeKind::unsigned_integer) {
    type.kind = TypeKind::signed_integer;
  }
  return type;
}

std::string time_units(const zarrcore::DataType& type) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 14> kWords{
      {{"Y", "years"},
       {"M", "months"},
       {"W", "weeks"},
       {"D", "days"},
       {"h", "hours"},
       {"m", "minutes"},
       {"s", "seconds"},
       {"ms", "milliseconds"},
       {"us", "microseconds"},
       {"μs", "microseconds"},
       {"ns", "nanoseconds"},
       {"ps", "picoseconds"},
       {"fs", "femtoseconds"},
       {"as", "attoseconds"}}};
  const auto word = std::ranges::find(kWords, std::string_view(type.time_unit.name),
                                      &std::pair<std::string_view, std::string_view>::first);
  if (!type.is_time() || word == kWords.end()) return {};
  std::string units = type.time_unit.count == 1
                          ? std::string(word->second)
                          : std::to_string(type.time_unit.count) + ' ' + std::string(word->second);
  if (type.kind == TypeKind::datetime) units += " since 1970-01-01";
  return units;
}

bool can_have_nodata(const zarrcore::DataType& type) {
  return type.is_numeric() || type.is_time() || type.is_string() ||
         type.kind == TypeKind::structure;
}

Packing read_packing(const ArrayMetadata& array) {
  Packing packing;
  const auto consume = [&packing](const char* name) {
    packing.consumed_attributes.emplace_back(name);
  };
  packing.scale = number_attribute(array, "scale_factor");
  if (packing.scale) consume("scale_factor");
  packing.offset = number_attribute(array, "add_offset");
  if (packing.offset) consume("add_offset");
  if (const Json* units = zarrcore::find_member(array.attributes, "units");
      units != nullptr && units->is_string()) {
    packing.unit = units->get<std::string>();
    consume("units");
  }
  if (packing.unit.empty() && array.data_type.is_time()) {
    packing.unit = time_units(array.data_type);
    consume("units");
  }
  if (seen_type(array) != array.data_type) consume(kUnsigned);
  if (!can_have_nodata(array.data_type)) return packing;
  for (const char* name : {"_FillValue", "missing_value"}) {
    const Json* value = zarrcore::find_member(array.attributes, name);
    if (value == nullptr) continue;
    auto element = parse_element(*value, array);
    if (!element) continue;
    consume(name);
    if (!packing.nodata) packing.nodata = std::move(element);
  }
  if (!packing.nodata && array.fill_value &&
      !(array.fill_value_is_mandatory && is_zero(*array.fill_value))) {
    packing.nodata = array.fill_value;
  }
  return packing;
}

}  // namespace gdal_zarr
