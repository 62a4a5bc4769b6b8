// Stores that are packed in ZIP archives.
#pragma once

#include <optional>
#include <string>

namespace gdal_zarr {

// Whether the name is that of a ZIP archive: x.zip, /vsizip/x.zip or /vsizip/{x.zip}.
bool is_zip_name(const std::string& path);

// The /vsizip/ path of the Zarr in the archive `path`: its root, or the one folder at its top that
// holds a Zarr. Empty when `path` is not such an archive. Throws zarrcore::Error when several
// folders hold one.
std::optional<std::string> find_zipped_store(const std::string& path);

// The topmost folder that holds a Zarr on the path from the top of an archive to `path`, the folder
// of a Zarr in it.
std::string find_root_in_archive(const std::string& path);

}  // namespace gdal_zarr
