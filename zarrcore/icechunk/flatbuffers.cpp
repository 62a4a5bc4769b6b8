#include "zarrcore/icechunk/flatbuffers.h"

namespace zarrcore::icechunk {
namespace {

// The types of FlexBuffers.
constexpr unsigned kFlexString = 5;
constexpr unsigned kFlexMap = 9;

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

// The text whose offset has `width` bytes at `place`, if that is the type that `packed` says.
std::optional<std::string_view> text_at(ByteSpan buffer, std::uint64_t place, unsigned width,
                                        unsigned packed) {
  if (packed >> 2 != kFlexString) return std::nullopt;
  const std::uint64_t start = follow_back(buffer, place, width);
  const unsigned size_width = child_width(packed);
  return text_of(take(buffer, start, unsigned_at(buffer, before(start, size_width), size_width)));
}

// The place, width and packed type of the value at the root.
struct FlexRoot {
  explicit FlexRoot(ByteSpan buffer) {
    const std::uint64_t end = before(buffer.size(), 2);
    width = static_cast<unsigned>(unsigned_at(buffer, end + 1, 1));
    packed = static_cast<unsigned>(unsigned_at(buffer, end, 1));
    place = before(end, width);
  }

  std::uint64_t place;
  unsigned width;
  unsigned packed;
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

std::optional<FlexMap> FlexMap::root(ByteSpan buffer) {
  const FlexRoot root(buffer);
  return map_at(buffer, root.place, root.width, root.packed);
}

std::optional<std::string_view> flex_text(ByteSpan buffer) {
  const FlexRoot root(buffer);
  return text_at(buffer, root.place, root.width, root.packed);
}

std::optional<FlexMap> FlexMap::map_at(ByteSpan buffer, std::uint64_t place, unsigned width,
                                       unsigned packed) {
  if (packed >> 2 != kFlexMap) return std::nullopt;
  return FlexMap(buffer, follow_back(buffer, place, width), child_width(packed));
}

// In front of the values are the keys' offset, their width, and the number of both; the values'
// types follow them.
FlexMap::FlexMap(ByteSpan buffer, std::uint64_t start, unsigned width)
    : buffer_(buffer), start_(start), width_(width) {
  size_ = unsigned_at(buffer, before(start, width), width);
  key_width_ =
      static_cast<unsigned>(unsigned_at(buffer, before(start, std::uint64_t{2} * width), width));
  keys_ = follow_back(buffer, before(start, std::uint64_t{3} * width), width);
  if (size_ > buffer.size()) throw Error("the FlexBuffer is damaged: a map is too long");
  take(buffer, start, size_ * (width + std::uint64_t{1}));
  if (key_width_ > sizeof(std::uint64_t)) {
    throw Error("the FlexBuffer is damaged: keys are too wide");
  }
  take(buffer, keys_, size_ * key_width_);
}

std::string_view FlexMap::key(std::uint64_t i) const {
  const std::uint64_t start = follow_back(buffer_, keys_ + i * key_width_, key_width_);
  const std::string_view rest = text_of(take(buffer_, start, buffer_.size() - start));
  return rest.substr(0, rest.find('\0'));
}

unsigned FlexMap::packed_type(std::uint64_t i) const {
  return static_cast<unsigned>(unsigned_at(buffer_, start_ + size_ * width_ + i, 1));
}

// Maps have few members.
std::uint64_t FlexMap::find(std::string_view key) const {
  std::uint64_t i = 0;
  while (i < size_ && this->key(i) != key) ++i;
  return i;
}

std::optional<FlexMap> FlexMap::map(std::uint64_t i) const {
  return map_at(buffer_, start_ + i * width_, width_, packed_type(i));
}

std::optional<FlexMap> FlexMap::map(std::string_view key) const {
  const std::uint64_t i = find(key);
  return i < size_ ? map(i) : std::nullopt;
}

std::optional<std::string_view> FlexMap::text(std::string_view key) const {
  const std::uint64_t i = find(key);
  return i < size_ ? text_at(buffer_, start_ + i * width_, width_, packed_type(i)) : std::nullopt;
}

}  // namespace zarrcore::icechunk
