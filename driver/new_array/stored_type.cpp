// The Zarr data types in which new arrays store GDAL types: the inverse of types/type_mapping.h.
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "driver/new_array/array_parts.h"
#include "driver/types/type_mapping.h"
#include "zarrcore/base/buffer.h"
#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/error.h"

namespace gdal_zarr {
namespace {

using zarrcore::DataType;
using zarrcore::Error;
using zarrcore::TypeKind;

DataType number_type(GDALDataType type) {
  if (const auto stored = stored_number_type(type)) return *stored;
  throw Error("Zarr has no data type for elements of type " +
              std::string(GDALGetDataTypeName(type)) + "; supported are " + creation_data_types());
}

// Rules for the data types of strings in new arrays.
class StringRules {
 public:
  StringRules(const zarrcore::NewArrayRules& rules, const CreationOptions& options)
      : prefers_variable_(rules.prefers_variable_strings), format_(options.text("STRING_FORMAT")) {}

  // The type for strings of at most `length` bytes; 0 if that is unknown.
  DataType type(std::size_t length) const {
    const bool is_asked = format_ == "ASCII" || format_ == "UNICODE";
    const bool is_fixed = prefers_variable_ ? is_asked : format_ != "VARIABLE";
    if (length != 0 && is_fixed) return padded_type(length);
    return {TypeKind::variable_string, sizeof(zarrcore::VariableElement)};
  }

  // Padded with zeros.
  DataType padded_type(std::size_t length) const {
    const bool is_unicode = format_ == "UNICODE" || (prefers_variable_ && format_ != "ASCII");
    const auto size = zarrcore::checked_multiply(length, is_unicode ? 4 : 1);
    if (!size || *size > zarrcore::kMaxItemSize) {
      throw Error("strings of " + std::to_string(length) + " bytes are too long to be padded");
    }
    return {is_unicode ? TypeKind::fixed_utf32 : TypeKind::fixed_bytes, *size};
  }

 private:
  bool prefers_variable_;
  std::string_view format_;
};

DataType stored_type(const GDALExtendedDataType& type, const StringRules& strings, bool is_field) {
  switch (type.GetClass()) {
    case GEDTC_NUMERIC:
      return number_type(type.GetNumericDataType());
    case GEDTC_COMPOUND:
      break;
    default:
      if (!is_field) return strings.type(type.GetMaxStringLength());
      if (type.GetMaxStringLength() == 0) {
        throw Error("a string in a compound needs a maximum length");
      }
      return strings.padded_type(type.GetMaxStringLength());
  }
  std::vector<zarrcore::Field> fields;
  std::set<std::string> names;
  for (const auto& component : type.GetComponents()) {
    const std::string& name = component->GetName();
    if (name.empty()) throw Error("a component of a compound has no name");
    if (!names.insert(name).second) {
      throw Error("two components of a compound are called \"" + name + "\"");
    }
    fields.push_back({name, stored_type(component->GetType(), strings, true)});
  }
  return zarrcore::make_structure(std::move(fields));
}

}  // namespace

DataType stored_type(const GDALExtendedDataType& type, const zarrcore::NewArrayRules& rules,
                     const CreationOptions& options) {
  return stored_type(type, StringRules(rules, options), false);
}

}  // namespace gdal_zarr
