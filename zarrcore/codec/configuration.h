// Reading codec configurations, and checks of the sizes that a chunk must have or cannot exceed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "zarrcore/base/buffer.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/json.h"
#include "zarrcore/dtype/data_type.h"

namespace zarrcore {

// The integer member `key`, or `fallback` when it is missing or null. Throws Error when it is not
// an integer. A codec checks limits that only matter for encoding when it encodes: a chunk can be
// decoded with any level.
std::int64_t integer_option(const Json& configuration, std::string_view key, std::int64_t fallback);

// The string member `key`, or nullopt when it is missing or null. Throws Error when it is not a
// string.
std::optional<std::string> text_option(const Json& configuration, std::string_view key);

// The string member `key`. Throws Error when it is missing or not a string.
std::string text_member(const Json& configuration, std::string_view key);

// What `choices` have for the text of the member `key`, or `fallback` when it is missing or null.
// Throws Error when it is none of them.
template <typename Value>
Value choice_option(const Json& configuration, std::string_view key, Value fallback,
                    std::initializer_list<std::pair<std::string_view, Value>> choices) {
  const auto text = text_option(configuration, key);
  if (!text) return fallback;
  std::string known;
  for (const auto& [name, value] : choices) {
    if (name == *text) return value;
    known.append(known.empty() ? "" : ", ").append(name);
  }
  throw Error("\"" + std::string(key) + "\" is \"" + *text + "\", none of " + known);
}

// The boolean member `key`, or `fallback` when it is missing or null. Throws Error when it is not a
// boolean.
bool boolean_option(const Json& configuration, std::string_view key, bool fallback);

// The number member `key`, or a null pointer when it is missing or null. Throws Error when it is
// not a number.
const Json* number_option(const Json& configuration, std::string_view key);

// The number member `key`. Throws Error when it is missing or not a number.
const Json& number_member(const Json& configuration, std::string_view key);

// Throws Error, unless `is_right`, that a codec is not for elements of `type`.
inline void check_type(bool is_right, const DataType& type) {
  if (!is_right) throw Error("it is not for elements of the type " + type_name(type));
}

// Returns true if all bytes are zero.
inline bool is_zero(ByteSpan bytes) {
  return std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{0}; });
}

// Throws "lz4: 3 bytes where 4 are expected", for `before` "lz4: ", unless the sizes are equal.
inline void check_size(std::string_view before, std::uint64_t size, std::uint64_t expected) {
  if (size == expected) return;
  throw Error(std::string(before) + std::to_string(size) + " bytes where " +
              std::to_string(expected) + " are expected");
}

// Throws "lz4: 5 bytes, more than the 4 that can be right" when `size` is more than `max_size`.
inline void check_max_size(std::string_view before, std::uint64_t size, std::uint64_t max_size) {
  if (size <= max_size) return;
  throw Error(std::string(before) + std::to_string(size) + " bytes, more than the " +
              std::to_string(max_size) + " that can be right");
}

// Calls `decode(memory)` with more and more memory, from `guess` to `limit` bytes, until it returns
// the size of what it has decoded: nullopt if that does not fit. Throws Error, which begins with
// `before`, when the limit does not suffice.
template <typename Decode>
Buffer decode_growing(std::string_view before, std::uint64_t guess, std::uint64_t limit,
                      const Decode& decode) {
  for (guess = std::min(guess, limit);; guess = std::min(limit, guess * 4)) {
    Buffer decoded(guess);
    if (const std::optional<std::size_t> size = decode(decoded.span())) {
      decoded.truncate(*size);
      return decoded;
    }
    if (guess == limit) {
      throw Error(std::string(before) + "more than the " + std::to_string(limit) +
                  " bytes that can be right");
    }
  }
}

}  // namespace zarrcore
