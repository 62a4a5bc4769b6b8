// Puts of objects in object stores: all of a value or nothing, also where it is uploaded in parts;
// and those that a server makes only if a value still has the version that was read, so that what
// another program has put meanwhile is not lost.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "zarrcore/base/buffer.h"
#include "zarrcore/store/store.h"

namespace gdal_zarr {

bool is_in_azure(const std::string& path);

// The version of a value with this ETag, which is not empty.
zarrcore::ValueVersion version_of_tag(std::string_view tag);

// Returns true if the server of this path is known to check conditions, and GDAL can send them:
// Azure, and S3 itself. Other servers with the interface of S3 may ignore or refuse conditions.
bool checks_conditions(const std::string& path);
// The same for servers that may also refuse conditional requests, with an error.
bool can_put_conditionally(const std::string& path);

// Throws Error unless the server checks conditions. A server that is not known to check them is
// tested with a temporary object in the folder.
void prove_conditions(const std::string& folder);

// The HTTP header that makes a put of so many bytes depend on the version; empty if GDAL cannot
// send it, or if the version is unknown or has an unusual ETag.
std::string condition_of(const std::string& path, const zarrcore::ValueVersion& expected,
                         std::uint64_t size);

// Creates or replaces an object. Throws Error, and then the old one stays. In Azure with GDAL
// before 3.10, values in parts replace the old one step by step.
void put_object(const std::string& path, std::span<const zarrcore::ValuePart> parts);

// The same under a condition of condition_of(), and without messages of GDAL. It also throws Error
// when the server has found the condition false, which GDAL does not report.
void put_object_if(const std::string& path, const std::string& condition, zarrcore::ByteSpan bytes);

}  // namespace gdal_zarr
