// Reads the values of a column of a Parquet file: of its pages in each row group. Each page is a
// header, definition levels (which values are null) and encoded values; the first page may be a
// dictionary, whose values the others then refer to.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "driver/stores/references/parquet/parquet_footer.h"

namespace gdal_zarr {

// The maximum number of rows, and of the bytes of a column when they are not compressed.
inline constexpr std::uint64_t kMaxParquetRows = std::uint64_t{4} << 20;
inline constexpr std::uint64_t kMaxParquetBytes = std::uint64_t{256} << 20;

// The values of a column, one for each row: of a column of numbers in `numbers`, else in `texts`.
struct ParquetValues {
  std::vector<bool> is_null;
  std::vector<std::int64_t> numbers;      // 0 where the value is null
  std::vector<zarrcore::ByteSpan> texts;  // parts of `storage` or of the file
  std::vector<zarrcore::Buffer> storage;
  std::uint64_t stored_bytes = 0;  // of `storage`
};

enum class ParquetKind : bool { numbers, texts };

// Reads the column `name` of `file`, whose footer is `footer`; nullopt if there is no such column.
// The result refers to `file`. Throws zarrcore::Error, which names the column, when it is not of
// the kind, exceeds the limits above, or is corrupt. A column without a value may have any type.
std::optional<ParquetValues> read_parquet_column(zarrcore::ByteSpan file,
                                                 const ParquetFooter& footer, std::string_view name,
                                                 ParquetKind kind);

}  // namespace gdal_zarr
