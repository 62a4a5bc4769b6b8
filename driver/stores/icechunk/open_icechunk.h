// Opens Icechunk repositories: as stores, and as GDAL's file system of their values. The files of
// virtual chunks are read through GDAL's virtual file systems.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "driver/stores/icechunk/icechunk_path.h"
#include "zarrcore/icechunk/icechunk_store.h"

namespace gdal_zarr {

// Returns true if the folder `path` holds a repository, judging by the start of one file.
bool is_icechunk_folder(const std::string& path);

// Returns true if it holds one and is not itself a Zarr store.
bool is_only_icechunk(const std::string& path);

// `path`, or if it is that of a repository or of something in one, its form with /vsiicechunk/ and
// the version that options choose, if they do. Folders on the network count as repositories only
// if options say something that is for repositories. Throws zarrcore::Error if the name chooses a
// version as well.
std::string find_icechunk_path(const std::string& path,
                               const std::optional<zarrcore::icechunk::VersionName>& version,
                               bool ignores_changes = false);

std::shared_ptr<zarrcore::icechunk::VirtualFiles> make_virtual_files(const IcechunkPath& path);

// The snapshot that `path` names now, from its key on. Throws zarrcore::Error, which names the
// repository.
std::shared_ptr<zarrcore::icechunk::IcechunkStore> open_icechunk(const IcechunkPath& path);

// Installs /vsiicechunk/. A name without a snapshot's id means what its branch or tag is at the
// time.
void install_icechunk_file_system();

}  // namespace gdal_zarr
