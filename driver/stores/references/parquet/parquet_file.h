// Parquet files, as far as references need them
// (https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift):
//
//   "PAR1"  column chunks…  footer  the footer's size as uint32 (little-endian)  "PAR1"
//
// Each row group has a column chunk for each column, which consists of pages. A page is a header,
// definition levels (which values are null) and encoded values (parquet_encodings.h); the first
// page may be a dictionary, whose values the others then refer to.
//
// To read a file, read_parquet_footer() and then read_parquet_column() for each column; to write
// one, ParquetWriter.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "zarrcore/base/buffer.h"

namespace gdal_zarr {

// The numbers are defined by the format.
enum class ParquetCodec : std::uint8_t { none, snappy, gzip, lzo, brotli, lz4_hadoop, zstd, lz4 };
enum class ParquetEncoding : std::uint8_t {
  plain = 0,
  plain_dictionary = 2,
  rle = 3,
  delta_binary_packed = 5,
  delta_length_byte_array = 6,
  delta_byte_array = 7,
  rle_dictionary = 8,
};

enum class ParquetType : std::uint8_t {
  boolean = 0,
  int32 = 1,
  int64 = 2,
  float64 = 5,
  byte_array = 6,
  fixed_byte_array = 7,
};

struct ParquetColumn {
  std::string name;
  ParquetType type = ParquetType::boolean;
  bool is_optional = false;  // whether values may be null
  bool is_nested = false;    // part of a list or a structure: its values cannot be read
};

struct ParquetColumnChunk {
  ParquetType type = ParquetType::boolean;
  ParquetCodec codec = ParquetCodec::none;
  std::uint64_t offset = 0;      // of the first page, in bytes from the start of the file
  std::uint64_t byte_count = 0;  // of all pages
  bool is_elsewhere = false;     // in another file
};

struct ParquetRowGroup {
  std::uint64_t row_count = 0;
  std::vector<ParquetColumnChunk> chunks;  // one for each column
};

struct ParquetFooter {
  std::uint64_t row_count = 0;
  std::vector<ParquetColumn> columns;
  std::vector<ParquetRowGroup> row_groups;
};

// The footer of `file`, all of which is in memory. Throws zarrcore::Error when it is not a Parquet
// file or its footer is corrupt. Column chunks are inside the file, and the rows of the groups add
// up to `row_count`.
ParquetFooter read_parquet_footer(zarrcore::ByteSpan file);

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

// Writes a small file: one row group, and one page for each column, compressed with zstd.
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
