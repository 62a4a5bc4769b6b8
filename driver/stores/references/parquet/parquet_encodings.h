// Parquet's encodings of integers and of the lengths of texts
// (https://github.com/apache/parquet-format/blob/master/Encodings.md). The functions read from the
// start of `bytes` and remove what they have read. They throw zarrcore::Error when the bytes are
// corrupt; they never make more values than `count`.
#pragma once

#include <cstdint>
#include <vector>

#include "zarrcore/base/buffer.h"

namespace gdal_zarr {

// The first `count` bytes of `bytes`, which are removed. Throws zarrcore::Error when there are
// fewer.
zarrcore::ByteSpan take_bytes(zarrcore::ByteSpan& bytes, std::uint64_t count);

// An unsigned integer of `Integer`'s size, little-endian.
template <typename Integer>
Integer take_integer(zarrcore::ByteSpan& bytes);

// RLE (3): `count` numbers of `bit_width` bits (0 to 32), in runs of equal numbers and of packed
// bits.
std::vector<std::uint32_t> decode_runs(zarrcore::ByteSpan& bytes, unsigned bit_width,
                                       std::uint64_t count);

// DELTA_BINARY_PACKED (5): `count` numbers, modulo 2^64.
std::vector<std::int64_t> decode_deltas(zarrcore::ByteSpan& bytes, std::uint64_t count);

// DELTA_LENGTH_BYTE_ARRAY (6): `count` values, which are parts of `bytes`.
std::vector<zarrcore::ByteSpan> decode_delta_lengths(zarrcore::ByteSpan& bytes,
                                                     std::uint64_t count);

// DELTA_BYTE_ARRAY (7): `count` values, each of which shares its first bytes with the one before.
// They are parts of `storage`, which must have at most `max_size` bytes.
std::vector<zarrcore::ByteSpan> decode_delta_texts(zarrcore::ByteSpan& bytes, std::uint64_t count,
                                                   std::uint64_t max_size,
                                                   zarrcore::Buffer& storage);

}  // namespace gdal_zarr
