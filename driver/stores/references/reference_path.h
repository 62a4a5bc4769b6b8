// Names in the file systems of references:
//
//   /vsikerchunk_json_ref/{x.json}/key     /vsikerchunk_json_ref/x.json/key
//   /vsikerchunk_parquet_ref/{folder}/key
//
// The key is that of a value or of a folder of values, and empty for all of them.
#pragma once

#include <string>
#include <string_view>

namespace gdal_zarr {

inline constexpr std::string_view kJsonReferencePrefix = "/vsikerchunk_json_ref/";
inline constexpr std::string_view kCachedReferencePrefix = "/vsikerchunk_json_ref_cached/";
inline constexpr std::string_view kParquetReferencePrefix = "/vsikerchunk_parquet_ref/";

// What holds references: a document, the same through its copy in a cache folder, or a folder.
enum class ReferenceKind : unsigned char { json, cached_json, parquet };

struct ReferencePath {
  ReferenceKind kind = ReferenceKind::json;
  std::string document;  // the document or folder
  std::string key;
};

bool has_reference_prefix(std::string_view name);

// Throws zarrcore::Error when `name` has a prefix but not one of the forms above.
ReferencePath parse_reference_path(const std::string& name);

}  // namespace gdal_zarr
