// Reading codec configurations.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "zarrcore/base/json.h"

namespace zarrcore {

// The integer member `key`, or `fallback` when it is missing or null. Throws Error when it is not
// an integer. A codec checks limits that only matter for encoding when it encodes: a chunk can be
// decoded whatever the level was.
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

}  // namespace zarrcore
