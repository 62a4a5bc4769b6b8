#include "driver/stores/references/parquet/thrift.h"

#include <algorithm>

namespace gdal_zarr {
namespace {

constexpr int kMaxThriftDepth = 32;  // of structures and lists in each other

}  // namespace

void ThriftReader::enter() {
  if (++depth_ > kMaxThriftDepth) bytes_.fail();
}

void ThriftReader::read(std::initializer_list<Field> fields) {
  enter();
  for (std::int64_t id = 0;;) {
    const std::uint64_t header = bytes_.take_number(1);
    const auto type = static_cast<ThriftType>(header & 0x0f);
    if (type == ThriftType::stop) break;
    const auto step = static_cast<std::int64_t>(header >> 4);
    id = step != 0 ? id + step : bytes_.take_zigzag();
    // Numbers of fields are of 16 bits.
    if (type > ThriftType::structure || id < INT16_MIN || id > INT16_MAX) bytes_.fail();
    const auto* const field = std::ranges::find(fields, id, &Field::id);
    if (field == fields.end()) {
      skip(type);
    } else {
      std::visit([&](const auto& target) { read_field(type, target); }, field->target);
    }
  }
  --depth_;
}

void ThriftReader::read_field(ThriftType type, std::int64_t* value) {
  if (type == ThriftType::int8) {
    const auto byte = static_cast<std::int64_t>(bytes_.take_number(1));
    *value = byte < 128 ? byte : byte - 256;
  } else if (type >= ThriftType::int16 && type <= ThriftType::int64) {
    *value = bytes_.take_zigzag();
  } else {
    bytes_.fail();
  }
}

void ThriftReader::read_field(ThriftType type, std::optional<std::int64_t>* value) {
  read_field(type, &value->emplace());
}

void ThriftReader::read_field(ThriftType type, std::uint64_t* value) {
  std::int64_t number = 0;
  read_field(type, &number);
  if (number < 0) throw zarrcore::Error("its metadata has a negative size");
  *value = static_cast<std::uint64_t>(number);
}

void ThriftReader::read_field(ThriftType type, bool* value) {
  if (type != ThriftType::yes && type != ThriftType::no) bytes_.fail();
  *value = type == ThriftType::yes;
}

void ThriftReader::read_field(ThriftType type, std::string* value) {
  if (type != ThriftType::binary) bytes_.fail();
  const zarrcore::ByteSpan text = bytes_.take(bytes_.take_varint());
  value->assign(reinterpret_cast<const char*>(text.data()), text.size());
}

void ThriftReader::read_field(ThriftType type, const Structure& structure) {
  if (type != ThriftType::structure) bytes_.fail();
  structure.read();
}

void ThriftReader::read_field(ThriftType type, const Structures& structures) {
  if (type != ThriftType::list && type != ThriftType::set) bytes_.fail();
  read_list(type, [&](ThriftType element) {
    if (element != ThriftType::structure) bytes_.fail();
    structures.read();
  });
}

// Calls `read` with the type of each element of a list, set or map; a map has two for each.
template <typename Read>
void ThriftReader::read_list(ThriftType type, const Read& read) {
  enter();
  const bool is_map = type == ThriftType::map;
  const std::uint64_t header = is_map ? 0 : bytes_.take_number(1);
  const bool is_short = !is_map && header >> 4 != 15;
  const std::uint64_t count = is_short ? header >> 4 : bytes_.take_varint();
  const std::uint64_t types = is_map && count > 0 ? bytes_.take_number(1) : header;
  // Each element takes at least a byte.
  if (count > bytes_.size()) bytes_.take(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    if (is_map) read(static_cast<ThriftType>(types >> 4));
    read(static_cast<ThriftType>(types & 0x0f));
  }
  --depth_;
}

// Skips an element of a list or a map, where a boolean takes a byte.
void ThriftReader::skip_element(ThriftType type) {
  const bool is_bool = type == ThriftType::yes || type == ThriftType::no;
  skip(is_bool ? ThriftType::int8 : type);
}

void ThriftReader::skip(ThriftType type) {
  switch (type) {
    case ThriftType::yes:
    case ThriftType::no:
      return;
    case ThriftType::int8:
      bytes_.take(1);
      return;
    case ThriftType::int16:
    case ThriftType::int32:
    case ThriftType::int64:
      bytes_.take_varint();
      return;
    case ThriftType::real:
      bytes_.take(8);
      return;
    case ThriftType::binary:
      bytes_.take(bytes_.take_varint());
      return;
    case ThriftType::list:
    case ThriftType::set:
    case ThriftType::map:
      read_list(type, [this](ThriftType element) { skip_element(element); });
      return;
    case ThriftType::structure:
      read({});
      return;
    default:
      bytes_.fail();
  }
}

std::string thrift_varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>((value & 0x7f) | 0x80);
  return bytes += static_cast<char>(value);
}

std::string thrift_number(std::uint64_t value) {
  return thrift_varint(value << 1);  // zigzag
}

std::string thrift_text(std::string_view text) {
  return thrift_varint(text.size()).append(text);
}

ThriftField ThriftField::int32(int id, std::uint64_t value) {
  return {id, ThriftType::int32, thrift_number(value)};
}

ThriftField ThriftField::int64(int id, std::uint64_t value) {
  return {id, ThriftType::int64, thrift_number(value)};
}

ThriftField ThriftField::text(int id, std::string_view text) {
  return {id, ThriftType::binary, thrift_text(text)};
}

ThriftField ThriftField::structure(int id, const std::vector<ThriftField>& fields) {
  return {id, ThriftType::structure, thrift_structure(fields)};
}

ThriftField ThriftField::list(int id, ThriftType type, const std::vector<std::string>& elements) {
  const std::size_t count = elements.size();
  const bool is_short = count < 15;
  std::string bytes(1,
                    static_cast<char>((is_short ? count : 15) << 4 | static_cast<unsigned>(type)));
  if (!is_short) bytes += thrift_varint(count);
  for (const std::string& element : elements) bytes += element;
  return {id, ThriftType::list, std::move(bytes)};
}

std::string thrift_structure(const std::vector<ThriftField>& fields) {
  std::string bytes;
  int last = 0;
  for (const ThriftField& field : fields) {
    bytes += static_cast<char>((field.id - last) << 4 | static_cast<int>(field.type));
    bytes += field.bytes;
    last = field.id;
  }
  return bytes += '\0';
}

}  // namespace gdal_zarr
