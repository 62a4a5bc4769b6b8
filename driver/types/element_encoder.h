// The way back from type_mapping.h: elements for an array from those in a caller's buffer.
#pragma once

#include <memory>

#include "driver/gdal/compat.h"
#include "zarrcore/base/strided.h"
#include "zarrcore/dtype/data_type.h"

namespace gdal_zarr {

// Makes elements of `type` of elements of `buffer_type`; null when they are the same bytes. Numbers
// are rounded and clamped as GDAL does it; bytes of a structure that belong to no field are zero. A
// string is a char pointer, null for the empty string; elements of variable length point to the
// caller's characters, those made of numbers to characters that live as long as the converter.
//
// Throws zarrcore::Error when GDAL cannot convert between the two. Converting throws
// zarrcore::Error on texts that are too long for a type of fixed length, and on those that are not
// UTF-8 where text is stored; nothing is ever cut off.
std::unique_ptr<const zarrcore::ElementConverter> make_element_encoder(
    const GDALExtendedDataType& buffer_type, const zarrcore::DataType& type);

}  // namespace gdal_zarr
