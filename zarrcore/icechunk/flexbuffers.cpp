#include "zarrcore/icechunk/flexbuffers.h"

#include <algorithm>
#include <bit>
#include <span>
#include <utility>

namespace zarrcore::icechunk {
namespace {

// The types of values in FlexBuffers.
constexpr unsigned kFlexNull = 0;
constexpr unsigned kFlexInt = 1;
constexpr unsigned kFlexUnsigned = 2;
constexpr unsigned kFlexFloat = 3;
constexpr unsigned kFlexKey = 4;
constexpr unsigned kFlexString = 5;
constexpr unsigned kFlexMap = 9;
constexpr unsigned kFlexVector = 10;
constexpr unsigned kFlexBool = 26;

std::uint64_t unsigned_at(ByteSpan buffer, std::uint64_t place, unsigned width) {
  if (width == 0 || width > 8 || (width & (width - 1)) != 0) {
    throw Error("the FlexBuffer is damaged: a number has " + std::to_string(width) + " bytes");
  }
  std::uint64_t number = 0;
  const ByteSpan bytes = bytes_at(buffer, place, width);
  for (unsigned i = 0; i < width; ++i) {
    number |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * i);
  }
  return number;
}

std::uint64_t before(std::uint64_t place, std::uint64_t distance) {
  if (distance > place) throw Error("the FlexBuffer is damaged: an offset leads past its start");
  return place - distance;
}

// The offsets of FlexBuffers lead back.
std::uint64_t follow_back(ByteSpan buffer, std::uint64_t place, unsigned width) {
  return before(place, unsigned_at(buffer, place, width));
}

unsigned child_width(unsigned packed) {
  return 1U << (packed & 3);
}

class FlexReader {
 public:
  explicit FlexReader(ByteSpan buffer) : buffer_(buffer), left_(buffer.size()) {}

  Json root() {
    const std::uint64_t end = before(buffer_.size(), 2);
    const auto width = static_cast<unsigned>(unsigned_at(buffer_, end + 1, 1));
    return value(before(end, width), width, packed_type(end), 0);
  }

 private:
  unsigned packed_type(std::uint64_t place) const {
    return static_cast<unsigned>(unsigned_at(buffer_, place, 1));
  }

  // The value with `width` bytes at `place`.
  Json value(std::uint64_t place, unsigned width, unsigned packed, std::size_t depth) {
    // Values can be shared, but no more of them are sensible than fit the buffer.
    if (depth > kMaxJsonDepth || left_ == 0) throw Error("the FlexBuffer is nested too deeply");
    --left_;
    switch (packed >> 2) {
      case kFlexNull:
        return nullptr;
      case kFlexInt: {
        const unsigned shift = 64 - 8 * width;
        const std::uint64_t bits = unsigned_at(buffer_, place, width) << shift;
        return static_cast<std::int64_t>(bits) >> shift;
      }
      case kFlexUnsigned:
        return unsigned_at(buffer_, place, width);
      case kFlexFloat:
        return real(unsigned_at(buffer_, place, width), width);
      case kFlexBool:
        return unsigned_at(buffer_, place, width) != 0;
      default:
        return target(follow_back(buffer_, place, width), child_width(packed), packed >> 2, depth);
    }
  }

  static double real(std::uint64_t bits, unsigned width) {
    return width == sizeof(float) ? std::bit_cast<float>(static_cast<std::uint32_t>(bits))
                                  : std::bit_cast<double>(bits);
  }

  // What an offset leads to; its numbers have `width` bytes.
  Json target(std::uint64_t start, unsigned width, unsigned type, std::size_t depth) {
    if (type == kFlexKey) return std::string(key(start));
    const std::uint64_t size = unsigned_at(buffer_, before(start, width), width);
    if (type == kFlexString) return std::string(text_of(bytes_at(buffer_, start, size)));
    if (type != kFlexMap && type != kFlexVector) {
      throw Error("the FlexBuffer has a value of the unknown type " + std::to_string(type));
    }
    if (size > buffer_.size()) throw Error("the FlexBuffer is damaged: a list is too long");
    // The values' types follow them.
    bytes_at(buffer_, start, size * (width + std::uint64_t{1}));
    Json values = type == kFlexMap ? Json::object() : Json::array();
    for (std::uint64_t i = 0; i < size; ++i) {
      Json item = value(start + i * width, width, packed_type(start + size * width + i), depth + 1);
      if (type == kFlexMap) {
        values[std::string(map_key(start, width, i))] = std::move(item);
      } else {
        values.push_back(std::move(item));
      }
    }
    return values;
  }

  // In front of the values are the keys' offset, their width, and the number of both.
  std::string_view map_key(std::uint64_t start, unsigned width, std::uint64_t i) const {
    const auto key_width =
        static_cast<unsigned>(unsigned_at(buffer_, before(start, std::uint64_t{2} * width), width));
    const std::uint64_t keys = follow_back(buffer_, before(start, std::uint64_t{3} * width), width);
    return key(follow_back(buffer_, keys + i * key_width, key_width));
  }

  std::string_view key(std::uint64_t start) const {
    const std::string_view rest = text_of(bytes_at(buffer_, start, buffer_.size() - start));
    return rest.substr(0, rest.find('\0'));
  }

