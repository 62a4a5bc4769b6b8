// FlatBuffers, the format of the files of an Icechunk repository, without a schema compiler: a
// caller names the fields of tables by their ids.
//
// Reading is checked and copies nothing: the buffer must outlive what is taken from it. An absent
// field is nullopt; Error is thrown where the buffer contradicts itself. Positions count from the
// start of the buffer.
//
// A buffer is written from its end: first what a table refers to, then the table, at last the root.
//
//   FlatBuilder builder;
//   FlatFields fields;
//   fields.number(1, 7U).offset(0, builder.text("name"));
//   if (!numbers.empty()) fields.offset(2, builder.numbers<std::uint32_t>(numbers));
//   file = builder.finish(builder.table(fields));
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "zarrcore/base/buffer.h"
#include "zarrcore/base/endian.h"
#include "zarrcore/base/error.h"

namespace zarrcore::icechunk {

// `size` bytes at `position`. Throws Error if they are not all in the buffer.
ByteSpan bytes_at(ByteSpan buffer, std::uint64_t position, std::uint64_t size);

inline std::string_view text_of(ByteSpan bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// A vector of numbers, tables (FlatTable), strings (std::string_view) or structures (ByteSpan).
template <typename Element>
class FlatVector {
 public:
  // Empty.
  FlatVector() = default;
  FlatVector(ByteSpan buffer, ByteSpan elements, std::size_t element_size)
      : buffer_(buffer), elements_(elements), element_size_(element_size) {}

  std::size_t size() const { return elements_.size() / element_size_; }
  Element operator[](std::size_t i) const;

  // Of sorted elements, the position of the first that `is_before(element)` is false for; size() if
  // there is none.
  template <typename IsBefore>
  std::size_t first_not_before(const IsBefore& is_before) const {
    std::size_t first = 0;
    std::size_t end = size();
    while (first < end) {
      const std::size_t middle = first + (end - first) / 2;
      if (is_before((*this)[middle])) {
        first = middle + 1;
      } else {
        end = middle;
      }
    }
    return first;
  }

  struct Iterator {
    const FlatVector* vector;
    std::size_t i;

    Element operator*() const { return (*vector)[i]; }
    Iterator& operator++() {
      ++i;
      return *this;
    }
    bool operator==(const Iterator& other) const { return i == other.i; }
  };
  Iterator begin() const { return {this, 0}; }
  Iterator end() const { return {this, size()}; }

 private:
  ByteSpan buffer_;
  ByteSpan elements_;
  std::size_t element_size_ = 1;
};

class FlatTable {
 public:
  // The table at the root of `buffer`.
  static FlatTable root(ByteSpan buffer);

  // The table at `position`.
  FlatTable(ByteSpan buffer, std::uint64_t position);

  template <typename Number>
  Number number(unsigned field, Number absent = 0) const {
    const auto bytes = structure(field, sizeof(Number));
    return bytes ? load_integer<Number>(bytes->data(), Endian::little) : absent;
  }
  // `size` bytes in the table itself.
  std::optional<ByteSpan> structure(unsigned field, std::size_t size) const;
  std::optional<FlatTable> table(unsigned field) const;
  // A vector of bytes.
  std::optional<ByteSpan> bytes(unsigned field) const { return elements(field, 1); }
  std::optional<std::string_view> text(unsigned field) const {
    const auto value = bytes(field);
    return value ? std::optional(text_of(*value)) : std::nullopt;
  }
  template <typename Element>
  std::optional<FlatVector<Element>> vector(
      unsigned field, std::size_t element_size = stored_size<Element>()) const {
    const auto found = elements(field, element_size);
    return found ? std::optional(FlatVector<Element>(buffer_, *found, element_size)) : std::nullopt;
  }
  std::optional<FlatVector<FlatTable>> tables(unsigned field) const {
    return vector<FlatTable>(field);
  }

 private:
  // Of an element: a number, or the offset of a table or a string.
  template <typename Element>
  static constexpr std::size_t stored_size() {
    return std::is_arithmetic_v<Element> ? sizeof(Element) : sizeof(std::uint32_t);
  }
  // The position of a field; 0 if it is absent.
  std::uint64_t place(unsigned field) const;
  std::optional<ByteSpan> elements(unsigned field, std::size_t element_size) const;

  ByteSpan buffer_;
  std::uint64_t position_;
  std::uint64_t field_table_ = 0;
  std::size_t field_table_size_ = 0;  // in bytes
  std::size_t table_size_ = 0;        // in bytes
};

using FlatTables = FlatVector<FlatTable>;

// The string and the table that the offset at a place of the buffer leads to.
std::string_view flat_text(ByteSpan buffer, const std::byte* place);
FlatTable flat_table(ByteSpan buffer, const std::byte* place);

template <typename Element>
Element FlatVector<Element>::operator[](std::size_t i) const {
  const ByteSpan element = elements_.subspan(i * element_size_, element_size_);
  if constexpr (std::is_same_v<Element, ByteSpan>) {
    return element;
  } else if constexpr (std::is_arithmetic_v<Element>) {
    return load_integer<Element>(element.data(), Endian::little);
  } else if constexpr (std::is_same_v<Element, std::string_view>) {
    return flat_text(buffer_, element.data());
  } else {
    return flat_table(buffer_, element.data());
  }
}

// The value of a field that must exist.
template <typename Value>
Value required(std::optional<Value> value, std::string_view name) {
  if (!value) throw Error("it has no " + std::string(name));
  return *std::move(value);
}

// A string, a vector or a table that has been written: how far its start is from the end.
using FlatTarget = std::uint32_t;

// The fields of a table. Fields that are not set are absent.
class FlatFields {
 public:
  static constexpr std::size_t kMaxFields = 16;

  template <typename Number>
  FlatFields& number(unsigned field, Number value) {
    store_integer(value, Endian::little, add(field, sizeof(Number), sizeof(Number)));
    return *this;
  }
  // Bytes in the table itself.
  FlatFields& structure(unsigned field, ByteSpan bytes) {
    std::memcpy(add(field, bytes.size(), 1), bytes.data(), bytes.size());
    return *this;
  }
  FlatFields& offset(unsigned field, FlatTarget target) {
    is_offset_[field] = true;
    return number(field, target);
  }

 private:
  friend class FlatBuilder;

  std::byte* add(unsigned field, std::size_t size, std::size_t alignment);

  std::array<std::uint16_t, kMaxFields> places_{};
  std::array<bool, kMaxFields> is_offset_{};
  std::array<std::byte, 160> content_{};  // begins with the offset to the table of fields
  std::size_t size_ = sizeof(std::uint32_t);
  std::size_t alignment_ = sizeof(std::uint32_t);
  unsigned count_ = 0;
};

class FlatBuilder {
 public:
  explicit FlatBuilder(std::size_t expected_size = 1024) : memory_(expected_size) {}

  FlatTarget table(const FlatFields& fields);
  FlatTarget text(std::string_view text);
  // A vector of structures or numbers of `size` bytes, which begin at multiples of `alignment`.
  FlatTarget structures(ByteSpan elements, std::size_t size, std::size_t alignment);
  FlatTarget bytes(ByteSpan bytes) { return structures(bytes, 1, 1); }
  // A vector of numbers, or of structures of several.
  template <typename Number, typename Values>
  FlatTarget numbers(const Values& values, std::size_t numbers_each = 1) {
    const std::size_t size = values.size() * sizeof(Number);
    std::byte* at = add_vector(values.size() / numbers_each, size, sizeof(Number));
    for (const auto value : values) {
      store_integer(static_cast<Number>(value), Endian::little, at);
      at += sizeof(Number);
    }
    return target();
  }
  // A vector of the tables or strings that `write(item)` has written of each item.
  template <typename Items, typename Write>
  FlatTarget vector(const Items& items, const Write& write) {
    std::vector<FlatTarget> targets;
    targets.reserve(items.size());
    for (const auto& item : items) targets.push_back(write(item));
    return offsets(targets);
  }

  // The buffer, whose root has been written last.
  ByteSpan finish(FlatTarget root);

 private:
  // Each adds bytes in front of what has been written; their start, or the first element's, is
  // aligned from the end on.
  std::byte* add(std::size_t size, std::size_t alignment);
  std::byte* add_vector(std::size_t count, std::size_t size, std::size_t alignment);
  FlatTarget offsets(const std::vector<FlatTarget>& targets);
  FlatTarget target() const { return static_cast<FlatTarget>(size_); }

  std::vector<std::byte> memory_;  // the buffer is at its end
  std::size_t size_ = 0;
  std::map<std::string, FlatTarget, std::less<>> field_tables_;  // by their layout
};

}  // namespace zarrcore::icechunk
