// The compact protocol of Thrift
// (https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md), in which
// Parquet stores its metadata. Structures are read and written by tables of their fields.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "driver/stores/references/parquet/byte_reader.h"

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
  // A field that is a structure, or a list of structures: a function that reads one.
  struct Structure {
    std::function<void()> read;
  };
  struct Structures {
    std::function<void()> read;
  };
  // A field of a structure, and where its value is stored. Sizes are unsigned.
  struct Field {
    std::int64_t id;
    std::variant<std::int64_t*, std::optional<std::int64_t>*, std::uint64_t*, bool*, std::string*,
                 Structure, Structures>
        target;
  };

  // `bytes` must outlive this.
  explicit ThriftReader(zarrcore::ByteSpan bytes) : bytes_(bytes, "its metadata") {}

  // The number of bytes that have not been read.
  std::size_t bytes_left() const { return bytes_.size(); }

  // Reads a structure: sets the fields that it has, and skips those that `fields` does not name.
  // Throws zarrcore::Error when the bytes are no structure, or a field has another type.
  void read(std::initializer_list<Field> fields);

 private:
  void read_field(ThriftType type, std::int64_t* value);
  void read_field(ThriftType type, std::optional<std::int64_t>* value);
  void read_field(ThriftType type, std::uint64_t* value);
  void read_field(ThriftType type, bool* value);
  void read_field(ThriftType type, std::string* value);
  void read_field(ThriftType type, const Structure& structure);
  void read_field(ThriftType type, const Structures& structures);
  template <typename Read>
  void read_list(ThriftType type, const Read& read);
  void skip(ThriftType type);
  void skip_element(ThriftType type);
  void enter();

  ByteReader bytes_;
  int depth_ = 0;
};

// Values as the protocol has them.
std::string thrift_varint(std::uint64_t value);
std::string thrift_number(std::uint64_t value);  // of any width
std::string thrift_text(std::string_view text);

// A field for thrift_structure().
struct ThriftField {
  static ThriftField int32(int id, std::uint64_t value);
  static ThriftField int64(int id, std::uint64_t value);
  static ThriftField text(int id, std::string_view text);
  static ThriftField structure(int id, const std::vector<ThriftField>& fields);
  // `elements` are of the same type.
  static ThriftField list(int id, ThriftType type, const std::vector<std::string>& elements);

  int id = 0;
  ThriftType type = ThriftType::stop;
  std::string bytes;
};

// `fields` are in the order of their ids, which differ by 15 at most.
std::string thrift_structure(const std::vector<ThriftField>& fields);

}  // namespace gdal_zarr
