// Bytes of a Parquet file, read from the start to the end.
#pragma once

#include <cstdint>
#include <string>

#include "zarrcore/base/buffer.h"
#include "zarrcore/base/error.h"

namespace gdal_zarr {

class ByteReader {
 public:
  // `bytes` must outlive this and all it returns. Errors begin with `name`.
  explicit ByteReader(zarrcore::ByteSpan bytes, const char* name = "its data")
      : rest_(bytes), name_(name) {}

  std::size_t size() const { return rest_.size(); }  // of the bytes that are left

  // The next `count` bytes. This and the functions below throw zarrcore::Error when there are
  // fewer.
  zarrcore::ByteSpan take(std::uint64_t count) {
    if (count > rest_.size()) throw zarrcore::Error(std::string(name_) + " ends early");
    const zarrcore::ByteSpan taken = rest_.first(count);
    rest_ = rest_.subspan(count);
    return taken;
  }

  // A little-endian number of `size` bytes, up to 8.
  std::uint64_t take_number(std::size_t size) {
    std::uint64_t number = 0;
    const zarrcore::ByteSpan bytes = take(size);
    for (std::size_t i = 0; i < size; ++i) {
      number |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * i);
    }
    return number;
  }

  // Seven bits in each byte, the lowest first.
  std::uint64_t take_varint() {
    std::uint64_t number = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const std::uint64_t byte = take_number(1);
      number |= (byte & 0x7f) << shift;
      if (byte < 0x80) return number;
    }
    fail();
  }

  // A varint with the sign in its lowest bit.
  std::int64_t take_zigzag() {
    const std::uint64_t number = take_varint();
    return static_cast<std::int64_t>(number >> 1 ^ (~(number & 1) + 1));
  }

  [[noreturn]] void fail() const { throw zarrcore::Error(std::string(name_) + " is corrupt"); }

 private:
  zarrcore::ByteSpan rest_;
  const char* name_;
};

}  // namespace gdal_zarr
