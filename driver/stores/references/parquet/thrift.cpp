#include "driver/stores/references/parquet/thrift.h"

#include <algorithm>
#include <span>
#include <utility>

namespace gdal_zarr {
namespace {

constexpr int kMaxThriftDepth = 32;  // of structures and lists in each other
constexpr std::size_t kMaxThriftValues = 1'000'000;

class ThriftParser {
 public:
  explicit ThriftParser(zarrcore::ByteSpan bytes) : bytes_(bytes, "its metadata") {}

  ThriftValue read_structure() {
    ThriftValue value{.type = ThriftType::structure};
    enter();
    for (std::int64_t id = 0;;) {
      const std::uint64_t header = bytes_.take_number(1);
      const auto type = static_cast<ThriftType>(header & 0x0f);
      if (type == ThriftType::stop) break;
      const auto step = static_cast<std::int64_t>(header >> 4);
      id = step != 0 ? id + step : bytes_.take_zigzag();
      // Numbers of fields are of 16 bits.
      if (id < INT16_MIN || id > INT16_MAX) bytes_.fail();
      value.parts.push_back(read(type));
      value.parts.back().id = static_cast<int>(id);
    }
    --depth_;
    return value;
  }

  zarrcore::ByteSpan rest() const { return bytes_.rest(); }

 private:
  void enter() {
    if (++depth_ > kMaxThriftDepth) bytes_.fail();
  }

  ThriftValue read(ThriftType type) {
    if (++count_ > kMaxThriftValues) throw zarrcore::Error("its metadata has too many values");
    ThriftValue value{.type = type};
    switch (type) {
      case ThriftType::yes:
      case ThriftType::no:
        break;
      case ThriftType::int8: {
        const auto number = static_cast<std::int64_t>(bytes_.take_number(1));
        value.integer = (number ^ 0x80) - 0x80;  // with its sign
        break;
      }
      case ThriftType::int16:
      case ThriftType::int32:
      case ThriftType::int64:
        value.integer = bytes_.take_zigzag();
        break;
      case ThriftType::real:
        bytes_.take(sizeof(double));
        break;
      case ThriftType::binary:
        value.bytes = bytes_.take(bytes_.take_varint());
        break;
      case ThriftType::list:
      case ThriftType::set:
      case ThriftType::map:
        value.parts = read_elements(type == ThriftType::map);
        break;
      case ThriftType::structure:
        return read_structure();
      default:
        bytes_.fail();
    }
    return value;
  }

  // A map has two for each element.
  std::vector<ThriftValue> read_elements(bool is_map) {
    enter();
    const std::uint64_t header = is_map ? 0 : bytes_.take_number(1);
    const bool is_short = !is_map && header >> 4 != 15;
    const std::uint64_t count = is_short ? header >> 4 : bytes_.take_varint();
    const std::uint64_t types = is_map && count > 0 ? bytes_.take_number(1) : header;
    // Each element takes at least a byte.
    if (count > bytes_.size()) bytes_.take(count);
    std::vector<ThriftValue> elements;
    for (std::uint64_t i = 0; i < count; ++i) {
      if (is_map) elements.push_back(read_element(static_cast<ThriftType>(types >> 4)));
      elements.push_back(read_element(static_cast<ThriftType>(types & 0x0f)));
    }
    --depth_;
    return elements;
  }

  // Outside of structures, a boolean takes a byte.
  ThriftValue read_element(ThriftType type) {
    const bool is_bool = type == ThriftType::yes || type == ThriftType::no;
    return read(is_bool ? ThriftType::int8 : type);
  }

