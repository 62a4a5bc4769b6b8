// Reading codec configurations, and checks of the sizes that a chunk must have or cannot exceed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "zarrcore/base/error.h"
#include "zarrcore/base/json.h"

namespace zarrcore {

// The integer member `key`, or `fallback` when it is missing or null. Throws Error when it is not
// an integer. A codec checks limits that only matter for encoding when it encodes: a chunk can be
// decoded with any level.
std::int64_t integer_option(const Json& configuration, std::string_view key, std::int64_t fallback);

// The string member `key`, or nullopt when it is missing or null. Throws Error when it is not a
// string.
std::optional<std::string> text_option(const Json& configuration, std::string_view key);

// The boolean member `key`, or `fallback` when it is missing or null. Throws Error when it is not a
// boolean.
bool boolean_option(const Json& configuration, std::string_view key, bool fallback);

// The number member `key`, or a null pointer when it is missing or null. Throws Error when it is
// not a number.
const Json* number_option(const Json& configuration, std::string_view key);

// The number member `key`. Throws Error when it is missing or not a number.
const Json& number_member(const Json& configuration, std::string_view key);

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

}  // namespace zarrcore
