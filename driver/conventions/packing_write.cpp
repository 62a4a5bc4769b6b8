// The inverse of read_packing().
#include <bit>
#include <cmath>
#include <cstring>

#include "driver/conventions/packing.h"
#include "zarrcore/base/endian.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/text_encoding.h"
#include "zarrcore/dtype/convert.h"
#include "zarrcore/metadata/fill_value.h"

namespace gdal_zarr {
namespace {

using zarrcore::ArrayMetadata;
using zarrcore::DataType;
using zarrcore::Json;
using zarrcore::TypeKind;
using Element = std::vector<std::byte>;

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

bool has_nodata(const ArrayMetadata& array) {
  return read_packing(array).nodata.has_value();
}

class PackingWriter {
 public:
  PackingWriter(const ArrayMetadata& array, const Packing& packing, bool is_new)
      : array_(array), updated_(array), wanted_(packing), is_new_(is_new) {}

  PackingChange write() {
    const Packing current = read_packing(array_);
    if (wanted_.scale != current.scale) set_number("scale_factor", wanted_.scale);
    if (wanted_.offset != current.offset) set_number("add_offset", wanted_.offset);
    if (wanted_.unit != current.unit) set_unit();
    if (is_new_ || wanted_.nodata != current.nodata) set_nodata();
    PackingChange change{difference(array_.attributes, updated_.attributes), std::nullopt};
    if (updated_.fill_value != array_.fill_value) change.fill_value = {updated_.fill_value};
    return change;
  }

 private:
  void set_number(const char* name, const std::optional<double>& number) {
    if (number && !std::isfinite(*number)) {
      throw zarrcore::Error(std::string(name) + " is not finite");
    }
    if (number) {
      updated_.attributes[name] = *number;
    } else {
      updated_.attributes.erase(name);
    }
  }

  void set_unit() {
    // The units of a time type are part of the type.
    if (wanted_.unit == time_units(array_.data_type)) {
      updated_.attributes.erase("units");
    } else {
      updated_.attributes["units"] = wanted_.unit;
    }
  }

  void set_nodata() {
    const DataType& type = array_.data_type;
    for (const char* name : {kFillValue, "missing_value"}) updated_.attributes.erase(name);
    if (!wanted_.nodata) {
      if (is_new_ ? can_have_nodata(type) : has_nodata(updated_)) clear_fill_value();
      return;
    }
    const bool has_size = type.is_variable() || wanted_.nodata->size() == type.item_size;
    if (!can_have_nodata(type) || !has_size) {
      throw zarrcore::Error("the data type " + zarrcore::type_name(type) +
                            " cannot have this nodata value");
    }
    if (is_new_) updated_.fill_value = wanted_.nodata;
    // xarray rejects the attribute for times and structures, and does not need it.
    if (!type.is_numeric() && read_packing(updated_).nodata == wanted_.nodata) return;
    updated_.attributes[kFillValue] = spell_element(*wanted_.nodata, array_);
  }

  void clear_fill_value() {
    const DataType& type = array_.data_type;
    updated_.fill_value = array_.fill_value_is_mandatory
                              ? std::optional(Element(type.is_variable() ? 0 : type.item_size))
                              : std::nullopt;
  }

  const ArrayMetadata& array_;
  ArrayMetadata updated_;
  const Packing& wanted_;
  bool is_new_;
};

}  // namespace

PackingChange write_packing(const ArrayMetadata& array, const Packing& packing, bool is_new) {
  return PackingWriter(array, packing, is_new).write();
}

}  // namespace gdal_zarr
