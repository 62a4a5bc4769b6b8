#include "zarrcore/icechunk/flat_builder.h"

#include <algorithm>
#include <cstring>

#include "zarrcore/base/error.h"

namespace zarrcore::icechunk {
namespace {

constexpr std::string_view kIdentifier = "Ichk";
// What all readers take; offsets could lead further.
constexpr std::size_t kMaxFlatSize = std::size_t{1} << 30;

}  // namespace

std::byte* FlatFields::add(unsigned field, std::size_t size, std::size_t alignment) {
  size_ = (size_ + alignment - 1) / alignment * alignment;
  places_[field] = static_cast<std::uint16_t>(size_);
  alignment_ = std::max(alignment_, alignment);
  count_ = std::max(count_, field + 1);
  std::byte* const place = content_.data() + size_;
  size_ += size;
  return place;
}

FlatBuilder::FlatBuilder(std::size_t expected_size) {
  content_.reserve(expected_size);
  append(std::uint32_t{0});
  const auto identifier = std::as_bytes(std::span(kIdentifier));
  content_.insert(content_.end(), identifier.begin(), identifier.end());
}

// So that what follows after `before` bytes is aligned.
void FlatBuilder::align(std::size_t alignment, std::size_t before) {
  const std::size_t end = content_.size() + before;
  content_.resize((end + alignment - 1) / alignment * alignment - before);
  if (content_.size() > kMaxFlatSize) {
    throw Error("a file of the repository would have more than " + std::to_string(kMaxFlatSize) +
                " bytes");
  }
}

void FlatBuilder::lead_here(Place place) {
  store_integer(static_cast<std::uint32_t>(content_.size() - place), Endian::little,
                content_.data() + place);
}

template <typename Number>
void FlatBuilder::append(Number value) {
  content_.resize(content_.size() + sizeof(Number));
  store_integer(value, Endian::little, content_.data() + content_.size() - sizeof(Number));
}

// Tables with the same fields share the table of these, which is in front of the first.
FlatBuilder::Table FlatBuilder::table(Place place, const FlatFields& fields) {
  const std::string_view layout(reinterpret_cast<const char*>(fields.places_.data()),
                                fields.count_ * sizeof(std::uint16_t));
  std::string key(layout);
  key += static_cast<char>(fields.size_);
  auto known = field_tables_.find(key);
  if (known == field_tables_.end()) {
    align(sizeof(std::uint16_t));
    known = field_tables_.emplace(std::move(key), content_.size()).first;
    append(static_cast<std::uint16_t>((2 + fields.count_) * sizeof(std::uint16_t)));
    append(static_cast<std::uint16_t>(fields.size_));
    for (unsigned i = 0; i < fields.count_; ++i) append(fields.places_[i]);
  }
  align(fields.alignment_);
  lead_here(place);
  const std::size_t start = content_.size();
  content_.insert(content_.end(), fields.content_.begin(),
                  fields.content_.begin() + static_cast<std::ptrdiff_t>(fields.size_));
  store_integer(static_cast<std::uint32_t>(start - known->second), Endian::little,
                content_.data() + start);
  return {start, fields};
}

void FlatBuilder::structures(Place place, ByteSpan elements, std::size_t size,
                             std::size_t alignment) {
  align(std::max(alignment, sizeof(std::uint32_t)), sizeof(std::uint32_t));
  lead_here(place);
  append(static_cast<std::uint32_t>(elements.size() / size));
  content_.insert(content_.end(), elements.begin(), elements.end());
}

void FlatBuilder::text(Place place, std::string_view text) {
  bytes(place, std::as_bytes(std::span(text)));
  content_.push_back({});
}

FlatBuilder::Place FlatBuilder::offsets(Place place, std::size_t count) {
  align(sizeof(std::uint32_t));
  lead_here(place);
  append(static_cast<std::uint32_t>(count));
  const Place first = content_.size();
  content_.resize(first + count * sizeof(std::uint32_t));
  return first;
}

void FlatBuilder::texts(Place place, const std::vector<std::string>& texts) {
  Place each = offsets(place, texts.size());
  for (const std::string& text : texts) {
    this->text(each, text);
    each += sizeof(std::uint32_t);
  }
}

}  // namespace zarrcore::icechunk
