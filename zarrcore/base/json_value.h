// The type Json: nlohmann's JSON value, whose objects keep the order of their members, and whose
// lists and objects know how their numbers were spelled.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <functional>
#include <nlohmann/json.hpp>
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
