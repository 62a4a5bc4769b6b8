// Attributes: JSON values as GDAL sees them.
//
//   JSON                             GDAL
//   string                           string
//   true, false                      byte, 1 or 0
//   integer                          int32, int64 or uint64: the first that holds it
//   number                           float64
//   list of strings                  strings, one dimension
//   list of numbers                  the type that holds all of them, one dimension
//   all else                         the JSON text, a string of subtype JSON
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "driver/gdal_compat.h"
#include "zarrcore/base/json.h"

namespace gdal_zarr {

// `owner` is the full name of the group or array.
std::shared_ptr<GDALAttribute> make_attribute(const std::string& owner, const std::string& name,
                                              const zarrcore::Json& value);

// All members of the object `attributes`.
std::vector<std::shared_ptr<GDALAttribute>> make_attributes(const std::string& owner,
                                                            const zarrcore::Json& attributes);

// The member `name`, or null.
std::shared_ptr<GDALAttribute> find_attribute(const std::string& owner,
                                              const zarrcore::Json& attributes,
                                              const std::string& name);

// The text of an attribute for metadata lists: strings as they are, numbers in full, lists of
// numbers as "{1,2}", all else as JSON.
std::string attribute_text(const zarrcore::Json& value);

}  // namespace gdal_zarr
