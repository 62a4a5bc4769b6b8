// JSON in Zarr stores. Members keep their order; the last of equal keys wins. Accepts what Python's
// reader accepts beyond RFC 8259: the bare words NaN, Infinity and -Infinity, numbers too large for
// a float64 (infinity), and lone surrogates (U+FFFD).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "zarrcore/base/api.h"
#include "zarrcore/base/json_value.h"  // IWYU pragma: export

namespace zarrcore {

// Deeper documents are refused, so that no document can exhaust the stack.
inline constexpr std::size_t kMaxJsonDepth = 256;

// Throws Error that states the position when `text` is not JSON.
ZARRCORE_API Json parse_json(std::string_view text);

// The value of a MessagePack document; byte strings become binary values. Throws Error when `bytes`
// is not MessagePack.
Json parse_msgpack(std::string_view bytes);

// Throws the Error that `text` is not JSON because of a `problem` at byte `at`.
[[noreturn]] void refuse_json(std::string_view text, std::size_t at, std::string_view problem);
// Throws the Error for documents that are nested too deeply.
[[noreturn]] void refuse_json_depth();

struct JsonStyle {
  int indentation = -1;   // spaces per level; if negative, the text is one line
  bool is_ascii = false;  // true if characters past ASCII are written as escapes
  // True if numbers of lists and objects are written as they were read, even if no Json number is
  // spelled so.
  bool as_read = false;
};

// Writes `value` as text; numbers that are not finite become bare words.
ZARRCORE_API std::string dump_json(const Json& value, JsonStyle style = {});

// Returns true if two values are written alike, with numbers as they were read.
ZARRCORE_API bool is_same_text(const Json& a, const Json& b);

// Sets the member `to_key` of the object `to` to the member `key` of the object `from`, which
// exists. A number is written as it was in `from`.
ZARRCORE_API void copy_member(const Json& from, std::string_view key, Json& to,
                              std::string_view to_key);

// Erases the members of `object` for whose names `test` returns true, in a single pass.
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

// The same, but also null when the member is null.
ZARRCORE_API const Json* find_value(const Json& value, std::string_view key);

// The member `key`; throws Error when `document` is not an object or does not have it.
const Json& required_member(const Json& document, std::string_view key);

// The member `key`, which must be an object; an empty object when it is missing or null.
Json object_member(const Json& document, std::string_view key);

// The members of `document` that are not named in `known`.
Json other_members(const Json& document, std::span<const std::string_view> known);

// Adds `others` to the members of `document`, except those that it already has.
void add_members(Json& document, const Json& others);

// The text of `value`, or null when it is not a string.
ZARRCORE_API const std::string* as_string(const Json& value);

// The text of the member `key`, or null when there is no such member or it is not a string.
ZARRCORE_API const std::string* find_string(const Json& value, std::string_view key);

// Returns `value` as an unsigned integer. Throws Error that starts with `what` if it is not an
// unsigned integer.
ZARRCORE_API std::uint64_t as_unsigned(const Json& value, std::string_view what);

// `value` as a list of unsigned integers, with the same errors.
ZARRCORE_API std::vector<std::uint64_t> as_unsigned_list(const Json& value, std::string_view what);

// A comma after the last member.
enum class TrailingComma : bool { refused, accepted };

// Reads the members of an object one by one from its text, without creating values: documents of
// references and consolidated metadata have up to millions of members, of which a reader needs few.
// A value is only examined as far as it takes to find its end.
class JsonMembers {
 public:
  // Returns true if `text` begins as an object does.
  static bool is_object(std::string_view text);

  // `text` begins with the object, or white space before it, and must outlive this and all it
  // returns. Throws Error when it does not begin with an object.
  explicit JsonMembers(std::string_view text,
                       TrailingComma trailing_comma = TrailingComma::refused);

  // Moves to the next member; returns false after the last. Throws Error where the text is not
  // right, or ends.
  bool next();

  // The name of the member, still escaped, as between its quotation marks; see unescape_json().
  std::string_view raw_key() const { return key_; }
  // All text from the member's value on.
  std::string_view rest() const { return text_.substr(at_); }
  // The text of the value. Throws Error when it does not end.
  std::string_view value();

 private:
  // The next character; NUL, with which no token begins, at the end.
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip_space();
  // Skips `c` if it is the next character, and white space after it; returns true if it was.
  bool accept(char c);
  std::string_view read_raw_string();
  [[noreturn]] void fail(std::string_view expected) const;

  std::string_view text_;
  std::size_t at_ = 0;
  TrailingComma trailing_comma_;
  std::string_view key_;
  bool is_at_value_ = false;
  bool is_first_ = true;
};

// The string that is written as `raw` between quotation marks. Throws Error when `raw` is not
// right.
std::string unescape_json(std::string_view raw);

}  // namespace zarrcore
