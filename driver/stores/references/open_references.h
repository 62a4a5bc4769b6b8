// Opens Kerchunk references by their names. The documents that have been read are cached for the
// whole process: file systems open them with every call. Names in the file systems are
//
//   /vsikerchunk_json_ref/{x.json}/key     /vsikerchunk_json_ref/x.json/key
//   /vsikerchunk_parquet_ref/{folder}/key
//
// The key names a value or a folder of values; an empty key means all values.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "driver/stores/references/reference_store.h"

namespace gdal_zarr {

inline constexpr std::string_view kCachedReferencePrefix = "/vsikerchunk_json_ref_cached/";

// Where references are stored: in a document, in the copy of a document in a cache folder, or in a
// folder.
enum class ReferenceKind : unsigned char { json, cached_json, parquet };

struct ReferencePath {
  ReferenceKind kind = ReferenceKind::json;
  std::string document;  // the document or folder
  std::string key = {};
};

bool has_reference_prefix(std::string_view name);

// Throws zarrcore::Error when `name` has a prefix but not one of the forms above.
ReferencePath parse_reference_path(const std::string& name);

// The references of a document or folder, which is read again when it has changed. A strict caller
// gets an error if the form of any reference is invalid; others find out when they use it. Throws
// zarrcore::Error, which names the document.
enum class ReferenceCheck : bool { lenient, strict };
std::shared_ptr<const References> open_references(ReferenceKind kind, const std::string& document,
                                                  ReferenceCheck check);

// The values from the key on, as a store. It may use the copy of the document in a cache folder:
// for ReferenceKind::cached_json, or if the configuration option VSIKERCHUNK_USE_CACHE is YES.
std::shared_ptr<ReferenceStore> open_reference_store(const ReferencePath& path,
                                                     ReferenceCheck check);

// Installs /vsikerchunk_json_ref/, /vsikerchunk_json_ref_cached/ and /vsikerchunk_parquet_ref/.
void install_reference_file_systems();

}  // namespace gdal_zarr
