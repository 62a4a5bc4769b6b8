// Reading codec configurations.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "zarrcore/base/json.h"

namespace zarrcore {

// The integer member `key`, or `fallback` when it is absent or null. Throws Error when it is no
// integer. Limits that matter for encoding alone are for the codec to apply there: a chunk can be
// decoded whatever the level was.
std::int64_t integer_option(const Json& configuration, std::string_view key, std::int64_t fallback);

// The text member `key`, or nothing when it is absent or null. Throws Error when it is no string.
std::optional<std::string> text_option(const Json& configuration, std::string_view key);

// The boolean member `key`, or `fallback` when it is absent or null. Throws Error when it is none.
bool boolean_option(const Json& configuration, std::string_view key, bool fallback);

// The number member `key`, or null when it is absent or null. Throws Error when it is no number.
const Json* number_option(const Json& configuration, std::string_view key);

// The number member `key`. Throws Error when it is absent or no number.
const Json& number_member(const Json& configuration, std::string_view key);

}  // namespace zarrcore
