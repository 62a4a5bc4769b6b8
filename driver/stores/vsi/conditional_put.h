// Puts that a server makes only if a value still has the version that was read, so that what
// another program has put meanwhile is not lost.
#pragma once

#include <cpl_conv.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "zarrcore/store/value_version.h"

namespace gdal_zarr {

// The version of a value with this ETag, which is not empty.
zarrcore::ValueVersion version_of_tag(std::string_view tag);

// Whether the server of this path is known to check conditions, and GDAL can send them: Azure, and
// S3 itself. Other servers with the interface of S3 may ignore or refuse conditions.
bool checks_conditions(const std::string& path);

// The HTTP header that makes a put of so many bytes depend on the version; empty if GDAL cannot
// send it, or if the version is unknown or has an unusual ETag.
std::string condition_of(const std::string& path, const zarrcore::ValueVersion& expected,
                         std::uint64_t size);

// While it lives, GDAL sends the condition with the requests of this thread, unless it is empty.
class ConditionScope {
 public:
  ConditionScope(const std::string& path, const std::string& condition);

 private:
  std::optional<CPLConfigOptionSetter> headers_;
};

}  // namespace gdal_zarr
