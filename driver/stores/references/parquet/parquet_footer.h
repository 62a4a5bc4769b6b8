// The footer of a Parquet file
// (https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift):
//
//   "PAR1"  column chunks…  footer  the footer's size as uint32 (little-endian)  "PAR1"
//
// Each row group has a column chunk for each column, which consists of pages; see parquet_column.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "driver/stores/references/parquet/parquet_encodings.h"
#include "zarrcore/base/buffer.h"

namespace gdal_zarr {

// The numbers are defined by the format.
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

}  // namespace gdal_zarr
