// Byte order. In memory elements are always in the host's order; these functions stand where
// bytes of a store become elements and back, and nowhere else.
#pragma once

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

// Reverses the bytes of each `unit_size` bytes (1, 2, 4, 8 or 16) of `bytes` in place.
void swap_bytes(MutableByteSpan bytes, std::size_t unit_size);

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

}  // namespace zarrcore
