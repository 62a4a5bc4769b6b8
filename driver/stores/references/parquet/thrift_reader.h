// Reads the compact protocol of Thrift
// (https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md), in which
// Parquet keeps its metadata. A caller names the fields that it reads; others are skipped.
#pragma once

#include <cstdint>
#include <string>

#include "zarrcore/base/buffer.h"

namespace gdal_zarr {

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

class ThriftReader {
 public:
  // A field of a struct, or an element of a list, which has no number.
  struct Field {
    std::int64_t id = 0;
    ThriftType type = ThriftType::stop;
  };

  // `bytes` must outlive this and all it returns.
  explicit ThriftReader(zarrcore::ByteSpan bytes) : bytes_(bytes) {}

  // The number of bytes that have been read.
  std::size_t position() const { return at_; }

  // Reads a struct: calls `read(field)` for each field, which reads the field and returns true, or
  // returns false for a field to skip. Throws zarrcore::Error when the bytes are not a struct.
  template <typename Read>
  void read_struct(const Read& read) {
    enter();
    Field field;
    while (next_field(field)) {
      if (!read(field)) skip(field.type);
    }
    --depth_;
  }

  // Reads a list: calls `read(element)` for each element, which must read it.
  template <typename Read>
  void read_list(const Field& field, const Read& read) {
    enter();
    Field element;
    for (std::uint64_t count = begin_list(field, element); count > 0; --count) read(element);
    --depth_;
  }

  // These throw zarrcore::Error when the field has another type.
  std::int64_t read_integer(const Field& field);
  std::uint64_t read_unsigned(const Field& field);
  bool read_bool(const Field& field) const;
  zarrcore::ByteSpan read_binary(const Field& field);
  std::string read_text(const Field& field);
  void check_is_struct(const Field& field) const;

 private:
  void enter();
  bool next_field(Field& field);
  std::uint64_t begin_list(const Field& field, Field& element);
  void skip(ThriftType type);
  void skip_element(ThriftType type);
  std::uint8_t next_byte();
  std::uint64_t next_varint();
  std::int64_t next_zigzag();
  zarrcore::ByteSpan take(std::uint64_t count);

  zarrcore::ByteSpan bytes_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace gdal_zarr
