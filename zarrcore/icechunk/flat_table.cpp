#include "zarrcore/icechunk/flat_table.h"

namespace zarrcore::icechunk {
namespace {

// `size` bytes at `position`.
ByteSpan take(ByteSpan buffer, std::uint64_t position, std::uint64_t size) {
  if (position > buffer.size() || size > buffer.size() - position) {
    throw Error("the FlatBuffer is damaged: an offset leads past its end");
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

std::optional<std::uint64_t> FlatTable::target(unsigned field) const {
  if (!structure(field, sizeof(std::uint32_t))) return std::nullopt;
  return follow(buffer_, place(field));
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
  const auto position = target(field);
  if (!position) return std::nullopt;
  return FlatTable(buffer_, *position);
}

std::optional<std::string_view> FlatTable::text(unsigned field) const {
  const auto value = bytes(field);
  if (!value) return std::nullopt;
  return text_of(*value);
}

std::optional<ByteSpan> FlatTable::bytes(unsigned field) const {
  const auto position = target(field);
  if (!position) return std::nullopt;
  return vector_at(buffer_, *position, 1);
}

std::optional<FlatStructures> FlatTable::structures(unsigned field,
                                                    std::size_t element_size) const {
  const auto position = target(field);
  if (!position) return std::nullopt;
  return FlatStructures(vector_at(buffer_, *position, element_size), element_size);
}

std::optional<FlatTables> FlatTable::tables(unsigned field) const {
  const auto position = target(field);
  if (!position) return std::nullopt;
  return FlatTables(buffer_, vector_at(buffer_, *position, sizeof(std::uint32_t)));
}

std::optional<FlatTexts> FlatTable::texts(unsigned field) const {
  const auto position = target(field);
  if (!position) return std::nullopt;
  return FlatTexts(buffer_, vector_at(buffer_, *position, sizeof(std::uint32_t)));
}

FlatTable FlatTables::operator[](std::size_t i) const {
  return {buffer_, element_target(buffer_, offsets_, i)};
}

std::string_view FlatTexts::operator[](std::size_t i) const {
  return text_of(vector_at(buffer_, element_target(buffer_, offsets_, i), 1));
}

}  // namespace zarrcore::icechunk
