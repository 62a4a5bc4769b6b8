#include "driver/stores/references/parquet/parquet_encodings.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "zarrcore/base/error.h"
#include "zarrcore/codec/registry.h"

namespace gdal_zarr {
namespace {

using zarrcore::Buffer;
using zarrcore::ByteSpan;
using zarrcore::Error;

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

std::unique_ptr<const zarrcore::BytesToBytesCodec> codec_of_core(std::string_view name) {
  zarrcore::ChunkSpec spec{{1}, zarrcore::DataType(), {std::byte{0}}};
  auto codec = zarrcore::find_codec(name)(zarrcore::Json::object(), spec);
  return std::get<std::unique_ptr<const zarrcore::BytesToBytesCodec>>(std::move(codec));
}

Buffer decode_with_core(std::string_view name, ByteSpan encoded, std::uint64_t size) {
  Buffer decoded = codec_of_core(name)->decode(encoded, size);
  if (decoded.size() != size) {
    throw Error("a page has " + std::to_string(decoded.size()) + " bytes, not " +
                std::to_string(size));
  }
  return decoded;
}

}  // namespace

std::vector<std::uint32_t> decode_runs(ByteReader& bytes, unsigned bit_width, std::uint64_t count) {
  if (bit_width > 32) bytes.fail();
  std::vector<std::uint32_t> values;
  values.reserve(count);
  while (values.size() < count) {
    const std::uint64_t header = bytes.take_varint();
    const std::uint64_t missing = count - values.size();
    if ((header & 1) == 0) {
      const auto value = static_cast<std::uint32_t>(bytes.take_number((bit_width + 7) / 8));
      if (header >> 1 == 0) bytes.fail();
      values.insert(values.end(), std::min(header >> 1, missing), value);
      continue;
    }
    // Groups of eight; the last one may be cut off after the numbers that are needed.
    const std::uint64_t groups = header >> 1;
    if (groups == 0) bytes.fail();
    const std::uint64_t used = groups > missing / 8 ? missing : groups * 8;
    const std::uint64_t needed_bytes = (used * bit_width + 7) / 8;
    const std::uint64_t run_bytes = groups > bytes.size()
                                        ? bytes.size()
                                        : std::min<std::uint64_t>(groups * bit_width, bytes.size());
    if (needed_bytes > run_bytes) throw Error("its data ends early");
    const ByteSpan packed = bytes.take(run_bytes);
    for (std::uint64_t i = 0; i < used; ++i) {
      values.push_back(static_cast<std::uint32_t>(unpack(packed, i * bit_width, bit_width)));
    }
  }
  return values;
}

std::vector<std::int64_t> decode_deltas(ByteReader& bytes, std::uint64_t count) {
  const std::uint64_t block_size = bytes.take_varint();
  const std::uint64_t miniblocks = bytes.take_varint();
  const std::uint64_t total = bytes.take_varint();
  auto value = static_cast<std::uint64_t>(bytes.take_zigzag());
  if (total != count) bytes.fail();
  if (miniblocks == 0 || miniblocks > 512 || block_size % miniblocks != 0) bytes.fail();
  const std::uint64_t miniblock_size = block_size / miniblocks;
  if (miniblock_size == 0 || miniblock_size % 8 != 0 || miniblock_size > (1 << 20)) bytes.fail();
  std::vector<std::int64_t> values;
  values.reserve(count);
  if (count > 0) values.push_back(static_cast<std::int64_t>(value));
  while (values.size() < count) {
    const auto min_delta = static_cast<std::uint64_t>(bytes.take_zigzag());
    const ByteSpan widths = bytes.take(miniblocks);
    for (std::uint64_t i = 0; i < miniblocks && values.size() < count; ++i) {
      const auto width = std::to_integer<unsigned>(widths[i]);
      if (width > 64) bytes.fail();
      const ByteSpan packed = bytes.take(miniblock_size / 8 * width);
      const std::uint64_t used = std::min(miniblock_size, count - values.size());
      for (std::uint64_t j = 0; j < used; ++j) {
        value += min_delta + unpack(packed, j * width, width);
        values.push_back(static_cast<std::int64_t>(value));
      }
    }
  }
  return values;
}

std::vector<ByteSpan> decode_delta_lengths(ByteReader& bytes, std::uint64_t count) {
  std::vector<ByteSpan> values;
  values.reserve(count);
  for (const std::int64_t length : decode_deltas(bytes, count)) {
    if (length < 0) bytes.fail();
    values.push_back(bytes.take(static_cast<std::uint64_t>(length)));
  }
  return values;
}

std::vector<ByteSpan> decode_delta_texts(ByteReader& bytes, std::uint64_t count,
                                         std::uint64_t max_size, Buffer& storage) {
  const std::vector<std::int64_t> prefixes = decode_deltas(bytes, count);
  const std::vector<ByteSpan> suffixes = decode_delta_lengths(bytes, count);
  std::uint64_t size = 0;
  std::uint64_t previous = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (prefixes[i] < 0 || static_cast<std::uint64_t>(prefixes[i]) > previous) bytes.fail();
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

Buffer decode_page(ParquetCodec codec, ByteSpan encoded, std::uint64_t size) {
  switch (codec) {
    case ParquetCodec::none:
      return Buffer::copy_of(encoded);
    case ParquetCodec::snappy:
      return decode_with_core("imagecodecs_snappy", encoded, size);
    case ParquetCodec::gzip:
      return decode_with_core("gzip", encoded, size);
    case ParquetCodec::zstd:
      return decode_with_core("zstd", encoded, size);
    case ParquetCodec::lz4:
      return decode_with_core("imagecodecs_lz4", encoded, size);
    default:
      throw Error("the compression " + std::to_string(static_cast<int>(codec)) +
                  " is not supported");
  }
}

Buffer encode_page(ByteSpan decoded) {
  return codec_of_core("zstd")->encode(decoded);
}

}  // namespace gdal_zarr
