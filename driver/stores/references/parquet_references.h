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

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "driver/stores/references/json_references.h"
#include "driver/stores/references/reference.h"
#include "driver/stores/vsi/vsi_file.h"
#include "zarrcore/base/lru_cache.h"
#include "zarrcore/base/path.h"

namespace gdal_zarr {

// The rows of a file.
class ReferenceTable {
 public:
  // A table without rows.
  ReferenceTable() = default;

  // Reads all rows of `file`, the content of a Parquet file with the columns path, offset and size,
  // or raw, or all. Throws zarrcore::Error.
  static ReferenceTable read(zarrcore::ByteSpan file);

  // Empty for a missing chunk and past the last row. Throws zarrcore::Error when the row is
  // invalid.
  std::optional<Reference> find(std::uint64_t row) const;

  // Returns true if the row has a reference, valid or not.
  bool has(std::uint64_t row) const;

  // Bytes of memory.
  std::uint64_t byte_count() const { return byte_count_; }

 private:
  struct Row {
    std::uint32_t path = 0;   // the index of the path plus one; 0 for none
    std::uint32_t value = 0;  // the index of the value plus one; 0 for none
    std::int64_t offset = 0;
    std::int64_t size = 0;
  };

  void count_bytes(std::uint64_t bytes);

  std::vector<Row> rows_;
  std::vector<std::string> paths_;  // without duplicates
  std::vector<zarrcore::Buffer> values_;
  std::uint64_t byte_count_ = 0;
};

// Makes such a file from references by row; a row without one is a missing chunk. Throws
// zarrcore::Error when a reference does not fit the format.
std::string write_reference_table(const std::vector<std::optional<Reference>>& rows);

// The numbers of an array's chunks in C order.
class ChunkNumbers {
 public:
  // Reads the text of a `.zarray`. Throws zarrcore::Error when its shape and chunks are invalid.
  explicit ChunkNumbers(std::string_view document);

  std::uint64_t count() const { return count_; }

  // The number of a chunk by the part of its key below the array, with either separator; empty if
  // it is not a chunk of the array.
  std::optional<std::uint64_t> find(std::string_view place) const;

  // Returns true if `prefix` inside the array is a folder of chunks.
  bool has_level(std::string_view prefix) const { return find_level(prefix).has_value(); }

  // Lists what is below `prefix` inside the array ("" for the array) in C order: keys of chunks for
  // which `exists(number)` is true, or folders of chunks, among the first `max_count` of them.
  template <typename Exists>
  void list(std::string_view prefix, std::uint64_t max_count, const Exists& exists,
            zarrcore::DirectoryListing& listing) const {
    const auto level = find_level(prefix);
    if (!level) return;
    for (std::uint64_t i = 0; i < std::min(level->count, max_count); ++i) {
      if (!level->is_last) {
        listing.prefixes.push_back(std::to_string(i));
      } else if (exists(level->first + i)) {
        listing.keys.push_back(name_of(level->first + i));
      }
    }
  }

 private:
  struct Level {
    std::uint64_t first = 0;  // of the chunks, if this is the last level
    std::uint64_t count = 0;
    bool is_last = true;
  };

  std::optional<Level> find_level(std::string_view prefix) const;
  std::string name_of(std::uint64_t number) const;

  std::vector<std::uint64_t> counts_;  // of chunks along each dimension
  std::uint64_t count_ = 1;
  char separator_ = '.';
};

class ParquetReferences final : public References {
 public:
  // Access to the files of the folder, by names such as "array/refs.0.parq".
  struct Files {
    // An empty table if the file does not exist.
    std::function<ReferenceTable(const std::string& file)> read;
    // May be null if files do not change.
    std::function<std::optional<FileVersion>(const std::string& file)> version;
  };

  // `metadata` is the text of .zmetadata. Throws zarrcore::Error if it does not match the format
  // above.
  ParquetReferences(zarrcore::Buffer metadata, Files files);

  std::optional<Reference> find(std::string_view key) const override;
  zarrcore::DirectoryListing list(std::string_view prefix, std::uint64_t max_chunks) const override;
  bool has_below(std::string_view prefix) const override;
  // Checks the documents as far as chunks are found by them.
  void check() const override;
  std::uint64_t byte_count() const override;

 private:
  struct VersionedTable {
    std::optional<FileVersion> version;
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
  mutable std::mutex reading_;  // serializes the reading of files
  mutable zarrcore::LruCache<VersionedTable> tables_;
  mutable std::mutex arrays_mutex_;
  mutable std::map<std::string, std::shared_ptr<const ChunkNumbers>, std::less<>> arrays_;
};

// The name of the file with the documents.
inline constexpr std::string_view kReferenceMetadata = ".zmetadata";

// The record size of new folders: fsspec's default.
inline constexpr std::uint64_t kRecordSize = 10'000;

// The maximum size of the tables that a ParquetReferences caches, in bytes.
inline constexpr std::uint64_t kMaxCachedTableBytes = std::uint64_t{64} << 20;

// The references in `folder`, of which `metadata` is the text of .zmetadata. Throws zarrcore::Error
// if it does not match the format.
std::unique_ptr<References> make_parquet_references(zarrcore::Buffer metadata,
                                                    const std::string& folder);

// Returns true if `folder` has such references.
bool has_parquet_references(const std::string& folder);

}  // namespace gdal_zarr
