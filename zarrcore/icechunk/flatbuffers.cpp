#include "zarrcore/icechunk/flatbuffers.h"

#include <algorithm>
#include <cstring>
#include <span>

namespace zarrcore::icechunk {
namespace {

constexpr std::string_view kIdentifier = "Ichk";
constexpr std::uint32_t kOffsetSize = sizeof(std::uint32_t);
// What all readers take; offsets could lead further.
constexpr std::size_t kMaxFlatSize = std::size_t{1} << 30;
// Of numbers and structures. A buffer has a multiple of it, so that places that are aligned from
// the end are aligned from the start.
constexpr std::size_t kMaxAlignment = 8;

template <typename Number>
Number number_at(ByteSpan buffer, std::uint64_t position) {
  return load_integer<Number>(bytes_at(buffer, position, sizeof(Number)).data(), Endian::little);
}

std::uint64_t position_of(ByteSpan buffer, const std::byte* place) {
  return static_cast<std::uint64_t>(place - buffer.data());
}

// The position that the offset at `place` leads to. It is zero nowhere, and always leads forward.
std::uint64_t follow(ByteSpan buffer, std::uint64_t place) {
  const auto offset = number_at<std::uint32_t>(buffer, place);
  if (offset == 0) throw Error("the FlatBuffer is damaged: an offset is zero");
  return place + offset;
}

// The elements of the vector at `position`. The count has 32 bits, so nothing overflows.
ByteSpan elements_at(ByteSpan buffer, std::uint64_t position, std::size_t element_size) {
  const std::uint64_t count = number_at<std::uint32_t>(buffer, position);
  return bytes_at(buffer, position + sizeof(std::uint32_t), count * element_size);
}

std::size_t rounded_up(std::size_t size, std::size_t alignment) {
  return (size + alignment - 1) / alignment * alignment;
}

}  // namespace

ByteSpan bytes_at(ByteSpan buffer, std::uint64_t position, std::uint64_t size) {
  if (position > buffer.size() || size > buffer.size() - position) {
    throw Error("the buffer is damaged: an offset leads past its end");
  }
  return buffer.subspan(memory_size(position), memory_size(size));
}

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
  bytes_at(buffer, field_table_, field_table_size_);
  bytes_at(buffer, position, table_size_);
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
  return bytes_at(buffer_, start, size);
}

std::optional<FlatTable> FlatTable::table(unsigned field) const {
  if (!structure(field, kOffsetSize)) return std::nullopt;
  return FlatTable(buffer_, follow(buffer_, place(field)));
}

std::optional<ByteSpan> FlatTable::elements(unsigned field, std::size_t element_size) const {
  if (!structure(field, kOffsetSize)) return std::nullopt;
  return elements_at(buffer_, follow(buffer_, place(field)), element_size);
}

std::string_view flat_text(ByteSpan buffer, const std::byte* place) {
  return text_of(elements_at(buffer, follow(buffer, position_of(buffer, place)), 1));
}

FlatTable flat_table(ByteSpan buffer, const std::byte* place) {
  return {buffer, follow(buffer, position_of(buffer, place))};
}

std::byte* FlatFields::add(unsigned field, std::size_t size, std::size_t alignment) {
  size_ = rounded_up(size_, alignment);
  places_[field] = static_cast<std::uint16_t>(size_);
  alignment_ = std::max(alignment_, alignment);
  count_ = std::max(count_, field + 1);
  std::byte* const place = content_.data() + size_;
  size_ += size;
  return place;
}

std::byte* FlatBuilder::add(std::size_t size, std::size_t alignment) {
  const std::size_t needed = rounded_up(size_ + size, alignment);
  if (needed > kMaxFlatSize) {
    throw Error("a file of the repository would have more than " + std::to_string(kMaxFlatSize) +
                " bytes");
  }
  if (needed > memory_.size()) {
    std::vector<std::byte> larger(std::max(needed, 2 * memory_.size()));
    std::copy_n(memory_.end() - static_cast<std::ptrdiff_t>(size_), size_,
                larger.end() - static_cast<std::ptrdiff_t>(size_));
    memory_.swap(larger);
  }
  size_ = needed;
  return memory_.data() + (memory_.size() - size_);
}

std::byte* FlatBuilder::add_vector(std::size_t count, std::size_t size, std::size_t alignment) {
  add(size, std::max<std::size_t>(alignment, kOffsetSize));
  std::byte* const start = add(kOffsetSize, kOffsetSize);
  store_integer(static_cast<std::uint32_t>(count), Endian::little, start);
  return start + kOffsetSize;
}

// Tables with the same fields share the table of these, which is in front of the first.
FlatTarget FlatBuilder::table(const FlatFields& fields) {
  std::memcpy(add(fields.size_, fields.alignment_), fields.content_.data(), fields.size_);
  const FlatTarget table = target();
  std::string layout(reinterpret_cast<const char*>(fields.places_.data()),
                     fields.count_ * sizeof(std::uint16_t));
  layout += static_cast<char>(fields.size_);
  auto known = field_tables_.find(layout);
  if (known == field_tables_.end()) {
    std::byte* at = add((fields.count_ + std::size_t{2}) * sizeof(std::uint16_t), kOffsetSize);
    const auto append = [&](std::size_t number) {
      store_integer(static_cast<std::uint16_t>(number), Endian::little, at);
      at += sizeof(std::uint16_t);
    };
    append((fields.count_ + std::size_t{2}) * sizeof(std::uint16_t));
    append(fields.size_);
    for (unsigned i = 0; i < fields.count_; ++i) append(fields.places_[i]);
    known = field_tables_.emplace(std::move(layout), target()).first;
  }
  std::byte* const start = memory_.data() + (memory_.size() - table);
  store_integer(known->second - table, Endian::little, start);  // negative if it is after the table
  for (unsigned i = 0; i < fields.count_; ++i) {
    if (!fields.is_offset_[i]) continue;
    std::byte* const place = start + fields.places_[i];
    const auto to = load_integer<std::uint32_t>(place, Endian::little);
    store_integer(table - fields.places_[i] - to, Endian::little, place);
  }
  return table;
}

FlatTarget FlatBuilder::structures(ByteSpan elements, std::size_t size, std::size_t alignment) {
  std::byte* const start = add_vector(elements.size() / size, elements.size(), alignment);
  std::ranges::copy(elements, start);
  return target();
}

// A zero follows.
FlatTarget FlatBuilder::text(std::string_view text) {
  std::ranges::copy(std::as_bytes(std::span(text)), add_vector(text.size(), text.size() + 1, 1));
  return target();
}

FlatTarget FlatBuilder::offsets(const std::vector<FlatTarget>& targets) {
  const std::size_t size = targets.size() * kOffsetSize;
  std::byte* at = add_vector(targets.size(), size, kOffsetSize);
  FlatTarget place = target() - kOffsetSize;  // of the first, from the end
  for (const FlatTarget to : targets) {
    store_integer(place - to, Endian::little, at);
    at += kOffsetSize;
    place -= kOffsetSize;
  }
  return target();
}

ByteSpan FlatBuilder::finish(FlatTarget root) {
  std::byte* const start = add(kOffsetSize + kIdentifier.size(), kMaxAlignment);
  store_integer(target() - root, Endian::little, start);
  std::ranges::copy(std::as_bytes(std::span(kIdentifier)), start + kOffsetSize);
  return {start, size_};
}

}  // namespace zarrcore::icechunk
