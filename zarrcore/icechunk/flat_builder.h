// Writes FlatBuffers, front to back: a table is followed by what its fields lead to. A caller
// writes the table with its numbers, and then each target of an offset into the place that the
// table has reserved for it.
//
//   FlatBuilder builder;
//   const auto root = builder.table(builder.root(), FlatFields().number(1,
//   7U).offset(0).offset(2)); builder.text(root[0], "name"); auto refs = builder.offsets(root[2],
//   10);   // the places of 10 offsets, 4 bytes apart
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "zarrcore/base/buffer.h"
#include "zarrcore/base/endian.h"

namespace zarrcore::icechunk {

// The fields of a table. Those that are not set are absent.
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
  // A string, vector or table, which is written later.
  FlatFields& offset(unsigned field) {
    add(field, sizeof(std::uint32_t), sizeof(std::uint32_t));
    return *this;
  }

 private:
  friend class FlatBuilder;

  std::byte* add(unsigned field, std::size_t size, std::size_t alignment);

  std::array<std::uint16_t, kMaxFields> places_{};
  std::array<std::byte, 160> content_{};  // begins with the offset to the table of fields
  std::size_t size_ = sizeof(std::uint32_t);
  std::size_t alignment_ = sizeof(std::uint32_t);
  unsigned count_ = 0;
};

class FlatBuilder {
 public:
  // Where an offset is stored, from the start of the buffer.
  using Place = std::size_t;

  // The places of a table's fields.
  class Table {
   public:
    Place operator[](unsigned field) const { return start_ + places_[field]; }

   private:
    friend class FlatBuilder;
    Table(std::size_t start, const FlatFields& fields) : start_(start), places_(fields.places_) {}

    std::size_t start_;
    std::array<std::uint16_t, FlatFields::kMaxFields> places_;
  };

  explicit FlatBuilder(std::size_t expected_size = 1024);

  static constexpr Place root() { return 0; }

  // Each writes the target of the offset at `place`.
  Table table(Place place, const FlatFields& fields);
  void text(Place place, std::string_view text);
  // A vector of structures or numbers of `size` bytes, which begin at multiples of `alignment`.
  void structures(Place place, ByteSpan elements, std::size_t size, std::size_t alignment);
  void bytes(Place place, ByteSpan bytes) { structures(place, bytes, 1, 1); }
  // A vector of tables or strings. Returns the place of the first; each has four bytes.
  Place offsets(Place place, std::size_t count);
  void texts(Place place, const std::vector<std::string>& texts);

  ByteSpan content() const { return content_; }

 private:
  void align(std::size_t alignment, std::size_t before = 0);
  void lead_here(Place place);
  template <typename Number>
  void append(Number value);

  std::vector<std::byte> content_;
  std::map<std::string, std::size_t, std::less<>> field_tables_;  // of those that have been written
};

}  // namespace zarrcore::icechunk
