// Paths of GDAL's virtual file systems, which may end with the query of a URL.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace gdal_zarr {

// The path of `key` in the folder `folder`. The query of a URL stays at the end, as in
// "/vsicurl/http://host/x.zarr/zarr.json?sig=1"; in "/vsicurl?url=…" the key is added to the URL.
std::string join_vsi_path(const std::string& folder, std::string_view key);

// "/vsis3/bucket/key" of "/vsis3_streaming/bucket/key", other paths as they are. GDAL's streaming
// file systems do not distinguish a file that does not exist from one that cannot be read.
std::string without_streaming(const std::string& path);

// The folder from which join_vsi_path() makes the path; nullopt if `path` does not show a folder.
// Text in braces, such as the name of an archive or of references, is not split.
std::optional<std::string> parent_vsi_path(const std::string& path);

bool starts_with_any(std::string_view text, std::span<const std::string_view> starts);

// Returns true if a path is in an archive that GDAL unpacks, and cannot change.
bool is_in_archive(std::string_view path);

// Return true if a folder, or one around it, has the name of a store: "….zarr".
bool is_named_zarr(const std::string& path);
bool is_in_named_zarr(const std::string& path);
// Returns true if names show that a folder on the network is not part of a store around it:
// requests are not spent on finding out.
bool is_whole_by_name(const std::string& path);

// Returns true if a file system that neither GDAL nor this driver installs, such as rasterio's
// `opener`, is part of the path, at any depth. It may work only on the thread that called the
// driver, or need a lock that this thread holds.
bool has_foreign_file_system(std::string_view path);

// Returns true if reading `path` may access the network.
bool is_network_path(const std::string& path);
// Returns true if reading `path` accesses nothing but the network.
bool is_only_on_network(std::string_view path);

// The path from the root: of a local file, or unchanged for GDAL's file systems.
std::string absolute_path(const std::string& path);

// How to name an absolute path from an absolute folder; empty if they are on different servers, in
// different buckets or on different drives.
std::string relative_path(const std::string& path, const std::string& folder);

// GDAL's path of a URL; other texts unchanged. Throws zarrcore::Error for unknown protocols.
std::string path_of_url(const std::string& url);

// The URL of a path in one of GDAL's network file systems; other paths unchanged.
std::string url_of_path(const std::string& path);

// The path without the query of a URL.
std::string without_query(const std::string& path);

// Encodes all bytes of `text` as % and hexadecimal digits, except letters, digits, "-._~" and
// those in `unchanged`.
std::string percent_encoded(std::string_view text, std::string_view unchanged = "");

// The reverse: the byte for each % with two hexadecimal digits.
std::string decode_percents(std::string_view text);

// The position of the brace that closes the one at the start of `text`; nullopt if it is not
// closed.
std::optional<std::size_t> closing_brace(std::string_view text);

}  // namespace gdal_zarr
