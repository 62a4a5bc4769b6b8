// The compact protocol of Thrift
// (https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md), in which
// Parquet stores its metadata.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "zarrcore/base/buffer.h"
#include "zarrcore/base/error.h"

namespace gdal_zarr {

// Bytes of a Parquet file, read from the start to the end.
class ByteReader {
 public:
  // `bytes` must outlive this and all it returns. Errors begin with `name`.
  explicit ByteReader(zarrcore::ByteSpan bytes, const char* name = "its data")
      : rest_(bytes), name_(name) {}

  std::size_t size() const { return rest_.size(); }  // of the bytes that are left
  zarrcore::ByteSpan rest() const { return rest_; }

  // The next `count` bytes. This and the functions below throw zarrcore::Error when there are
  // fewer.
  zarrcore::ByteSpan take(std::uint64_t count) {
    if (count > rest_.size()) throw zarrcore::Error(std::string(name_) + " ends early");
    const zarrcore::ByteSpan bytes = rest_.first(count);
    rest_ = rest_.subspan(count);
    return bytes;
  }

  // A little-endian number of `size` bytes, up to 8.
  std::uint64_t take_number(std::size_t size) {
    std::uint64_t number = 0;
    const zarrcore::ByteSpan bytes = take(size);
    for (std::size_t i = 0; i < size; ++i) {
      number |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * i);
    }
    return number;
  }

  // Seven bits in each byte, the lowest first.
  std::uint64_t take_varint() {
    std::uint64_t number = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const std::uint64_t byte = take_number(1);
      number |= (byte & 0x7f) << shift;
      if (byte < 0x80) return number;
    }
    fail();
  }

  // A varint with the sign in its lowest bit.
  std::int64_t take_zigzag() {
    const std::uint64_t number = take_varint();
    return static_cast<std::int64_t>(number >> 1 ^ (~(number & 1) + 1));
  }

  [[noreturn]] void fail() const { throw zarrcore::Error(std::string(name_) + " is corrupt"); }

 private:
  zarrcore::ByteSpan rest_;
  const char* name_;
};

enum class ThriftType : std::uint8_t {
  stop = 0,
  yes = 1,
  no = 2,
  int8 = 3,
  int16 = 4,
  int32 = 5,
  int64 = 6,
  real = 7,
  binary = 8,
  list = 9,
  set = 10,
  map = 11,
  structure = 12,
};

// A value, and for a structure all that it has. The functions throw zarrcore::Error when the value
// is of another type. A field that is missing has no type, and its value is 0 or empty.
struct ThriftValue {
  bool is_missing() const { return type == ThriftType::stop; }
  // Of a structure, or of a missing one. The last of several fields with an id counts.
  const ThriftValue& field(int field_id) const;
  // Of a list of structures.
  const std::vector<ThriftValue>& structures() const;
  std::int64_t number(std::int64_t fallback = 0) const;
  std::uint64_t size() const;  // a number that is not negative
  bool flag(bool fallback) const;
  std::string text() const;

  ThriftType type = ThriftType::stop;
  int id = 0;  // of a field
  std::int64_t integer = 0;
  zarrcore::ByteSpan bytes = {};        // of a text
  std::vector<ThriftValue> parts = {};  // fields, or elements
};

// Removes the structure at the start of `bytes`, to which the result refers. Throws zarrcore::Error
// when there is none, or it has too many values.
ThriftValue take_thrift_structure(zarrcore::ByteSpan& bytes);

// Values to write: fields with their ids, or elements of a list with the id 0. Texts must outlive
// them. Elements are of the same type, and fields in the order of their ids, which differ by 15 at
// most.
ThriftValue thrift_int32(int id, std::uint64_t value);
ThriftValue thrift_int64(int id, std::uint64_t value);
ThriftValue thrift_text(int id, std::string_view text);
ThriftValue thrift_list(int id, std::vector<ThriftValue> elements);
ThriftValue thrift_structure(int id, std::vector<ThriftValue> fields);

// The bytes of a structure.
std::string thrift_bytes(const ThriftValue& structure);

// An unsigned number, as the protocol has it.
std::string thrift_varint(std::uint64_t value);

}  // namespace gdal_zarr
