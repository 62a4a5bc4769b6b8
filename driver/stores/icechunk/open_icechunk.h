// Opens Icechunk repositories.
#pragma once

#include <memory>
#include <string>

#include "driver/stores/icechunk/icechunk_path.h"
#include "zarrcore/icechunk/icechunk_store.h"

namespace gdal_zarr {

// Whether the folder `path` holds a repository, by the start of one file.
bool is_icechunk_folder(const std::string& path);

// Whether it holds one, and no Zarr by itself.
bool is_only_icechunk(const std::string& path);

// The snapshot that `path` names now, from its key on. Throws zarrcore::Error, which names the
// repository.
std::shared_ptr<zarrcore::icechunk::IcechunkStore> open_icechunk(const IcechunkPath& path);

}  // namespace gdal_zarr
