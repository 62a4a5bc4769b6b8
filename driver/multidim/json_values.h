// JSON values as GDAL's types and elements; attribute.h has the table.
#pragma once

#include <cpl_string.h>

#include <cstddef>
#include <string>

#include "driver/gdal/compat.h"
#include "zarrcore/base/json.h"

namespace gdal_zarr {

// Returns true for a list of strings alone or of numbers alone, which has one dimension.
bool is_json_list(const zarrcore::Json& value);
// The type of an attribute, or of the elements of a list.
GDALExtendedDataType json_type(const zarrcore::Json& value);

// An element of a type without strings as JSON, and back. Integers are JSON numbers in full, all
// others as float64; complex numbers are [real, imaginary], structures objects.
zarrcore::Json value_json(const std::byte* element, const GDALExtendedDataType& type);
void store_value(const zarrcore::Json& value, const GDALExtendedDataType& type, std::byte* element);

// The JSON text of a value. Numbers stay as they are in the document, and so in copies.
std::string json_text(const zarrcore::Json& value);

// The text of an attribute for metadata lists: strings as they are, numbers in full, lists of
// numbers as "{1,2}", anything else as JSON.
std::string attribute_text(const zarrcore::Json& value);

// Attributes as metadata items, sorted: NAME=text. Of names that differ in case alone, which GDAL
// does not distinguish, the last one counts.
CPLStringList attribute_items(const zarrcore::Json& attributes);

}  // namespace gdal_zarr
