// Zarr data types as GDAL types, and conversion of elements to the type that a caller of GDAL
// requests, and back (converters.cpp).
//
// Where GDAL has no such type, the next wider one is used: bool is Byte, int8 Int16 before
// GDAL 3.7, float16 Float32 before 3.11, all smaller floats and bfloat16 Float32; the same for the
// parts of complex numbers. Strings are GDAL strings, whose maximum length in bytes is known if
// theirs is fixed, times Int64 (conventions/packing.h gives them units). Raw bits of 1, 2, 4 or 8
// bytes are unsigned integers, others a compound of bytes. Structures are compounds
// laid out as a C++ compiler would: each component aligned, padding at the end. A field of several
// elements becomes as many components: "name[0]", "name[1]"… A structure of two integers "real" and
// "imag" is CInt16 or CInt32.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "driver/gdal/compat.h"
#include "zarrcore/base/strided.h"
#include "zarrcore/dtype/data_type.h"

namespace gdal_zarr {

GDALExtendedDataType gdal_type(const zarrcore::DataType& type);

inline std::size_t number_size(GDALDataType type) {
  return static_cast<std::size_t>(GDALGetDataTypeSizeBytes(type));
}

// The type as which new arrays store numbers of GDAL's type; empty if Zarr has none.
std::optional<zarrcore::DataType> stored_number_type(GDALDataType type);

// A part of an element that is a component of a compound in GDAL.
struct Component {
  std::string name;
  std::uint64_t stored_offset;  // bytes from the start of the element in the array…
  std::size_t offset;           // …and of gdal_type()
  zarrcore::DataType type;
  GDALExtendedDataType seen;  // gdal_type(type)
};

// The components of a structure or of raw bits. Throws zarrcore::Error when GDAL cannot represent
// them.
std::vector<Component> components_of(const zarrcore::DataType& type);

// Conversion of elements: between GDAL's number types by GDAL's rules, which round and clamp, and
// between structures part by part.

// Converts elements of `type` to elements of `buffer_type`; null if they are the same bytes.
// Strings become char pointers that the caller frees with CPLFree. Throws zarrcore::Error when GDAL
// cannot convert between the two.
std::unique_ptr<const zarrcore::ElementConverter> make_converter(
    const zarrcore::DataType& type, const GDALExtendedDataType& buffer_type);

// Converts elements of `buffer_type` to elements of `type`; null if they are the same bytes.
// Bytes of a structure that belong to no field become
// zero. A string is a char pointer, null for the empty string. Elements of variable length point to
// the caller's characters; texts made from numbers live as long as the converter.
//
// Throws zarrcore::Error when GDAL cannot convert between the two. Converting throws
// zarrcore::Error on texts that are too long for a type of fixed length, and on texts that are not
// UTF-8 where the type requires it; nothing is ever truncated.
std::unique_ptr<const zarrcore::ElementConverter> make_element_encoder(
    const GDALExtendedDataType& buffer_type, const zarrcore::DataType& type);

}  // namespace gdal_zarr
