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

#include <ogrsf_frmts.h>

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
#include "zarrcore/base/lru_cache.h"

namespace gdal_zarr {

// The rows of one file.
class ReferenceTable {
 public:
  // Reads all rows of `layer`, whose fields are those of a file. Throws zarrcore::Error.
  static ReferenceTable read(OGRLayer& layer);

  // Empty for a missing chunk and past the last row.
  std::optional<Reference> find(std::uint64_t row) const;

  std::uint64_t byte_count() const { return byte_count_; }

 private:
  struct Row {
    std::size_t path = 0;   // the index of the path plus one; 0 for none
    std::size_t value = 0;  // the index of the value plus one; 0 for none
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
  };
  std::vector<Row> rows_;
  std::vector<std::string> paths_;  // without duplicates
  std::vector<zarrcore::Buffer> values_;
  std::uint64_t byte_count_ = 0;
};

class ParquetReferences final : public References {
 public:
  // Reads a file of the folder, such as "array/refs.0.parq"; an empty table if it does not exist.
  using ReadTable = std::function<ReferenceTable(const std::string& file)>;

  // `metadata` is the text of .zmetadata. Throws zarrcore::Error if it does not match the format
  // above.
  ParquetReferences(zarrcore::Buffer metadata, ReadTable read_table);

  std::optional<Reference> find(std::string_view key) const override;
  // Lists metadata documents, not chunks.
  zarrcore::DirectoryListing list(std::string_view prefix) const override;

 private:
  std::shared_ptr<const ReferenceTable> table(const std::string& file) const;

  std::unique_ptr<JsonReferences> documents_;
  std::uint64_t record_size_ = 0;
  ReadTable read_table_;
  mutable std::mutex reading_;  // one file at a time
  mutable zarrcore::LruCache<std::string, ReferenceTable> tables_;
};

// The references in `folder`; null if it has none. Throws zarrcore::Error if this GDAL has no
// Parquet driver.
std::unique_ptr<References> read_parquet_references(const std::string& folder);

}  // namespace gdal_zarr
