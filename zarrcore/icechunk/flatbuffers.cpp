#include "zarrcore/icechunk/flatbuffers.h"

#include <bit>

#include "zarrcore/icechunk/flex_types.h"

namespace zarrcore::icechunk {
namespace {

// `size` bytes at `position`.
ByteSpan take(ByteSpan buffer, std::uint64_t position, std::uint64_t size) {
  if (position > buffer.size() || size > buffer.size() - position) {
    throw Error("the buffer is damaged: an offset leads past its end");
  }
  return buffer.subspan(memory_size(position), memory_size(size));
}

template <typename Number>
Number number_at(ByteSpan buffer, std::uint64_t position) {
  return load_integer<Number>(take(buffer, position, sizeof(Number)).data(), Endian::little);
}

// The position that the offset at `place` leads to. It is zero nowhere, and always leads forward.
std::uint64_t follow(ByteSpan buffer, std::uint64_t place) {
  const auto offset = number_at<std::uint32_t>(buffer, place);
  if (offset == 0) throw Error("the FlatBuffer is damaged: an offset is zero");
  return place + offset;
}

// The elements of the vector at `position`. The count has 32 bits, so nothing overflows.
ByteSpan vector_at(ByteSpan buffer, std::uint64_t position, std::size_t element_size) {
  const std::uint64_t count = number_at<std::uint32_t>(buffer, position);
  return take(buffer, position + sizeof(std::uint32_t), count * element_size);
}

std::string_view text_of(ByteSpan bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::uint64_t element_target(ByteSpan buffer, ByteSpan offsets, std::size_t i) {
  const auto start = static_cast<std::uint64_t>(offsets.data() - buffer.data());
  return follow(buffer, start + i * sizeof(std::uint32_t));
}

std::uint64_t unsigned_at(ByteSpan buffer, std::uint64_t place, unsigned width) {
  if (width == 0 || width > 8 || (width & (width - 1)) != 0) {
    throw Error("the FlexBuffer is damaged: a number has " + std::to_string(width) + " bytes");
  }
  std::uint64_t number = 0;
  const ByteSpan bytes = take(buffer, place, width);
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
        return width == sizeof(float)
                   ? std::bit_cast<float>(number_at<std::uint32_t>(buffer_, place))
                   : std::bit_cast<double>(number_at<std::uint64_t>(buffer_, place));
      case kFlexBool:
        return unsigned_at(buffer_, place, width) != 0;
      default:
        return target(follow_back(buffer_, place, width), child_width(packed), packed >> 2, depth);
    }
  }

  // What an offset leads to; its numbers have `width` bytes.
  Json target(std::uint64_t start, unsigned width, unsigned type, std::size_t depth) {
    if (type == kFlexKey) return std::string(key(start));
    const std::uint64_t size = unsigned_at(buffer_, before(start, width), width);
    if (type == kFlexString) return std::string(text_of(take(buffer_, start, size)));
    if (type != kFlexMap && type != kFlexVector) {
      throw Error("the FlexBuffer has a value of the unknown type " + std::to_string(type));
    }
    if (size > buffer_.size()) throw Error("the FlexBuffer is damaged: a list is too long");
    // The values' types follow them.
    take(buffer_, start, size * (width + std::uint64_t{1}));
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
    const std::string_view rest = text_of(take(buffer_, start, buffer_.size() - start));
    return rest.substr(0, rest.find('\0'));
  }

  ByteSpan buffer_;
  std::size_t left_;  // values that may still be read
};

}  // namespace

FlatTable FlatTable::root(ByteSpan buffer) {
  return {buffer, follow(buffer, 0)};
}

FlatTable::FlatTable(ByteSpan buffer, std::uint64_t position)
    : buffer_(buffer), position_(position) {
  const auto back = static_cast<std::int32_t>(number_at<std::uint32_t>(buffer, position));
  const std::int64_t at = static_cast<std::int64_t>(position) - back;
  if (at < 0) throw Error("the FlatBuffer is damaged: an offset leads past its start");
  field_table_ = static_cast<std::uint64_t>(at);
  field_table_size_ = number_at<std::uint16_t>(buffer, field_table_);
  table_size_ = number_at<std::uint16_t>(buffer, field_table_ + sizeof(std::uint16_t));
  if (field_table_size_ < 2 * sizeof(std::uint16_t) || table_size_ < sizeof(std::uint32_t)) {
    throw Error("the FlatBuffer is damaged: a table has no size");
  }
  take(buffer, field_table_, field_table_size_);
  take(buffer, position, table_size_);
}

std::uint64_t FlatTable::place(unsigned field) const {
  const std::size_t entry = (field + std::size_t{2}) * sizeof(std::uint16_t);
  if (entry + sizeof(std::uint16_t) > field_table_size_) return 0;
  const auto offset = number_at<std::uint16_t>(buffer_, field_table_ + entry);
  return offset == 0 ? 0 : position_ + offset;
}

std::optional<ByteSpan> FlatTable::structure(unsigned field, std::size_t size) const {
  const std::uint64_t start = place(field);
  if (start == 0) return std::nullopt;
  if (start - position_ + size > table_size_) {
    throw Error("the FlatBuffer is damaged: a field is outside of its table");
  }
  return take(buffer_, start, size);
}

std::optional<FlatTable> FlatTable::table(unsigned field) const {
  if (!structure(field, sizeof(std::uint32_t))) return std::nullopt;
  return FlatTable(buffer_, follow(buffer_, place(field)));
}

std::optional<ByteSpan> FlatTable::vector(unsigned field, std::size_t element_size) const {
  if (!structure(field, sizeof(std::uint32_t))) return std::nullopt;
  return vector_at(buffer_, follow(buffer_, place(field)), element_size);
}

std::optional<ByteSpan> FlatTable::bytes(unsigned field) const {
  return vector(field, 1);
}

std::optional<std::string_view> FlatTable::text(unsigned field) const {
  const auto value = bytes(field);
  return value ? std::optional(text_of(*value)) : std::nullopt;
}

std::optional<FlatStructures> FlatTable::structures(unsigned field,
                                                    std::size_t element_size) const {
  const auto elements = vector(field, element_size);
  return elements ? std::optional(FlatStructures(*elements, element_size)) : std::nullopt;
}

std::optional<FlatTables> FlatTable::tables(unsigned field) const {
  const auto offsets = vector(field, sizeof(std::uint32_t));
  return offsets ? std::optional(FlatTables(buffer_, *offsets)) : std::nullopt;
}

std::optional<FlatTexts> FlatTable::texts(unsigned field) const {
  const auto offsets = vector(field, sizeof(std::uint32_t));
  return offsets ? std::optional(FlatTexts(buffer_, *offsets)) : std::nullopt;
}

template <>
FlatTable FlatTables::operator[](std::size_t i) const {
  return {buffer_, element_target(buffer_, offsets_, i)};
}

template <>
std::string_view FlatTexts::operator[](std::size_t i) const {
  return text_of(vector_at(buffer_, element_target(buffer_, offsets_, i), 1));
}

Json read_flex_buffer(ByteSpan buffer) {
  return FlexReader(buffer).root();
}

}  // namespace zarrcore::icechunk
