// Writing a store into a ZIP archive. Each value is appended once and is complete; documents,
// which change often, stay in memory until flush() writes them after all other values.
//
// The archive is written under a temporary name beside it. flush() completes it and gives it its
// own name: other programs see a whole archive or none. When values are put after that, the archive
// loses its name again until the next flush(). An archive elsewhere than on a disk or in memory is
// written to a temporary file of this computer, and flush() uploads it.
//
// To change a store in an existing archive, what the archive has before its directory is copied to
// the temporary file, new values follow, and flush() replaces the archive: a process that is killed
// leaves the old one or the new one. The entries of other files keep all their bytes. Values that
// were replaced or erased are no longer listed, but still take up their space.
#pragma once

#include <memory>
#include <string>

#include "driver/stores/vsi/zarr_folder.h"
#include "zarrcore/store/store.h"

namespace gdal_zarr {

// `path` is the name of the store in messages. Throws zarrcore::Error when the archive exists or
// cannot be written.
std::shared_ptr<zarrcore::Store> make_zip_store(const std::string& path, const ZipTarget& target);

// The store in the existing archive of this computer. Throws zarrcore::Error when its directory
// cannot be read.
std::shared_ptr<zarrcore::Store> open_zip_store(const std::string& path, const ZipTarget& target);

// `store`, the store in an archive as GDAL reads it: if the archive has several entries of one
// name, with the last of them.
std::shared_ptr<zarrcore::Store> with_last_entries(std::shared_ptr<zarrcore::Store> store,
                                                   const ZipTarget& target);

}  // namespace gdal_zarr
