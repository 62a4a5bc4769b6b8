// The pages of a column chunk in a Parquet file: a header, and bytes.
#pragma once

#include <cstdint>

#include "zarrcore/base/buffer.h"

namespace gdal_zarr {

// The numbers are those of the format.
enum class ParquetEncoding : std::uint8_t {
  plain = 0,
  plain_dictionary = 2,
  rle = 3,
  bit_packed = 4,
  delta_binary_packed = 5,
  delta_length_byte_array = 6,
  delta_byte_array = 7,
  rle_dictionary = 8,
  byte_stream_split = 9,
};

struct ParquetPage {
  enum class Kind : std::uint8_t { data, dictionary, other };

  Kind kind = Kind::other;
  zarrcore::ByteSpan bytes;        // as they are stored
  std::uint64_t decoded_size = 0;  // in bytes, with the levels
  std::uint64_t value_count = 0;   // with those that are null
  ParquetEncoding encoding = ParquetEncoding::plain;

  // Of data pages of version 2.
  bool is_version_2 = false;
  bool is_compressed = true;
  std::uint64_t definition_bytes = 0;
  std::uint64_t repetition_bytes = 0;
};

// Removes the first page from `pages`. Throws zarrcore::Error when there is none.
ParquetPage take_parquet_page(zarrcore::ByteSpan& pages);

}  // namespace gdal_zarr
