// Making filters, and what they work on.
#pragma once

#include <initializer_list>
#include <memory>
#include <string_view>
#include <vector>

#include "autotest/cpp/support/codecs.h"

namespace zarrcore::test {

inline std::unique_ptr<const Filter> make_filter(std::string_view name,
                                                 std::string_view configuration,
                                                 const DataType& type = kInt32) {
  return std::get<std::unique_ptr<const Filter>>(
      make_codec(name, configuration, spec_of({1}, type)));
}

// The bytes of numbers as they stand in memory.
template <typename Number>
Bytes elements(std::initializer_list<Number> numbers) {
  return to_bytes(std::as_bytes(std::span(numbers.begin(), numbers.size())));
}

inline Bytes encoded_by(const Filter& filter, ByteSpan decoded) {
  return to_bytes(filter.encode(decoded).span());
}

}  // namespace zarrcore::test
