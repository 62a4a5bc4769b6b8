// Attributes: JSON values as GDAL sees them.
//
//   JSON                             GDAL
//   string                           string
//   null                             the empty string, of subtype JSON
//   integer                          int32, int64 or uint64: the first that holds it
//   number                           float64
//   list of strings                  strings, one dimension
//   list of numbers                  the type that holds all of them, one dimension
//   anything else                    the JSON text, a string of subtype JSON
//
// When written, strings of subtype JSON are parsed, numbers of all types become JSON numbers,
// complex ones [real, imaginary], structures of numbers objects, and several dimensions lists of
// lists.
#pragma once

#include <cpl_string.h>

#include <memory>
#include <string>
#include <vector>

#include "driver/gdal/compat.h"
#include "driver/multidim/attribute_owner.h"
#include "zarrcore/base/json.h"

namespace gdal_zarr {

// `owner_name` is the full name of the array, or kGroupAttributes below that of the group. Without
// an owner the attribute is read-only; with one, an object that shows the same value is returned
// again.
std::shared_ptr<GDALAttribute> make_attribute(
    const std::string& owner_name, const std::string& name, const zarrcore::Json& value,
    const std::shared_ptr<AttributeOwner>& owner = nullptr);

// Adds an attribute of this shape to `attributes`; a scalar has no dimension. Values are zero or
// empty until they are written. Throws zarrcore::Error when one of this name exists, when
// JSON cannot hold it, or without an owner.
std::shared_ptr<GDALAttribute> create_attribute(const std::string& owner_name,
                                                const zarrcore::Json& attributes,
                                                const std::string& name,
                                                const std::vector<GUInt64>& dimensions,
                                                const GDALExtendedDataType& type,
                                                const std::shared_ptr<AttributeOwner>& owner);

// `attributes` with another name for one member, which keeps its position. Throws zarrcore::Error
// when it does not exist, or one of the new name does.
zarrcore::Json with_renamed_attribute(const zarrcore::Json& attributes, const std::string& name,
                                      const std::string& new_name);

// All members of the object `attributes`.
std::vector<std::shared_ptr<GDALAttribute>> make_attributes(
    const std::string& owner_name, const zarrcore::Json& attributes,
    const std::shared_ptr<AttributeOwner>& owner = nullptr);

// The member `name`, or null.
std::shared_ptr<GDALAttribute> find_attribute(
    const std::string& owner_name, const zarrcore::Json& attributes, const std::string& name,
    const std::shared_ptr<AttributeOwner>& owner = nullptr);

// The text of an attribute for metadata lists: strings as they are, numbers in full, lists of
// numbers as "{1,2}", anything else as JSON.
std::string attribute_text(const zarrcore::Json& value);

// Attributes as metadata items, sorted: NAME=text. Of names that differ in case alone, which GDAL
// does not distinguish, the last one counts.
CPLStringList attribute_items(const zarrcore::Json& attributes);

}  // namespace gdal_zarr
