// Turns Kerchunk references in JSON into references in Parquet files, also in a folder of the user:
// a large document then opens without being read.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace gdal_zarr {

// Writes the references of the JSON document `document` to the new folder `folder`. Relative names
// of files stay as they are if both are in the same folder, and become absolute otherwise. Calls
// `progress(done)` with a number from 0 to 1; returns false when that returns false. Throws
// zarrcore::Error when a reference does not fit the format. Unless it returns true, nothing is
// left.
bool convert_references(const std::string& document, const std::string& folder,
                        const std::function<bool(double)>& progress);

// Returns the path of the copy of `document` in the folder VSIKERCHUNK_CACHE_DIR, by default
// .gdal/zarr_kerchunk_cache in the home folder, which is created if needed. Empty, with a warning,
// if the copy cannot be created. A copy belongs to one version of the document, by size and time.
std::optional<std::string> cached_copy(const std::string& document);

}  // namespace gdal_zarr
