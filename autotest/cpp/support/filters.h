// Making filters, and what they work on.
#pragma once

#include <initializer_list>
#include <memory>
#include <string_view>
#include <vector>

#include "autotest/cpp/support/codecs.h"
#include "zarrcore/base/endian.h"

namespace zarrcore::test {

inline std::unique_ptr<const Filter> make_filter(std::string_view name,
                                                 std::string_view configuration,
                                                 const DataType& type = kInt32) {
  return std::get<std::unique_ptr<const Filter>>(
      make_codec(name, configuration, spec_of({1}, type)));
}

// Little-endian numbers in memory, and back.
inline Bytes in_host_order(Bytes bytes, std::size_t item_size) {
  if (kHostEndian != Endian::little) swap_bytes(bytes, item_size);
  return bytes;
}

// The bytes of numbers, little-endian as filters get them by default.
template <typename Number>
Bytes little_endian(std::initializer_list<Number> numbers) {
  return in_host_order(to_bytes(std::as_bytes(std::span(numbers.begin(), numbers.size()))),
                       sizeof(Number));
}

inline Bytes encoded_by(const Filter& filter, ByteSpan decoded) {
  return to_bytes(filter.encode(decoded).span());
}

}  // namespace zarrcore::test