  ByteReader bytes_;
  int depth_ = 0;
  std::size_t count_ = 0;  // of the values so far
};

// Throws unless the value is missing or of one of the types.
void check_type(const ThriftValue& value, ThriftType first, ThriftType last) {
  if (value.is_missing() || (value.type >= first && value.type <= last)) return;
  throw zarrcore::Error("its metadata is corrupt");
}

void append_thrift(std::string& bytes, const ThriftValue& value) {
  if (value.type == ThriftType::int32 || value.type == ThriftType::int64) {
    bytes += thrift_varint(static_cast<std::uint64_t>(value.integer) << 1);  // zigzag
  } else if (value.type == ThriftType::binary) {
    bytes += thrift_varint(value.bytes.size()) + value.text();
  } else if (value.type == ThriftType::list) {
    const std::size_t count = value.parts.size();
    const bool is_short = count < 15;
    const ThriftType type = value.parts.empty() ? ThriftType::structure : value.parts[0].type;
    bytes += static_cast<char>((is_short ? count : 15) << 4 | static_cast<unsigned>(type));
    if (!is_short) bytes += thrift_varint(count);
    for (const ThriftValue& element : value.parts) append_thrift(bytes, element);
  } else {
    int last = 0;
    for (const ThriftValue& field : value.parts) {
      bytes += static_cast<char>((field.id - last) << 4 | static_cast<int>(field.type));
      append_thrift(bytes, field);
      last = field.id;
    }
    bytes += '\0';
  }
}

}  // namespace

const ThriftValue& ThriftValue::field(int field_id) const {
  static const auto& missing = *new ThriftValue;
  check_type(*this, ThriftType::structure, ThriftType::structure);
  const auto found = std::find_if(parts.rbegin(), parts.rend(),
                                  [&](const ThriftValue& part) { return part.id == field_id; });
  return found != parts.rend() ? *found : missing;
}

const std::vector<ThriftValue>& ThriftValue::structures() const {
  check_type(*this, ThriftType::list, ThriftType::set);
  for (const ThriftValue& part : parts) {
    check_type(part, ThriftType::structure, ThriftType::structure);
  }
  return parts;
}

std::int64_t ThriftValue::number(std::int64_t fallback) const {
  check_type(*this, ThriftType::int8, ThriftType::int64);
  return is_missing() ? fallback : integer;
}

std::uint64_t ThriftValue::size() const {
  if (number() < 0) throw zarrcore::Error("its metadata has a negative size");
  return static_cast<std::uint64_t>(integer);
}

bool ThriftValue::flag(bool fallback) const {
  check_type(*this, ThriftType::yes, ThriftType::no);
  return is_missing() ? fallback : type == ThriftType::yes;
}

std::string ThriftValue::text() const {
  check_type(*this, ThriftType::binary, ThriftType::binary);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

ThriftValue take_thrift_structure(zarrcore::ByteSpan& bytes) {
  ThriftParser parser(bytes);
  ThriftValue value = parser.read_structure();
  bytes = parser.rest();
  return value;
}

ThriftValue thrift_int32(int id, std::uint64_t value) {
  return {.type = ThriftType::int32, .id = id, .integer = static_cast<std::int64_t>(value)};
}

ThriftValue thrift_int64(int id, std::uint64_t value) {
  return {.type = ThriftType::int64, .id = id, .integer = static_cast<std::int64_t>(value)};
}

ThriftValue thrift_text(int id, std::string_view text) {
  return {.type = ThriftType::binary, .id = id, .bytes = std::as_bytes(std::span(text))};
}

ThriftValue thrift_list(int id, std::vector<ThriftValue> elements) {
  return {.type = ThriftType::list, .id = id, .parts = std::move(elements)};
}

ThriftValue thrift_structure(int id, std::vector<ThriftValue> fields) {
  return {.type = ThriftType::structure, .id = id, .parts = std::move(fields)};
}

std::string thrift_bytes(const ThriftValue& structure) {
  std::string bytes;
  append_thrift(bytes, structure);
  return bytes;
}

std::string thrift_varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>((value & 0x7f) | 0x80);
  return bytes += static_cast<char>(value);
}

}  // namespace gdal_zarr
