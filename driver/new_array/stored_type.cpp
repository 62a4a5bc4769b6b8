#include "driver/new_array/stored_type.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "driver/types/type_mapping.h"
#include "zarrcore/base/buffer.h"
#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/error.h"

namespace gdal_zarr {
namespace {

using zarrcore::DataType;
using zarrcore::Error;
using zarrcore::TypeKind;

DataType complex_integer_type(std::uint64_t size) {
  const DataType part{TypeKind::signed_integer, size};
  return zarrcore::make_structure({{kRealField, part}, {kImaginaryField, part}});
}

DataType number_type(GDALDataType type) {
  switch (type) {
    case GDT_CInt16:
      return complex_integer_type(2);
    case GDT_CInt32:
      return complex_integer_type(4);
    case GDT_Byte:
      return {TypeKind::unsigned_integer, 1};
    case GDT_UInt16:
      return {TypeKind::unsigned_integer, 2};
    case GDT_UInt32:
      return {TypeKind::unsigned_integer, 4};
    case GDT_UInt64:
      return {TypeKind::unsigned_integer, 8};
#if GDAL_ZARR_AT_LEAST(3, 7)
    case GDT_Int8:
      return {TypeKind::signed_integer, 1};
#endif
    case GDT_Int16:
      return {TypeKind::signed_integer, 2};
    case GDT_Int32:
      return {TypeKind::signed_integer, 4};
    case GDT_Int64:
      return {TypeKind::signed_integer, 8};
#if GDAL_ZARR_AT_LEAST(3, 11)
    case GDT_Float16:
      return {TypeKind::floating, 2};
    case GDT_CFloat16:
      return {TypeKind::complex, 4};
#endif
    case GDT_Float32:
      return {TypeKind::floating, 4};
    case GDT_Float64:
      return {TypeKind::floating, 8};
    case GDT_CFloat32:
      return {TypeKind::complex, 8};
    case GDT_CFloat64:
      return {TypeKind::complex, 16};
    default:
      throw Error("Zarr has no data type for elements of type " +
                  std::string(GDALGetDataTypeName(type)) + "; supported are " +
                  creation_data_types());
  }
}

// How new arrays have strings.
class StringRules {
 public:
  StringRules(const zarrcore::NewArrayRules& rules, const CreationOptions& options)
      : prefers_variable_(rules.prefers_variable_strings), format_(options.text("STRING_FORMAT")) {}

  // Of at most `length` bytes; 0 if that is unknown.
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

DataType structure_type(const GDALExtendedDataType& type, const StringRules& strings);

DataType field_type(const GDALExtendedDataType& type, const StringRules& strings) {
  switch (type.GetClass()) {
    case GEDTC_NUMERIC:
      return number_type(type.GetNumericDataType());
    case GEDTC_COMPOUND:
      return structure_type(type, strings);
    default:
      if (type.GetMaxStringLength() == 0) {
        throw Error("a string in a compound needs a maximum length");
      }
      return strings.padded_type(type.GetMaxStringLength());
  }
}

DataType structure_type(const GDALExtendedDataType& type, const StringRules& strings) {
  std::vector<zarrcore::Field> fields;
  std::set<std::string> names;
  for (const auto& component : type.GetComponents()) {
    const std::string& name = component->GetName();
    if (name.empty()) throw Error("a component of a compound has no name");
    if (!names.insert(name).second) {
      throw Error("two components of a compound are called \"" + name + "\"");
    }
    fields.push_back({name, field_type(component->GetType(), strings)});
  }
  return zarrcore::make_structure(std::move(fields));
}

}  // namespace

DataType stored_type(const GDALExtendedDataType& type, const zarrcore::NewArrayRules& rules,
                     const CreationOptions& options) {
  const StringRules strings(rules, options);
  switch (type.GetClass()) {
    case GEDTC_NUMERIC:
      return number_type(type.GetNumericDataType());
    case GEDTC_COMPOUND:
      return structure_type(type, strings);
    default:
      return strings.type(type.GetMaxStringLength());
  }
}

}  // namespace gdal_zarr
