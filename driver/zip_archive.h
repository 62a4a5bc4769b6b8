// Stores that are packed in ZIP archives.
#pragma once

#include <optional>
#include <string>

namespace gdal_zarr {

// Whether the name is that of a ZIP archive: x.zip, /vsizip/x.zip or /vsizip/{x.zip}.
bool is_zip_name(const std::string& path);

// The /vsizip/ path of the Zarr in the archive `path`: its root, or the one folder at its top that
// holds a Zarr. Nothing when `path` is no such archive. Throws zarrcore::Error when several folders
// hold one.
std::optional<std::string> find_zipped_store(const std::string& path);

// Whether the metadata document `path`, in an archive, is the main one of a whole store. Programs
// that list the files of an archive, as QGIS does, offer each that some driver identifies.
bool is_main_document_of_zipped_store(const std::string& path);

}  // namespace gdal_zarr