  ByteSpan buffer_;
  std::size_t left_;  // values that may still be read
};

// Every number and every offset has eight bytes.
constexpr std::size_t kWidth = 8;
constexpr unsigned kWidthCode = 3;

class FlexWriter {
 public:
  std::string write(const Json& json) {
    const Value root = value(json);
    align();
    append_element(root);
    bytes_ += static_cast<char>(root.type << 2 | kWidthCode);
    bytes_ += static_cast<char>(kWidth);
    return std::move(bytes_);
  }

 private:
  // What a list or the end of the buffer has of a value: the value, or where it is.
  struct Value {
    unsigned type = kFlexNull;
    std::uint64_t bits = 0;
    bool is_place = false;
  };

  void align() { bytes_.resize((bytes_.size() + kWidth - 1) / kWidth * kWidth); }

  void append(std::uint64_t number) { append_integer(bytes_, number, Endian::little); }

  // Offsets lead back.
  void append_element(const Value& value) {
    append(value.is_place ? bytes_.size() - value.bits : value.bits);
  }

  Value placed(unsigned type) const { return {type, bytes_.size(), true}; }

  // Its size is in front of a text, and not of a key.
  Value text(unsigned type, std::string_view text) {
    align();
    if (type == kFlexString) append(text.size());
    const Value result = placed(type);
    bytes_ += text;
    bytes_ += '\0';
    return result;
  }

  Value value(const Json& json, std::size_t depth = 0) {
    if (depth > kMaxJsonDepth) refuse_json_depth();
    if (json.is_null()) return {};
    if (json.is_boolean()) return {kFlexBool, json.get<bool>() ? 1U : 0U};
    if (json.is_number_unsigned()) return {kFlexUnsigned, json.get<std::uint64_t>()};
    if (json.is_number_integer()) {
      return {kFlexInt, std::bit_cast<std::uint64_t>(json.get<std::int64_t>())};
    }
    if (json.is_number()) return {kFlexFloat, std::bit_cast<std::uint64_t>(json.get<double>())};
    if (json.is_string()) return text(kFlexString, json.get<std::string>());
    std::vector<Value> values;
    values.reserve(json.size());
    if (json.is_array()) {
      for (const Json& item : json) values.push_back(value(item, depth + 1));
      align();
      return list(kFlexVector, values);
    }
    // Sorted by their keys, which are searched by halving.
    std::vector<std::pair<std::string, const Json*>> members;
    for (const auto& [name, member] : json.items()) members.emplace_back(name, &member);
    std::ranges::sort(members);
    std::vector<Value> keys;
    keys.reserve(members.size());
    for (const auto& [name, member] : members) keys.push_back(text(kFlexKey, name));
    for (const auto& [name, member] : members) values.push_back(value(*member, depth + 1));
    align();
    append(keys.size());
    const Value first_key = placed(kFlexKey);
    for (const Value& key : keys) append_element(key);
    append_element(first_key);
    append(kWidth);
    return list(kFlexMap, values);
  }

  // The number of elements, the elements, and their types.
  Value list(unsigned type, const std::vector<Value>& values) {
    append(values.size());
    const Value result = placed(type);
    for (const Value& value : values) append_element(value);
    for (const Value& value : values) {
      bytes_ += static_cast<char>(value.type << 2 | kWidthCode);
    }
    return result;
  }

  std::string bytes_;
};

constexpr unsigned kName = 0;
constexpr unsigned kValue = 1;

// Nullopt for other values than texts: what is nested could be so as deep as the file is long.
std::optional<std::string> message_pack_text(std::string_view value) {
  const unsigned first = value.empty() ? 0 : static_cast<unsigned char>(value.front());
  const bool is_short = first >= 0xa0 && first < 0xc0;
  const bool is_long = first >= 0xd9 && first <= 0xdb;  // the size has one byte, two or four
  if (!is_short && !is_long) return std::nullopt;
  const Json json = Json::from_msgpack(value, true, false);
  const std::string* text = as_string(json);
  return text != nullptr ? std::optional(*text) : std::nullopt;
}

}  // namespace

Json read_flex_buffer(ByteSpan buffer) {
  return FlexReader(buffer).root();
}

std::string write_flex_buffer(const Json& json) {
  return FlexWriter().write(json);
}

Property text_property(std::string_view name, std::string_view text, int format) {
  const Json value = std::string(text);
  if (format > 1) return {std::string(name), write_flex_buffer(value)};
  const auto packed = Json::to_msgpack(value);
  return {std::string(name), {packed.begin(), packed.end()}};
}

std::optional<std::string> text_of(const Property& property, int format) {
  if (format == 1) return message_pack_text(property.value);
  const Json value = read_flex_buffer(std::as_bytes(std::span(property.value)));
  const std::string* text = as_string(value);
  return text != nullptr ? std::optional(*text) : std::nullopt;
}

std::vector<Property> read_properties(const FlatTable& table, unsigned field) {
  std::vector<Property> properties;
  for (const FlatTable item : table.tables(field).value_or(FlatTables())) {
    properties.push_back(
        {std::string(required(item.text(kName), "name of a property")),
         std::string(text_of(required(item.bytes(kValue), "value of a property")))});
  }
  return properties;
}

FlatTarget write_properties(FlatBuilder& builder, const std::vector<Property>& properties) {
  return builder.vector(properties, [&](const Property& property) {
    return builder.table(
        FlatFields()
            .offset(kName, builder.text(property.name))
            .offset(kValue, builder.bytes(std::as_bytes(std::span(property.value)))));
  });
}

}  // namespace zarrcore::icechunk
