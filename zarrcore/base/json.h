// JSON in Zarr stores. Members keep their order; the last of equal keys wins. Accepts what Python's
// reader accepts beyond RFC 8259: the bare words NaN, Infinity and -Infinity, numbers too large for
// a float64 (infinity), and lone surrogates (U+FFFD).
//
// The type Json is nlohmann's JSON value, whose objects keep the order of their members, and whose
// lists and objects know how their numbers were spelled.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "zarrcore/base/api.h"

// Its own namespace, for the operators at the end.
namespace zarrcore::json {

// How numbers of a list or object were spelled where no number of the Json type is spelled so:
// 1.10, 1e400, integers of 30 digits. Documents are written with these texts, so that a program
// that changes one member leaves the others as they are.
class ZARRCORE_API NumberTexts {
 public:
  // Sets the text of the item at `place` in its list or object.
  void set(std::size_t place, std::string_view text);
  // Empty if the item has none. Valid until the next change.
  std::string_view find(std::size_t place) const;

 private:
  struct Entry {
    std::size_t place;
    std::string text;
  };
  std::vector<Entry> entries_;  // sorted by place; most lists and objects have none
};

// An ObjectType of nlohmann::json: its ordered_map, with a hash index once there are many members.
// Documents of consolidated metadata have tens of thousands.
template <typename Key, typename T, typename IgnoredLess = std::less<Key>,
          typename Allocator = std::allocator<std::pair<const Key, T>>>
class Object : public nlohmann::ordered_map<Key, T, IgnoredLess, Allocator> {
  using Base = nlohmann::ordered_map<Key, T, IgnoredLess, Allocator>;

 public:
  using Base::Base;
  using typename Base::const_iterator;
  using typename Base::iterator;
  using typename Base::size_type;

  template <typename K>
  iterator find(const K& key) {
    return this->begin() + position(key);
  }
  template <typename K>
  const_iterator find(const K& key) const {
    return this->begin() + position(key);
  }

  template <typename K, typename... Args>
  std::pair<iterator, bool> emplace(K&& key, Args&&... args) {
    const auto it = find(key);
    if (it != this->end()) return {it, false};
    this->push_back({Key(std::forward<K>(key)), T(std::forward<Args>(args)...)});
    extend_index();
    return {this->end() - 1, true};
  }
  template <typename K>
  T& operator[](K&& key) {
    return emplace(std::forward<K>(key), T()).first->second;
  }

  template <typename K>
    requires(!std::is_convertible_v<K, const_iterator>)
  size_type erase(const K& key) {
    const auto it = find(key);
    if (it == this->end()) return 0;
    erase(it);
    return 1;
  }
  iterator erase(const_iterator member) { return erase(member, member + 1); }
  iterator erase(const_iterator first, const_iterator last) {
    const std::ptrdiff_t start = first - this->cbegin();
    const std::ptrdiff_t end = last - this->cbegin();
    retain_members([&](std::ptrdiff_t place) { return place < start || place >= end; });
    return this->begin() + start;
  }
  // Erases the members for whose names `test` returns true, in one pass.
  template <typename Test>
  void erase_members(const Test& test) {
    retain_members([&](std::ptrdiff_t place) { return !test(this->begin()[place].first); });
  }
  void clear() { *this = Object(); }

  NumberTexts& number_texts() { return number_texts_; }
  const NumberTexts& number_texts() const { return number_texts_; }

 private:
  static constexpr size_type kIndexFrom = 32;

  static std::size_t hash(std::string_view key) { return std::hash<std::string_view>()(key); }

  template <typename Retains>
  void retain_members(const Retains& retains) {
    Object retained;
    retained.reserve(this->size());
    for (size_type place = 0; place < this->size(); ++place) {
      if (!retains(static_cast<std::ptrdiff_t>(place))) continue;
      const std::string_view text = number_texts_.find(place);
      if (!text.empty()) retained.number_texts_.set(retained.size(), text);
      auto& [key, value] = this->data()[place];
      retained.push_back({key, std::move(value)});
    }
    retained.extend_index();
    *this = std::move(retained);
  }

  // Adds all members that are not in the index yet.
  void extend_index() {
    if (this->size() < kIndexFrom) return;
    for (size_type i = index_.size(); i < this->size(); ++i) {
      index_.emplace(hash(this->data()[i].first), i);
    }
  }

  // Returns the position of the member, or size() if it does not exist. Searches linearly if there
  // are few members, or if the library has added members without updating the index: several
  // threads may read one object, so the index is not built here.
  std::ptrdiff_t position(std::string_view key) const {
    const auto* members = this->data();
    size_type place = this->size();
    if (index_.size() == this->size()) {
      const auto [first, last] = index_.equal_range(hash(key));
      for (auto it = first; it != last; ++it) {
        if (members[it->second].first == key) place = it->second;
      }
    } else {
      place = 0;
      while (place < this->size() && members[place].first != key) ++place;
    }
    return static_cast<std::ptrdiff_t>(place);
  }

  std::unordered_multimap<std::size_t, size_type> index_;
  NumberTexts number_texts_;
};

// std::allocator as another type: see the specialization of std::vector below.
template <typename Item>
class ListAllocator : public std::allocator<Item> {
 public:
  ListAllocator() = default;
  template <typename Other>
  ListAllocator(const ListAllocator<Other>& /*other*/) {}  // NOLINT: as in the standard
};

// An ArrayType of nlohmann::json.
template <typename Item, typename IgnoredAllocator = std::allocator<Item>>
class List : public std::vector<Item, ListAllocator<Item>> {
 public:
  using std::vector<Item, ListAllocator<Item>>::vector;

  NumberTexts& number_texts() { return number_texts_; }
  const NumberTexts& number_texts() const { return number_texts_; }

 private:
  NumberTexts number_texts_;
};

}  // namespace zarrcore::json

namespace zarrcore {

using Json = nlohmann::basic_json<json::Object, json::List>;

}  // namespace zarrcore

// The destructor of a nlohmann::json list or object, which must not throw, moves its items to such
// a vector first, so that deep nesting cannot exhaust the stack. The memory for that might be
// missing, and the nesting of documents is bounded: this one destroys each item at once. It never
// holds any, so nobody else can make one. For lists of values there is Json::array_t.
template <>
class std::vector<zarrcore::Json> {
 public:
  using value_type = zarrcore::Json;

 private:
  friend value_type;
  vector() = default;

 public:
  void reserve(std::size_t /*size*/) {}
  void push_back(value_type&& item) { const value_type destroyed(std::move(item)); }
  bool empty() const { return true; }
  [[noreturn]] value_type& back() { std::abort(); }
  void pop_back() {}
};

// The library would make a Json of the text, also in functions that must not throw. In the
// namespace of Object, where the compiler looks when it compares a Json, and only then: anything
// that converts to Json would match here.
namespace zarrcore::json {

inline bool operator==(const Json& value, const char* text) {
  return value.is_string() && value.get_ref<const std::string&>() == text;
}
inline bool operator!=(const Json& value, const char* text) {
  return !(value == text);
}

}  // namespace zarrcore::json

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
