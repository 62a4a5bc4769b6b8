// Conversion of elements in a caller's buffer to elements of an array: the inverse of
// type_mapping.h.
#pragma once

#include <memory>

#include "driver/gdal/compat.h"
#include "zarrcore/base/strided.h"
#include "zarrcore/dtype/data_type.h"

namespace gdal_zarr {

// Converts elements of `buffer_type` to elements of `type`; null if they are the same bytes.
// Numbers are rounded and clamped as GDAL does; bytes of a structure that belong to no field become
// zero. A string is a char pointer, null for the empty string. Elements of variable length point to
// the caller's characters; those made from numbers to characters that live as long as the
// converter.
//
// Throws zarrcore::Error when GDAL cannot convert between the two. Converting throws
// zarrcore::Error on texts that are too long for a type of fixed length, and on texts that are not
// UTF-8 where the type requires it; nothing is ever truncated.
std::unique_ptr<const zarrcore::ElementConverter> make_element_encoder(
    const GDALExtendedDataType& buffer_type, const zarrcore::DataType& type);

}  // namespace gdal_zarr
