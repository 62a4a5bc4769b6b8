#include "driver/stores/references/parquet/parquet_encodings.h"

#include <algorithm>
#include <cstring>

#include "zarrcore/base/endian.h"
#include "zarrcore/base/error.h"

namespace gdal_zarr {
namespace {

using zarrcore::Buffer;
using zarrcore::ByteSpan;
using zarrcore::Error;

[[noreturn]] void fail_encoding() {
  throw Error("its data is corrupt");
}

std::uint64_t take_varint(ByteSpan& bytes) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    const auto byte = std::to_integer<std::uint8_t>(take_bytes(bytes, 1)[0]);
    value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return value;
  }
  fail_encoding();
}

std::uint64_t take_zigzag(ByteSpan& bytes) {
  const std::uint64_t value = take_varint(bytes);
  return value >> 1 ^ (~(value & 1) + 1);
}

// The number of `bit_width` bits (0 to 64) that begins at bit `position` of `bytes`, least
// significant bit first.
std::uint64_t unpack(ByteSpan bytes, std::uint64_t position, unsigned bit_width) {
  std::uint64_t value = 0;
  for (unsigned done = 0; done < bit_width;) {
    const unsigned shift = (position + done) % 8;
    const unsigned count = std::min(8 - shift, bit_width - done);
    const auto byte = std::to_integer<std::uint64_t>(bytes[(position + done) / 8]);
    value |= (byte >> shift & ((1U << count) - 1)) << done;
    done += count;
  }
  return value;
}

}  // namespace

ByteSpan take_bytes(ByteSpan& bytes, std::uint64_t count) {
  if (count > bytes.size()) throw Error("its data ends early");
  const ByteSpan taken = bytes.first(count);
  bytes = bytes.subspan(count);
  return taken;
}

template <typename Integer>
Integer take_integer(ByteSpan& bytes) {
  return zarrcore::load_integer<Integer>(take_bytes(bytes, sizeof(Integer)).data(),
                                         zarrcore::Endian::little);
}

template std::uint32_t take_integer<std::uint32_t>(ByteSpan& bytes);
template std::uint64_t take_integer<std::uint64_t>(ByteSpan& bytes);

std::vector<std::uint32_t> decode_runs(ByteSpan& bytes, unsigned bit_width, std::uint64_t count) {
  if (bit_width > 32) fail_encoding();
  std::vector<std::uint32_t> values;
  values.reserve(count);
  while (values.size() < count) {
    const std::uint64_t header = take_varint(bytes);
    const std::uint64_t missing = count - values.size();
    if ((header & 1) == 0) {
      std::uint32_t value = 0;
      const ByteSpan stored = take_bytes(bytes, (bit_width + 7) / 8);
      for (std::size_t i = 0; i < stored.size(); ++i) {
        value |= std::to_integer<std::uint32_t>(stored[i]) << (8 * i);
      }
      if (header >> 1 == 0) fail_encoding();
      values.insert(values.end(), std::min(header >> 1, missing), value);
      continue;
    }
    // Groups of eight; the last one may be cut off after the numbers that are needed.
    const std::uint64_t groups = header >> 1;
    if (groups == 0) fail_encoding();
    const std::uint64_t used = groups > missing / 8 ? missing : groups * 8;
    const std::uint64_t needed_bytes = (used * bit_width + 7) / 8;
    const std::uint64_t run_bytes = groups > bytes.size()
                                        ? bytes.size()
                                        : std::min<std::uint64_t>(groups * bit_width, bytes.size());
    if (needed_bytes > run_bytes) throw Error("its data ends early");
    const ByteSpan packed = take_bytes(bytes, run_bytes);
    for (std::uint64_t i = 0; i < used; ++i) {
      values.push_back(static_cast<std::uint32_t>(unpack(packed, i * bit_width, bit_width)));
    }
  }
  return values;
}

std::vector<std::int64_t> decode_deltas(ByteSpan& bytes, std::uint64_t count) {
  const std::uint64_t block_size = take_varint(bytes);
  const std::uint64_t miniblocks = take_varint(bytes);
  const std::uint64_t total = take_varint(bytes);
  std::uint64_t value = take_zigzag(bytes);
  if (total != count) fail_encoding();
  if (miniblocks == 0 || miniblocks > 512 || block_size % miniblocks != 0) fail_encoding();
  const std::uint64_t miniblock_size = block_size / miniblocks;
  if (miniblock_size == 0 || miniblock_size % 8 != 0 || miniblock_size > (1 << 20)) fail_encoding();
  std::vector<std::int64_t> values;
  values.reserve(count);
  if (count > 0) values.push_back(static_cast<std::int64_t>(value));
  while (values.size() < count) {
    const std::uint64_t min_delta = take_zigzag(bytes);
    const ByteSpan widths = take_bytes(bytes, miniblocks);
    for (std::uint64_t i = 0; i < miniblocks && values.size() < count; ++i) {
      const auto width = std::to_integer<unsigned>(widths[i]);
      if (width > 64) fail_encoding();
      const ByteSpan packed = take_bytes(bytes, miniblock_size / 8 * width);
      const std::uint64_t used = std::min(miniblock_size, count - values.size());
      for (std::uint64_t j = 0; j < used; ++j) {
        value += min_delta + unpack(packed, j * width, width);
        values.push_back(static_cast<std::int64_t>(value));
      }
    }
  }
  return values;
}

std::vector<ByteSpan> decode_delta_lengths(ByteSpan& bytes, std::uint64_t count) {
  std::vector<ByteSpan> values;
  values.reserve(count);
  for (const std::int64_t length : decode_deltas(bytes, count)) {
    if (length < 0) fail_encoding();
    values.push_back(take_bytes(bytes, static_cast<std::uint64_t>(length)));
  }
  return values;
}

std::vector<ByteSpan> decode_delta_texts(ByteSpan& bytes, std::uint64_t count,
                                         std::uint64_t max_size, Buffer& storage) {
  const std::vector<std::int64_t> prefixes = decode_deltas(bytes, count);
  const std::vector<ByteSpan> suffixes = decode_delta_lengths(bytes, count);
  std::uint64_t size = 0;
  std::uint64_t previous = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (prefixes[i] < 0 || static_cast<std::uint64_t>(prefixes[i]) > previous) fail_encoding();
    previous = static_cast<std::uint64_t>(prefixes[i]) + suffixes[i].size();
    size += previous;
    if (size > max_size)
      throw Error("its texts have more than " + std::to_string(max_size) + " bytes");
  }
  storage = Buffer(size);
  std::vector<ByteSpan> values;
  values.reserve(count);
  std::byte* next = storage.data();
  for (std::size_t i = 0; i < count; ++i) {
    const auto prefix = static_cast<std::size_t>(prefixes[i]);
    std::byte* start = next;
    if (prefix > 0) std::memcpy(next, values.back().data(), prefix);
    next += prefix;
    if (!suffixes[i].empty()) std::memcpy(next, suffixes[i].data(), suffixes[i].size());
    next += suffixes[i].size();
    values.emplace_back(start, next);
  }
  return values;
}

}  // namespace gdal_zarr
