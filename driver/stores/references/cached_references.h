// Documents of references that have been read, kept for the whole process: file systems ask for
// them with every call.
#pragma once

#include <memory>
#include <string>

#include "driver/stores/references/reference.h"
#include "driver/stores/references/reference_path.h"

namespace gdal_zarr {

// The references of the document or folder `document`, which is read again when it has changed. A
// strict caller gets an error if the form of any reference is invalid; others find out when they
// use it. Throws zarrcore::Error, which names the document.
enum class ReferenceCheck : bool { lenient, strict };
std::shared_ptr<const References> open_references(ReferenceKind kind, const std::string& document,
                                                  ReferenceCheck check);

// The same of the document itself, where open_references() may use the copy in a cache folder: for
// ReferenceKind::cached_json, or if the configuration option VSIKERCHUNK_USE_CACHE is YES.
std::shared_ptr<const References> open_own_references(ReferenceKind kind,
                                                      const std::string& document,
                                                      ReferenceCheck check);

}  // namespace gdal_zarr
