// GDAL's virtual file systems whose files are the values of a store, for every store whose values
// are parts of other files: Kerchunk references (reference_store.h), Icechunk repositories.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "driver/stores/references/reference_store.h"

namespace gdal_zarr {

// What a name in a file system means: a value, a folder of values, or with an empty key all of
// them.
struct NamedValue {
  std::shared_ptr<const ReferenceStore> store;
  std::string key;
};

// Opens the store that a name in the file system refers to. Called by every function of the file
// system, so it must cache the stores. Throws zarrcore::Error.
using StoreOpener = NamedValue (*)(const std::string& name);

// Installs a file system whose names begin with `prefix`.
void install_store_file_system(std::string_view prefix, StoreOpener opener);

}  // namespace gdal_zarr
