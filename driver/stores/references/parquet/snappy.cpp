#include "driver/stores/references/parquet/snappy.h"

#include <cstring>

#include "zarrcore/base/error.h"

namespace gdal_zarr {
namespace {

using zarrcore::Buffer;
using zarrcore::ByteSpan;

// The most bytes that a byte of a block can stand for: a copy of 64 bytes takes three.
constexpr std::uint64_t kMaxSnappyExpansion = 22;

[[noreturn]] void fail_snappy() {
  throw zarrcore::Error("snappy: the data is corrupt");
}

class SnappyInput {
 public:
  explicit SnappyInput(ByteSpan bytes) : bytes_(bytes) {}

  bool is_empty() const { return bytes_.empty(); }

  ByteSpan take(std::uint64_t count) {
    if (count > bytes_.size()) fail_snappy();
    const ByteSpan taken = bytes_.first(count);
    bytes_ = bytes_.subspan(count);
    return taken;
  }

  // Little-endian, of `size` bytes.
  std::uint64_t take_number(std::size_t size) {
    std::uint64_t number = 0;
    const ByteSpan bytes = take(size);
    for (std::size_t i = 0; i < size; ++i) {
      number |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * i);
    }
    return number;
  }

  std::uint64_t take_varint() {
    std::uint64_t number = 0;
    for (unsigned shift = 0; shift < 35; shift += 7) {
      const std::uint64_t byte = take_number(1);
      number |= (byte & 0x7f) << shift;
      if (byte < 0x80) return number;
    }
    fail_snappy();
  }

 private:
  ByteSpan bytes_;
};

}  // namespace

Buffer decode_snappy(ByteSpan encoded, std::uint64_t size) {
  SnappyInput input(encoded);
  if (input.take_varint() != size || size / kMaxSnappyExpansion > encoded.size()) fail_snappy();
  Buffer decoded(size);
  std::uint64_t at = 0;
  while (!input.is_empty()) {
    const std::uint64_t tag = input.take_number(1);
    std::uint64_t length = 1 + (tag >> 2);
    if ((tag & 3) == 0) {
      if (length > 60) length = 1 + input.take_number(length - 60);
      if (length > size - at) fail_snappy();
      std::memcpy(decoded.data() + at, input.take(length).data(), length);
      at += length;
      continue;
    }
    std::uint64_t distance = 0;
    if ((tag & 3) == 1) {
      length = 4 + (tag >> 2 & 7);
      distance = (tag >> 5) << 8 | input.take_number(1);
    } else {
      distance = input.take_number((tag & 3) == 2 ? 2 : 4);
    }
    if (distance == 0 || distance > at || length > size - at) fail_snappy();
    // The copy may overlap itself, and then repeats.
    for (std::uint64_t i = 0; i < length; ++i)
      decoded.data()[at + i] = decoded.data()[at + i - distance];
    at += length;
  }
  if (at != size) fail_snappy();
  return decoded;
}

}  // namespace gdal_zarr
