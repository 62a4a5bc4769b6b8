// The members of a JSON object in the order in which they were added, with a hash index once there
// are many: documents of consolidated metadata have tens of thousands.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/ordered_map.hpp>
#include <stdexcept>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include "zarrcore/base/number_texts.h"

// Its own namespace, for the operators of json_value.h.
namespace zarrcore::json {

// An ObjectType of nlohmann::json: an ordered_map with its own look-up by key.
template <typename Key, typename T, typename IgnoredLess = std::less<Key>,
          typename Allocator = std::allocator<std::pair<const Key, T>>>
class OrderedObject : public nlohmann::ordered_map<Key, T, IgnoredLess, Allocator> {
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
  template <typename K>
  size_type count(const K& key) const {
    return find(key) == this->end() ? 0 : 1;
  }
  template <typename K>
  T& at(const K& key) {
    const auto it = find(key);
    if (it == this->end()) throw std::out_of_range("key not found");
    return it->second;
  }
  template <typename K>
  const T& at(const K& key) const {
    const auto it = find(key);
    if (it == this->end()) throw std::out_of_range("key not found");
    return it->second;
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
    const auto place = static_cast<size_type>(first - this->cbegin());
    const auto count = static_cast<size_type>(last - first);
    number_texts_.erase(place, count);
    erase_from_index(place, count);
    return Base::erase(this->begin() + static_cast<std::ptrdiff_t>(place),
                       this->begin() + static_cast<std::ptrdiff_t>(place + count));
  }
  // Erases the members for whose names `test` returns true, in one pass.
  template <typename Test>
  void erase_members(const Test& test) {
    OrderedObject kept;
    kept.reserve(this->size());
    for (size_type place = 0; place < this->size(); ++place) {
      auto& [key, value] = this->data()[place];
      if (test(key)) continue;
      const std::string_view text = number_texts_.find(place);
      if (!text.empty()) kept.number_texts_.add(kept.size(), text);
      kept.push_back({key, std::move(value)});
    }
    kept.extend_index();
    this->swap(kept);
    index_ = std::move(kept.index_);
    number_texts_ = std::move(kept.number_texts_);
  }
  // Moves members, which invalidates the index.
  template <typename... Args>
  auto insert(Args&&... args) {
    index_.clear();
    return Base::insert(std::forward<Args>(args)...);
  }
  void clear() {
    index_.clear();
    number_texts_.clear();
    Base::clear();
  }

  NumberTexts& number_texts() { return number_texts_; }
  const NumberTexts& number_texts() const { return number_texts_; }

 private:
  static constexpr size_type kIndexFrom = 32;

  static std::size_t hash(std::string_view key) { return std::hash<std::string_view>()(key); }

  // Adds all members that are not in the index yet.
  void extend_index() {
    if (this->size() < kIndexFrom) return;
    for (size_type i = index_.size(); i < this->size(); ++i) {
      index_.emplace(hash(this->data()[i].first), i);
    }
  }

  // Before members are erased. An index that is invalid stays so.
  void erase_from_index(size_type place, size_type count) {
    if (index_.size() != this->size()) return index_.clear();
    for (auto it = index_.begin(); it != index_.end();) {
      if (it->second >= place && it->second - place < count) {
        it = index_.erase(it);
      } else {
        if (it->second > place) it->second -= count;
        ++it;
      }
    }
  }

  // The place of the member, or size() when there is none. Looks at all members when there are few
  // or the index is invalid; several threads may read one object, so the index is not made here.
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

}  // namespace zarrcore::json

namespace zarrcore {

using json::OrderedObject;

}  // namespace zarrcore
