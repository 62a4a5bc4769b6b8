// Writes a small Parquet file: one row group, and one page for each column, compressed with zstd.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "driver/stores/references/parquet/parquet_footer.h"
#include "zarrcore/base/buffer.h"

namespace gdal_zarr {

class ParquetWriter {
 public:
  // All columns have `row_count` values.
  explicit ParquetWriter(std::uint64_t row_count);

  void add_numbers(std::string_view name, std::span<const std::int64_t> numbers);

  // Absent values are null. Throws zarrcore::Error when they have too many bytes for one page.
  enum class Texts : bool { bytes, utf8 };
  void add_texts(std::string_view name, std::span<const std::optional<std::string_view>> texts,
                 Texts kind);

  // The file. Call this once, after all columns have been added.
  std::string finish();

 private:
  struct Column {
    std::string name;
    ParquetType type = ParquetType::int64;
    bool is_optional = false;
    bool is_utf8 = false;
    std::uint64_t offset = 0;
    std::uint64_t stored_size = 0;   // in bytes, with the header of the page
    std::uint64_t decoded_size = 0;  // the same before compression
  };

  void add_page(Column column, std::string_view page);

  std::uint64_t row_count_;
  std::string file_;
  std::vector<Column> columns_;
};

}  // namespace gdal_zarr
