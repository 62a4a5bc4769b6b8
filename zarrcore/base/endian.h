// Byte order. In memory elements are always in the host's order; only code that turns bytes of a
// store into elements, or back, uses these functions.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "zarrcore/base/buffer.h"

namespace zarrcore {

enum class Endian : std::uint8_t { little, big };

inline constexpr Endian kHostEndian =
    std::endian::native == std::endian::little ? Endian::little : Endian::big;

// A fixed size lets the compiler turn the reversal into byte-swap (or vector shuffle) instructions.
template <std::size_t kSize>
void swap_units(MutableByteSpan bytes) {
  for (std::size_t i = 0; i + kSize <= bytes.size(); i += kSize) {
    std::byte unit[kSize];
    std::memcpy(unit, bytes.data() + i, kSize);
    std::reverse(unit, unit + kSize);
    std::memcpy(bytes.data() + i, unit, kSize);
  }
}

// Reverses the bytes of each `unit_size` bytes (1, 2, 4, 8 or 16) of `bytes` in place.
inline void swap_bytes(MutableByteSpan bytes, std::uint64_t unit_size) {
  switch (unit_size) {
    case 2:
      return swap_units<2>(bytes);
    case 4:
      return swap_units<4>(bytes);
    case 8:
      return swap_units<8>(bytes);
    case 16:
      return swap_units<16>(bytes);
    default:
      return;
  }
}

// The unsigned integer at `bytes`, which need not be aligned.
template <typename Integer>
Integer load_integer(const std::byte* bytes, Endian endian) {
  Integer value = 0;
  for (std::size_t i = 0; i < sizeof(Integer); ++i) {
    const std::size_t at = endian == Endian::little ? sizeof(Integer) - 1 - i : i;
    value = static_cast<Integer>(value << 8 | std::to_integer<Integer>(bytes[at]));
  }
  return value;
}

template <typename Integer>
void store_integer(Integer value, Endian endian, std::byte* bytes) {
  for (std::size_t i = 0; i < sizeof(Integer); ++i) {
    const std::size_t at = endian == Endian::little ? i : sizeof(Integer) - 1 - i;
    bytes[at] = static_cast<std::byte>(value >> (8 * i) & 0xff);
  }
}

// Adds an integer to the end of a text or vector of bytes.
template <typename Integer, typename Bytes>
void append_integer(Bytes& bytes, Integer value, Endian endian) {
  std::byte stored[sizeof(Integer)];
  store_integer(value, endian, stored);
  for (const std::byte byte : stored) {
    bytes.push_back(static_cast<typename Bytes::value_type>(byte));
  }
}

// The unsigned integer of `size` bytes (1, 2, 4 or 8) in memory at `bytes`, which need not be
// aligned.
inline std::uint64_t load_unsigned(const std::byte* bytes, std::uint64_t size) {
  switch (size) {
    case 1:
      return load_integer<std::uint8_t>(bytes, kHostEndian);
    case 2:
      return load_integer<std::uint16_t>(bytes, kHostEndian);
    case 4:
      return load_integer<std::uint32_t>(bytes, kHostEndian);
    default:
      return load_integer<std::uint64_t>(bytes, kHostEndian);
  }
}

// The reverse, with the low `size` bytes of `value`.
inline void store_unsigned(std::uint64_t value, std::uint64_t size, std::byte* bytes) {
  switch (size) {
    case 1:
      return store_integer(static_cast<std::uint8_t>(value), kHostEndian, bytes);
    case 2:
      return store_integer(static_cast<std::uint16_t>(value), kHostEndian, bytes);
    case 4:
      return store_integer(static_cast<std::uint32_t>(value), kHostEndian, bytes);
    default:
      return store_integer(value, kHostEndian, bytes);
  }
}

}  // namespace zarrcore
