// Puts of objects in object stores: all of a value or nothing, also where it is uploaded in parts.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "zarrcore/base/buffer.h"
#include "zarrcore/store/store.h"

namespace gdal_zarr {

bool is_in_azure(const std::string& path);

// Values of this size or more are uploaded in parts.
std::uint64_t min_size_in_parts(const std::string& path);

// Creates or replaces an object. Throws Error, and then the old one stays. In Azure with GDAL
// before 3.10, values in parts replace the old one step by step.
void put_object(const std::string& path, std::span<const zarrcore::ValuePart> parts);

// The same under a condition (see conditional_put.h), and without messages of GDAL. It also throws
// Error when the server has found the condition false: GDAL does not tell.
void put_object_if(const std::string& path, const std::string& condition, zarrcore::ByteSpan bytes);

}  // namespace gdal_zarr
