#include "driver/conventions/packing.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>

#include "zarrcore/base/endian.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/text.h"
#include "zarrcore/dtype/convert.h"
#include "zarrcore/metadata/fill_value.h"

namespace gdal_zarr {
namespace {

using Element = std::vector<std::byte>;
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
std::optional<Element> parse_text(const Json& value, const DataType& type) {
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
std::optional<Element> parse_element(const Json& value, const ArrayMetadata& array) {
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

// Not of raw bits.
bool can_have_nodata(const DataType& type) {
  return type.is_numeric() || type.is_time() || type.is_string() ||
         type.kind == TypeKind::structure;
}

bool is_zero(const Element& element) {
  return std::all_of(element.begin(), element.end(), [](std::byte b) { return b == std::byte{0}; });
}

std::optional<double> number_attribute(const ArrayMetadata& array, const char* name) {
  const Json* value = zarrcore::find_member(array.attributes, name);
  if (value != nullptr && value->is_array() && value->size() == 1) value = &(*value)[0];
  if (value == nullptr || !value->is_number()) return std::nullopt;
  return value->get<double>();
}

constexpr const char* kFillValue = "_FillValue";

double as_double(const Element& element, const DataType& type) {
  const DataType wide{TypeKind::floating, sizeof(double)};
  double value = 0;
  if (const auto converter = zarrcore::make_numeric_converter(type, wide)) {
    converter->convert(element.data(), 0, reinterpret_cast<std::byte*>(&value), 0, 1);
  } else {
    std::memcpy(&value, element.data(), sizeof(value));
  }
  return value;
}

// As xarray stores a float in an attribute: in v3 as base64 of a little-endian float64.
Json spell_double(double value, bool is_base64) {
  if (is_base64) {
    std::byte bytes[sizeof(value)];
    zarrcore::store_integer(std::bit_cast<std::uint64_t>(value), zarrcore::Endian::little, bytes);
    return zarrcore::encode_base64(bytes);
  }
  // The bare word would not be JSON.
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return value;
}

// `_FillValue` for a value of the array's type.
Json spell_element(const Element& element, const ArrayMetadata& array) {
  const DataType& type = array.data_type;
  // v3 is the only format that requires a fill value.
  const bool is_base64 = array.fill_value_is_mandatory;
  if (type.kind == TypeKind::fixed_bytes || type.kind == TypeKind::variable_bytes) {
    std::string text(reinterpret_cast<const char*>(element.data()), element.size());
    text.erase(text.find_last_not_of('\0') + 1);
    return text;
  }
  if (type.kind == TypeKind::floating) return spell_double(as_double(element, type), is_base64);
  if (type.kind != TypeKind::complex) return zarrcore::format_fill_value(element, type);
  const DataType part = type.part_type();
  const auto middle = element.begin() + static_cast<std::ptrdiff_t>(part.item_size);
  const double real = as_double({element.begin(), middle}, part);
  const double imaginary = as_double({middle, element.end()}, part);
  // In v2 xarray reads a list as several values.
  if (!is_base64 && imaginary == 0) return spell_double(real, false);
  return {spell_double(real, is_base64), spell_double(imaginary, is_base64)};
}

// Makes `nodata` the nodata value of an array, or removes the old one.
void set_nodata(ArrayMetadata& array, const std::optional<Element>& nodata, bool is_new) {
  const DataType& type = array.data_type;
  for (const char* name : {kFillValue, "missing_value"}) array.attributes.erase(name);
  if (!nodata) {
    const bool is_read = is_new ? can_have_nodata(type) : read_packing(array).nodata.has_value();
    if (!is_read) return;
    array.fill_value = array.fill_value_is_mandatory
                           ? std::optional(Element(type.is_variable() ? 0 : type.item_size))
                           : std::nullopt;
    return;
  }
  const bool has_size = type.is_variable() || nodata->size() == type.item_size;
  if (!can_have_nodata(type) || !has_size) {
    throw zarrcore::Error("the data type " + zarrcore::type_name(type) +
                          " cannot have this nodata value");
  }
  if (is_new) array.fill_value = nodata;
  // xarray rejects the attribute for times and structures, and does not need it.
  if (!type.is_numeric() && read_packing(array).nodata == nodata) return;
  array.attributes[kFillValue] = spell_element(*nodata, array);
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
  static constexpr std::pair<std::string_view, const char*> kWords[] = {
      {"Y", "years"},         {"M", "months"},        {"W", "weeks"},        {"D", "days"},
      {"h", "hours"},         {"m", "minutes"},       {"s", "seconds"},      {"ms", "milliseconds"},
      {"us", "microseconds"}, {"μs", "microseconds"}, {"ns", "nanoseconds"}, {"ps", "picoseconds"},
      {"fs", "femtoseconds"}, {"as", "attoseconds"}};
  if (!type.is_time()) return {};
  for (const auto& [name, word] : kWords) {
    if (type.time_unit.name != name) continue;
    const std::int64_t count = type.time_unit.count;
    return (count == 1 ? "" : std::to_string(count) + ' ') + word +
           (type.kind == TypeKind::datetime ? " since 1970-01-01" : "");
  }
  return {};
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
  for (const char* name : {kFillValue, "missing_value"}) {
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

PackingChange write_packing(const ArrayMetadata& array, const Packing& packing, bool is_new) {
  const Packing current = read_packing(array);
  ArrayMetadata updated = array;
  const auto set_number = [&](const char* name, std::optional<double> Packing::* member) {
    const std::optional<double>& number = packing.*member;
    if (number == current.*member) return;
    if (number && !std::isfinite(*number)) {
      throw zarrcore::Error(std::string(name) + " is not finite");
    }
    if (number) {
      updated.attributes[name] = *number;
    } else {
      updated.attributes.erase(name);
    }
  };
  set_number("scale_factor", &Packing::scale);
  set_number("add_offset", &Packing::offset);
  if (packing.unit != current.unit) {
    updated.attributes["units"] = packing.unit;
    // The units of a time type are part of the type.
    if (packing.unit == time_units(array.data_type)) updated.attributes.erase("units");
  }
  if (is_new || packing.nodata != current.nodata) set_nodata(updated, packing.nodata, is_new);
  PackingChange change{difference(array.attributes, updated.attributes), std::nullopt};
  if (updated.fill_value != array.fill_value) change.fill_value = {updated.fill_value};
  return change;
}

}  // namespace gdal_zarr
