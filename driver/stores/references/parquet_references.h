// Kerchunk's references in Parquet files
// (https://fsspec.github.io/kerchunk/spec.html#parquet-references): a folder with
//
//   .zmetadata               {"metadata": {…documents by key…}, "record_size": 10000}
//   <array>/refs.<N>.parq    a row for each chunk of the array, in C order, record_size in a file:
//                            path, offset, size: as in [url, offset, length]; 0, 0: the whole file
//                            raw: the bytes of the chunk
//
// A row without path and raw is a missing chunk, and so are all chunks of a missing file.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "driver/stores/references/chunk_numbers.h"
#include "driver/stores/references/json_references.h"
#include "driver/stores/references/reference.h"
#include "driver/stores/references/reference_table.h"
#include "zarrcore/base/lru_cache.h"

namespace gdal_zarr {

class ParquetReferences final : public References {
 public:
  // Access to the files of the folder, by names such as "array/refs.0.parq".
  struct Files {
    // An empty table if the file does not exist.
    std::function<ReferenceTable(const std::string& file)> read;
    // What identifies the version of a file; may be null if files do not change.
    std::function<std::string(const std::string& file)> version;
  };

  // `metadata` is the text of .zmetadata. Throws zarrcore::Error if it does not match the format
  // above.
  ParquetReferences(zarrcore::Buffer metadata, Files files);

  std::optional<Reference> find(std::string_view key) const override;
  // Lists metadata documents, not chunks.
  zarrcore::DirectoryListing list(std::string_view prefix) const override;
  zarrcore::DirectoryListing list_all(std::string_view prefix,
                                      std::uint64_t max_count) const override;
  bool has_below(std::string_view prefix) const override;
  // Checks the documents as far as chunks are found by them.
  void check() const override;
  std::uint64_t byte_count() const override;

 private:
  struct VersionedTable {
    std::string version;
    ReferenceTable table;
  };
  // A key below an array, whose chunk it may be.
  struct Place {
    std::string_view array;
    std::string_view chunk;
    std::shared_ptr<const ChunkNumbers> chunks;
  };

  std::optional<Place> find_array(std::string_view key) const;
  std::shared_ptr<const ChunkNumbers> chunk_numbers(std::string_view array) const;
  // The table with the chunk `number`.
  std::shared_ptr<const ReferenceTable> table(std::string_view array, std::uint64_t number) const;

  std::unique_ptr<JsonReferences> documents_;
  std::uint64_t record_size_ = 0;
  Files files_;
  mutable std::mutex reading_;  // one file at a time
  mutable zarrcore::LruCache<std::string, VersionedTable> tables_;
  mutable std::mutex arrays_mutex_;
  mutable std::map<std::string, std::shared_ptr<const ChunkNumbers>, std::less<>> arrays_;
};

// The name of the file with the documents.
inline constexpr std::string_view kReferenceMetadata = ".zmetadata";

// The maximum size of the tables that a ParquetReferences keeps, in bytes.
inline constexpr std::uint64_t kMaxCachedTableBytes = std::uint64_t{64} << 20;

// The references in `folder`, of which `metadata` is the text of .zmetadata. Throws zarrcore::Error
// if it does not match the format.
std::unique_ptr<References> make_parquet_references(zarrcore::Buffer metadata,
                                                    const std::string& folder);

// Whether `folder` has such references.
bool has_parquet_references(const std::string& folder);

}  // namespace gdal_zarr
