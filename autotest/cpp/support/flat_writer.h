// Writes FlatBuffers for tests, which may also be wrong ones.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace zarrcore::test {

// Bytes of a number as they are stored.
template <typename Number>
std::string little(Number number) {
  std::string bytes;
  for (std::size_t i = 0; i < sizeof(Number); ++i) {
    bytes += static_cast<char>(static_cast<std::uint64_t>(number) >> (8 * i) & 0xff);
  }
  return bytes;
}

struct FlatObject;

struct FlatField {
  enum class Kind : std::uint8_t { in_table, vector, texts, table, tables };

  Kind kind = Kind::in_table;
  std::string bytes = {};   // in the table, or of all elements of a vector
  std::uint32_t count = 0;  // of a vector
  std::vector<std::string> texts = {};
  std::vector<FlatObject> tables;  // no initializer: the type is not complete yet
};

// A table: its fields by their ids.
struct FlatObject {
  std::map<unsigned, FlatField> fields;

  template <typename Number>
  FlatObject& number(unsigned field, Number value) {
    return in_table(field, little(value));
  }
  FlatObject& in_table(unsigned field, std::string bytes);
  FlatObject& vector(unsigned field, std::string_view bytes, std::size_t element_size = 1);
  FlatObject& text(unsigned field, std::string_view text) { return vector(field, text); }
  FlatObject& texts(unsigned field, std::vector<std::string> texts);
  FlatObject& table(unsigned field, FlatObject object);
  FlatObject& tables(unsigned field, std::vector<FlatObject> objects);

  std::vector<FlatObject>& tables_of(unsigned field) { return fields.at(field).tables; }
};

std::string write_flat_buffer(const FlatObject& root);

}  // namespace zarrcore::test
