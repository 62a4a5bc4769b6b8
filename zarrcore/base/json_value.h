// The type Json: nlohmann's JSON value, whose objects keep the order of their members, and whose
// lists and objects know how their numbers were spelled.
//
// Two operations of that library allocate memory and are noexcept, so that running out of memory
// there would end the whole process: the destructor of a list or object, which moves its items to a
// std::vector first, and the comparison with a string literal, which makes a value of the literal.
// This header replaces the memory of the one and the other altogether.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "zarrcore/base/api.h"
#include "zarrcore/base/number_texts.h"
#include "zarrcore/base/ordered_object.h"

namespace zarrcore {
namespace json {

// An ArrayType of nlohmann::json.
template <typename Item, typename Allocator = std::allocator<Item>>
class List : public std::vector<Item, Allocator> {
 public:
  using std::vector<Item, Allocator>::vector;

  NumberTexts& number_texts() { return number_texts_; }
  const NumberTexts& number_texts() const { return number_texts_; }

 private:
  NumberTexts number_texts_;
};

}  // namespace json

using Json = nlohmann::basic_json<OrderedObject, json::List>;

// Memory from the system, or when it has none, from a reserve of a megabyte. Throws std::bad_alloc
// when that is exhausted as well.
ZARRCORE_API void* allocate_json(std::size_t bytes);
ZARRCORE_API void free_json(void* memory) noexcept;

}  // namespace zarrcore

// The allocator of all lists of values, and of the list that the destructor makes.
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

// In the namespace of OrderedObject, where the compiler looks when it compares a Json, and only
// then: anything that converts to Json would match here.
namespace zarrcore::json {

inline bool operator==(const Json& value, const char* text) {
  return value.is_string() && value.get_ref<const std::string&>() == text;
}
inline bool operator!=(const Json& value, const char* text) {
  return !(value == text);
}

}  // namespace zarrcore::json
