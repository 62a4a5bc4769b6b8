// GDAL's virtual file systems whose files are the values of references; see reference_path.h.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "driver/stores/references/reference.h"

namespace gdal_zarr {

// A file or folder by its name.
struct NamedReferences {
  std::string document;  // what holds the references
  std::string key;       // empty for all of them
  std::shared_ptr<const References> references;
};

// Opens what a name in a file system says. Throws zarrcore::Error.
using ReferenceOpener = NamedReferences (*)(const std::string& name);

// Installs a file system whose names begin with `prefix`.
void install_reference_file_system(std::string_view prefix, ReferenceOpener opener);

// Installs /vsikerchunk_json_ref/, /vsikerchunk_json_ref_cached/ and /vsikerchunk_parquet_ref/.
void install_reference_file_systems();

}  // namespace gdal_zarr
