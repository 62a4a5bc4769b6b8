// JSON as Zarr stores hold it. Members keep their order; the last of equal keys wins. What Python's
// reader accepts beyond RFC 8259 is accepted: the bare words NaN, Infinity and -Infinity, numbers
// too large for a float64 (infinity), and lone surrogates (U+FFFD). Nesting is bounded
// (json_scanner.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "zarrcore/base/api.h"
#include "zarrcore/base/json_scanner.h"  // IWYU pragma: export
#include "zarrcore/base/json_value.h"    // IWYU pragma: export

namespace zarrcore {

// Throws Error that states the position when `text` is not JSON.
ZARRCORE_API Json parse_json(std::string_view text);

struct JsonStyle {
  int indentation = -1;   // spaces per level; if negative, the text is one line
  bool is_ascii = false;  // whether characters past ASCII are written as escapes
  // Whether numbers of lists and objects are written as they were read, even if no Json number is
  // spelled so (number_texts.h).
  bool as_read = false;
};

// Writes `value` as text; numbers that are not finite become bare words.
ZARRCORE_API std::string dump_json(const Json& value, JsonStyle style = {});

// Whether two values are written alike, with numbers as they were read.
ZARRCORE_API bool is_same_text(const Json& a, const Json& b);

// Sets the member `to_key` of the object `to` to the member `key` of the object `from`, which
// exists. A number is written as it was in `from`.
ZARRCORE_API void copy_member(const Json& from, std::string_view key, Json& to,
                              std::string_view to_key);

// Erases the members of `object` for whose names `test` returns true. One pass, where erasing each
// of many takes one for each.
template <typename Test>
void erase_members(Json& object, const Test& test) {
  object.get_ref<Json::object_t&>().erase_members(test);
}

// The beginning of its text, for messages.
ZARRCORE_API std::string excerpt(const Json& value);

// "an object", "a string"…, for messages.
ZARRCORE_API std::string_view describe_kind(const Json& value);

// The member `key` of the object `value`, or null when it is missing or `value` is not an object.
ZARRCORE_API const Json* find_member(const Json& value, std::string_view key);

// The text of `value`, or null when it is not a string.
ZARRCORE_API const std::string* as_string(const Json& value);

// The text of the member `key`, or null when there is no such member or it is not a string.
ZARRCORE_API const std::string* find_string(const Json& value, std::string_view key);

// `value` as an unsigned integer. Throws Error that starts with `what` when it is not one.
ZARRCORE_API std::uint64_t as_unsigned(const Json& value, std::string_view what);

// `value` as a list of unsigned integers, with the same errors.
ZARRCORE_API std::vector<std::uint64_t> as_unsigned_list(const Json& value, std::string_view what);

}  // namespace zarrcore
