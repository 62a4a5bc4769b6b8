// Copies of JSON documents of references as references in Parquet files, in a folder of the user:
// a large document then opens without being read.
#pragma once

#include <optional>
#include <string>

namespace gdal_zarr {

// The copy of `document` in the folder VSIKERCHUNK_CACHE_DIR, by default .gdal/zarr_kerchunk_cache
// in the home folder, which is made if it does not exist. Empty, with a warning, if it cannot be
// made. A copy is of one version of the document, by its size and time.
std::optional<std::string> cached_copy(const std::string& document);

}  // namespace gdal_zarr
