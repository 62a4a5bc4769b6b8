// JSON as Zarr stores hold it: members keep their order; the last of equal keys wins; what Python's
// reader takes beyond RFC 8259 is taken, too: the bare words NaN, Infinity and -Infinity, numbers
// too large for a float64 (infinity), and lone surrogates (U+FFFD). Nesting is bounded so that no
// document can exhaust the stack.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "zarrcore/base/json_memory.h"
#include "zarrcore/base/ordered_object.h"

namespace zarrcore {

using Json = nlohmann::basic_json<OrderedObject>;

}  // namespace zarrcore

// That of the lists of values, also of those that the destructor makes of what it destroys.
template <>
class std::allocator<zarrcore::Json> {
 public:
  using value_type = zarrcore::Json;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using propagate_on_container_move_assignment = std::true_type;
  using is_always_equal = std::true_type;

  constexpr allocator() noexcept = default;
  template <typename Other>
  constexpr allocator(const allocator<Other>& /*other*/) noexcept {}  // NOLINT: as in the standard

  value_type* allocate(size_type count) {
    if (count > PTRDIFF_MAX / sizeof(value_type)) throw std::bad_array_new_length();
    return static_cast<value_type*>(zarrcore::allocate_json(count * sizeof(value_type)));
  }
  void deallocate(value_type* memory, size_type /*count*/) noexcept { zarrcore::free_json(memory); }

  bool operator==(const allocator& /*other*/) const noexcept { return true; }
};

namespace zarrcore::json {

// nlohmann::json makes a value of the text, and ends the process when there is no memory for it.
inline bool operator==(const Json& value, const char* text) {
  return value.is_string() && value.get_ref<const std::string&>() == text;
}
inline bool operator!=(const Json& value, const char* text) {
  return !(value == text);
}

}  // namespace zarrcore::json

namespace zarrcore {

inline constexpr int kMaxJsonDepth = 256;

// Throws Error with the position when `text` is not JSON.
Json parse_json(std::string_view text);

struct JsonStyle {
  int indentation = -1;   // spaces for each level; below zero the text is one line
  bool is_ascii = false;  // whether other characters are written as escapes
};

// The text of `value`; numbers that are not finite come out as the bare words.
std::string dump_json(const Json& value, JsonStyle style = {});

// The beginning of that text, for messages.
std::string excerpt(const Json& value);

// "an object", "a string"…, for messages.
std::string_view describe_kind(const Json& value);

// The member `key` of the object `value`, or null when it is absent or `value` is no object.
const Json* find_member(const Json& value, std::string_view key);

// The text of `value`, or null when it is not a string.
const std::string* as_string(const Json& value);

// The text of the member `key`, or null when there is no such member or it is not a string.
const std::string* find_string(const Json& value, std::string_view key);

// `value` as an unsigned integer. Throws Error that starts with `what` when it is not one.
std::uint64_t as_unsigned(const Json& value, std::string_view what);

// `value` as a list of unsigned integers, with the same errors.
std::vector<std::uint64_t> as_unsigned_list(const Json& value, std::string_view what);

}  // namespace zarrcore
