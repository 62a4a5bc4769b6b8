// Times in the names and metadata of files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gdal_zarr {

// The seconds since 1970-01-01T00:00:00Z of the first part of `text` that matches the pattern. It
// has the codes %Y %y %m %d %j %H %M %S of strptime, numbers with all of their digits, and %s,
// seconds since 1970 with any number of digits; ? matches any character, and % twice for itself.
// Numbers at the ends of the pattern are not parts of longer ones. Nullopt if nothing matches.
// Throws zarrcore::Error when the pattern is not valid.
std::optional<std::int64_t> find_time(std::string_view text, std::string_view pattern);

// The time of a metadata item in one of the usual forms: of TIFF, of ISO 8601 or in seconds.
std::optional<std::int64_t> find_usual_time(std::string_view text);

}  // namespace gdal_zarr
