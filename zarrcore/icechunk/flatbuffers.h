// Checked access to FlatBuffers, the format of the files of an Icechunk repository, and to
// FlexBuffers, that of its configuration and properties, without a schema compiler: a caller names
// the fields of tables by their ids. Nothing is copied; the buffer must outlive what is taken from
// it. An absent field is nullopt; Error is thrown where the buffer contradicts itself. All
// positions count from the start of the buffer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "zarrcore/base/buffer.h"
#include "zarrcore/base/endian.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/json.h"

namespace zarrcore::icechunk {

// Numbers and structures that follow each other: `size()` elements of the same size.
class FlatStructures {
 public:
  FlatStructures(ByteSpan bytes, std::size_t element_size)
      : bytes_(bytes), element_size_(element_size) {}

  std::size_t size() const { return bytes_.size() / element_size_; }
  ByteSpan operator[](std::size_t i) const {
    return bytes_.subspan(i * element_size_, element_size_);
  }

 private:
  ByteSpan bytes_;
  std::size_t element_size_;
};

// A vector of tables (FlatTable) or of strings (std::string_view).
template <typename Element>
class FlatVector {
 public:
  FlatVector(ByteSpan buffer, ByteSpan offsets) : buffer_(buffer), offsets_(offsets) {}

  std::size_t size() const { return offsets_.size() / sizeof(std::uint32_t); }
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

 private:
  ByteSpan buffer_;
  ByteSpan offsets_;
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
  std::optional<std::string_view> text(unsigned field) const;
  // A vector of bytes.
  std::optional<ByteSpan> bytes(unsigned field) const;
  // A vector of elements of `element_size` bytes.
  std::optional<FlatStructures> structures(unsigned field, std::size_t element_size) const;
  std::optional<FlatVector<FlatTable>> tables(unsigned field) const;
  std::optional<FlatVector<std::string_view>> texts(unsigned field) const;

 private:
  // The position of a field; 0 if it is absent.
  std::uint64_t place(unsigned field) const;
  // The elements of a vector.
  std::optional<ByteSpan> vector(unsigned field, std::size_t element_size) const;

  ByteSpan buffer_;
  std::uint64_t position_;
  std::uint64_t field_table_ = 0;
  std::size_t field_table_size_ = 0;  // in bytes
  std::size_t table_size_ = 0;        // in bytes
};

using FlatTables = FlatVector<FlatTable>;
using FlatTexts = FlatVector<std::string_view>;
template <>
FlatTable FlatTables::operator[](std::size_t i) const;
template <>
std::string_view FlatTexts::operator[](std::size_t i) const;

// The value of a field that must exist.
template <typename Value>
Value required(std::optional<Value> value, std::string_view name) {
  if (!value) throw Error("it has no " + std::string(name));
  return *std::move(value);
}

// The content of a FlexBuffer as JSON. Throws Error when it is damaged, and for types that Icechunk
// does not write: typed vectors, blobs.
Json read_flex_buffer(ByteSpan buffer);
// The reverse.
std::string write_flex_buffer(const Json& json);

}  // namespace zarrcore::icechunk
