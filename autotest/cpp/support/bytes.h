// Making and comparing bytes.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "zarrcore/base/buffer.h"

namespace zarrcore::test {

using Bytes = std::vector<std::byte>;
using Random = std::mt19937_64;

inline Bytes bytes_of(std::initializer_list<unsigned> values) {
  Bytes bytes;
  for (const unsigned value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

inline Bytes bytes_of(std::string_view text) {
  const ByteSpan bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

// The bytes that a hexadecimal text spells.
inline Bytes from_hex(std::string_view text) {
  Bytes bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    bytes.push_back(
        static_cast<std::byte>(std::stoul(std::string(text.substr(i, 2)), nullptr, 16)));
  }
  return bytes;
}

inline Bytes to_bytes(ByteSpan span) {
  return {span.begin(), span.end()};
}

// The bytes of a number as it stands in memory.
template <typename Number>
  requires std::is_arithmetic_v<Number>
Bytes bytes_in_memory(Number value) {
  return to_bytes(std::as_bytes(std::span(&value, 1)));
}

inline Bytes random_bytes(Random& random, std::size_t size) {
  Bytes bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random() & 0xff);
  return bytes;
}

// Bytes with enough regularity for a compressor to find.
inline Bytes regular_bytes(std::size_t size) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i / 7 % 50);
  return bytes;
}

// A number from `low` to `high`.
inline std::uint64_t random_number(Random& random, std::uint64_t low, std::uint64_t high) {
  return std::uniform_int_distribution<std::uint64_t>(low, high)(random);
}

}  // namespace zarrcore::test
