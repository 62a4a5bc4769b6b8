// The rows of a file of references in Parquet; see parquet_references.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "driver/stores/references/reference.h"

namespace gdal_zarr {

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

}  // namespace gdal_zarr
