// How Parquet encodes the values of a page
// (https://github.com/apache/parquet-format/blob/master/Encodings.md) and compresses it. The
// functions throw zarrcore::Error when the bytes are corrupt; those that read from a ByteReader
// never make more values than `count`.
#pragma once

#include <cstdint>
#include <vector>

#include "driver/stores/references/parquet/parquet_file.h"
#include "driver/stores/references/parquet/thrift.h"
#include "zarrcore/base/buffer.h"

namespace gdal_zarr {

// RLE: `count` numbers of `bit_width` bits (0 to 32), in runs of equal numbers and of packed bits.
std::vector<std::uint32_t> decode_runs(ByteReader& bytes, unsigned bit_width, std::uint64_t count);

// DELTA_BINARY_PACKED: `count` numbers, modulo 2^64.
std::vector<std::int64_t> decode_deltas(ByteReader& bytes, std::uint64_t count);

// DELTA_LENGTH_BYTE_ARRAY: `count` values, which are parts of `bytes`.
std::vector<zarrcore::ByteSpan> decode_delta_lengths(ByteReader& bytes, std::uint64_t count);

// DELTA_BYTE_ARRAY: `count` values, each of which shares its first bytes with the previous one.
// They are parts of `storage`, which must have at most `max_size` bytes.
std::vector<zarrcore::ByteSpan> decode_delta_texts(ByteReader& bytes, std::uint64_t count,
                                                   std::uint64_t max_size,
                                                   zarrcore::Buffer& storage);

// Decompresses a page to exactly `size` bytes.
zarrcore::Buffer decode_page(ParquetCodec codec, zarrcore::ByteSpan encoded, std::uint64_t size);

// Compresses as ParquetCodec::zstd.
zarrcore::Buffer encode_page(zarrcore::ByteSpan decoded);

}  // namespace gdal_zarr
