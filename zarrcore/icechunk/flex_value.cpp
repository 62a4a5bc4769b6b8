#include "zarrcore/icechunk/flex_value.h"

#include <string>

#include "zarrcore/base/endian.h"
#include "zarrcore/base/error.h"

namespace zarrcore::icechunk {
namespace {

constexpr unsigned kString = 5;
constexpr unsigned kMap = 9;

ByteSpan take_flex(ByteSpan buffer, std::uint64_t place, std::uint64_t size) {
  if (place > buffer.size() || size > buffer.size() - place) {
    throw Error("the FlexBuffer is damaged: an offset leads past its end");
  }
  return buffer.subspan(memory_size(place), memory_size(size));
}

std::uint64_t unsigned_at(ByteSpan buffer, std::uint64_t place, unsigned width) {
  const std::byte* bytes = take_flex(buffer, place, width).data();
  switch (width) {
    case 1:
      return load_integer<std::uint8_t>(bytes, Endian::little);
    case 2:
      return load_integer<std::uint16_t>(bytes, Endian::little);
    case 4:
      return load_integer<std::uint32_t>(bytes, Endian::little);
    case 8:
      return load_integer<std::uint64_t>(bytes, Endian::little);
    default:
      throw Error("the FlexBuffer is damaged: a number has " + std::to_string(width) + " bytes");
  }
}

std::uint64_t before(std::uint64_t place, std::uint64_t distance) {
  if (distance > place) throw Error("the FlexBuffer is damaged: an offset leads past its start");
  return place - distance;
}

// Offsets lead back.
std::uint64_t follow_flex(ByteSpan buffer, std::uint64_t place, unsigned width) {
  return before(place, unsigned_at(buffer, place, width));
}

unsigned child_width(unsigned packed) {
  return 1U << (packed & 3);
}

}  // namespace

FlexValue FlexValue::root(ByteSpan buffer) {
  const std::uint64_t end = before(buffer.size(), 2);
  const auto width = static_cast<unsigned>(unsigned_at(buffer, end + 1, 1));
  const auto packed = static_cast<unsigned>(unsigned_at(buffer, end, 1));
  return {buffer, before(end, width), width, packed};
}

std::optional<std::string_view> FlexValue::text() const {
  if (packed_ >> 2 != kString) return std::nullopt;
  const std::uint64_t start = follow_flex(buffer_, place_, width_);
  const unsigned width = child_width(packed_);
  const std::uint64_t size = unsigned_at(buffer_, before(start, width), width);
  const ByteSpan bytes = take_flex(buffer_, start, size);
  return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

std::optional<FlexMap> FlexValue::map() const {
  if (packed_ >> 2 != kMap) return std::nullopt;
  return FlexMap(buffer_, follow_flex(buffer_, place_, width_), child_width(packed_));
}

// In front of the values are the keys' offset, their width, and the number of both; the values'
// types follow them.
FlexMap::FlexMap(ByteSpan buffer, std::uint64_t start, unsigned width)
    : buffer_(buffer), start_(start), width_(width) {
  size_ = unsigned_at(buffer, before(start, width), width);
  key_width_ =
      static_cast<unsigned>(unsigned_at(buffer, before(start, std::uint64_t{2} * width), width));
  keys_ = follow_flex(buffer, before(start, std::uint64_t{3} * width), width);
  if (size_ > buffer.size()) throw Error("the FlexBuffer is damaged: a map is too long");
  take_flex(buffer, start, size_ * (width + std::uint64_t{1}));
  if (key_width_ > sizeof(std::uint64_t))
    throw Error("the FlexBuffer is damaged: keys are too wide");
  take_flex(buffer, keys_, size_ * key_width_);
}

std::string_view FlexMap::key(std::uint64_t i) const {
  const std::uint64_t start = follow_flex(buffer_, keys_ + i * key_width_, key_width_);
  const ByteSpan rest = take_flex(buffer_, start, buffer_.size() - start);
  const std::string_view text(reinterpret_cast<const char*>(rest.data()), rest.size());
  return text.substr(0, text.find('\0'));
}

FlexValue FlexMap::value(std::uint64_t i) const {
  const auto packed = static_cast<unsigned>(unsigned_at(buffer_, start_ + size_ * width_ + i, 1));
  return {buffer_, start_ + i * width_, width_, packed};
}

// Maps have few members.
std::optional<FlexValue> FlexMap::find(std::string_view key) const {
  for (std::uint64_t i = 0; i < size_; ++i) {
    if (this->key(i) == key) return value(i);
  }
  return std::nullopt;
}

}  // namespace zarrcore::icechunk
