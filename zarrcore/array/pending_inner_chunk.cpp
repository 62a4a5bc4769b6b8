// PendingInnerChunk of pending_chunk.h.
#include <algorithm>
#include <bit>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "zarrcore/array/pending_chunk.h"
#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/strided.h"

namespace zarrcore {
namespace {

// Copies elements of variable length; the memory that they point to is copied to the arena.
void copy_variable(const SliceLayout& layout, const ElementConverter* converter,
                   const std::byte* source, Arena& arena, std::byte* destination) {
  constexpr std::size_t kItem = sizeof(VariableElement);
  std::uint64_t count = 1;
  for (const std::uint64_t length : layout.counts) count *= length;
  std::vector<VariableElement> elements(memory_size(count));
  auto* bytes = reinterpret_cast<std::byte*>(elements.data());
  const Strides dense = c_strides(layout.counts, kItem);
  copy_or_convert(layout.counts, kItem, converter, source, layout.in_memory, bytes, dense);
  for (VariableElement& element : elements) element = arena.keep(element.text());
  copy_strided(layout.counts, kItem, bytes, dense, destination, layout.in_chunk);
}

}  // namespace

void WrittenElements::add(std::span<const AxisSlice> axes, std::span<const std::uint64_t> shape) {
  if (words_.empty()) {
    size_ = 1;
    for (const std::uint64_t length : shape) size_ *= length;
    words_.resize(memory_size(ceil_divide(size_, kWordBits)));
  }
  // Adjacent rows of elements. Rows that are read with a step consist of one element each.
  SliceLayout layout = layout_of(axes, shape, 1);
  std::uint64_t row = 1;
  if (!layout.counts.empty() && (layout.counts.back() == 1 || layout.in_chunk.back() == 1)) {
    row = layout.counts.back();
    layout.counts.pop_back();
  }
  Shape position(layout.counts.size(), 0);
  auto offset = static_cast<std::uint64_t>(layout.offset);
  do {
    add_run(offset, row);
  } while (advance_position(
      position, [&](std::size_t i) { return layout.counts[i]; },
      [&](std::size_t i, std::ptrdiff_t steps) {
        offset += static_cast<std::uint64_t>(layout.in_chunk[i] * steps);
      }));
}

void WrittenElements::add_run(std::uint64_t start, std::uint64_t length) {
  const std::uint64_t end = start + length;
  while (start < end) {
    const std::uint64_t first = start % kWordBits;
    const std::uint64_t bits = std::min(kWordBits - first, end - start);
    const Word run = (bits == kWordBits ? ~Word{0} : (Word{1} << bits) - 1) << first;
    Word& word = words_[static_cast<std::size_t>(start / kWordBits)];
    count_ += static_cast<std::uint64_t>(std::popcount(run & ~word));
    word |= run;
    start += bits;
  }
}

std::uint64_t WrittenElements::find(std::uint64_t start, bool is_written) const {
  while (start < size_) {
    const Word word = words_[static_cast<std::size_t>(start / kWordBits)];
    const Word rest = (is_written ? word : ~word) >> (start % kWordBits);
    if (rest != 0) return std::min(size_, start + static_cast<unsigned>(std::countr_zero(rest)));
    start = (start / kWordBits + 1) * kWordBits;
  }
  return size_;
}

void WrittenElements::for_each_run(
    const std::function<void(std::uint64_t, std::uint64_t)>& body) const {
  for (std::uint64_t start = find(0, true); start < size_;) {
    const std::uint64_t end = find(start, false);
    body(start, end - start);
    start = find(end, true);
  }
}

bool PendingInnerChunk::needs_stored(const StoredSlice& slice) const {
  return state_ == State::untouched && !zarrcore::is_whole(slice.axes);
}

void PendingInnerChunk::load(const std::optional<Buffer>& stored) {
  decoded_ = decode(stored);
  state_ = State::decoded;
}

bool PendingInnerChunk::write(const StoredSlice& slice, const std::byte* source,
                              const ElementConverter* converter) {
  std::uint64_t inside = 1;
  for (const AxisSlice& axis : slice.axes) inside *= axis.extent;
  if (inside_.empty()) {
    for (const AxisSlice& axis : slice.axes) inside_.push_back(axis.extent);
  }
  if (zarrcore::is_whole(slice.axes)) {
    const bool is_all = inside * type().item_size == chain_.decoded_size();
    DecodedChunk fresh = is_all ? DecodedChunk{Buffer(chain_.decoded_size()), {}} : make_filled();
    copy(slice, source, converter, fresh);
    decoded_ = std::move(fresh);
    note_whole();
  } else {
    if (state_ != State::decoded) decoded_ = decode_own();
    state_ = State::decoded;
    copy(slice, source, converter, decoded_);
    if (!is_whole_) {
      written_.add(slice.axes, shape());
      if (written_.count() == inside) note_whole();
    }
  }
  state_ = State::decoded;
  encoded_ = {};
  changed_ += element_count(slice.axes);
  // For overlapping slices this may be too early, which only costs another decoding.
  return is_whole_ && changed_ >= inside;
}

// From now on, no element is read from the store.
void PendingInnerChunk::note_whole() {
  is_whole_ = true;
  written_ = {};
  base_shard.reset();
}

DecodedChunk PendingInnerChunk::make_filled() const {
  DecodedChunk chunk{Buffer(chain_.decoded_size()), {}};
  const std::uint64_t item_size = type().item_size;
  copy_strided(shape(), item_size, array_.fill_value.data(), Strides(shape().size(), 0),
               chunk.elements.data(), c_strides(shape(), item_size));
  return chunk;
}

DecodedChunk PendingInnerChunk::decode_own() const {
  return state_ == State::encoded ? chain_.decode(encoded_.span()) : make_filled();
}

DecodedChunk PendingInnerChunk::decode(const std::optional<Buffer>& stored) const {
  if (!stored) return make_filled();
  chain_.check_round_trip(stored->span());
  return chain_.decode(stored->span());
}

void PendingInnerChunk::rebase(const std::optional<Buffer>& stored) {
  DecodedChunk fresh = decode(stored);
  DecodedChunk own;
  if (state_ != State::decoded) own = decode_own();
  const std::byte* elements = (state_ == State::decoded ? decoded_ : own).elements.data();
  const std::uint64_t item_size = type().item_size;
  written_.for_each_run([&](std::uint64_t start, std::uint64_t length) {
    std::byte* target = fresh.elements.data() + start * item_size;
    std::memcpy(target, elements + start * item_size, memory_size(length * item_size));
    if (!type().is_variable()) return;
    auto* items = reinterpret_cast<VariableElement*>(target);
    for (std::uint64_t i = 0; i < length; ++i) items[i] = fresh.arena.keep(items[i].text());
  });
  decoded_ = std::move(fresh);
  encoded_ = {};
  state_ = State::decoded;
  encode();
}

void PendingInnerChunk::copy(const StoredSlice& slice, const std::byte* source,
                             const ElementConverter* converter, DecodedChunk& chunk) const {
  const std::uint64_t item_size = type().item_size;
  const SliceLayout layout = layout_of(slice.axes, shape(), item_size);
  std::byte* destination = chunk.elements.data() + layout.offset;
  if (type().is_variable()) {
    copy_variable(layout, converter, source, chunk.arena, destination);
  } else {
    copy_or_convert(layout.counts, item_size, converter, source, layout.in_memory, destination,
                    layout.in_chunk);
  }
}

void PendingInnerChunk::encode() {
  is_queued = false;
  const bool is_filled =
      !stores_empty_ && array_.metadata.fill_value && chain_.is_filled(decoded_.elements.span());
  if (!is_filled) {
    try {
      encoded_ = chain_.encode(std::move(decoded_.elements), stores_empty_);
    } catch (const Error&) {
      if (!repeat_edges()) throw;
      encoded_ = chain_.encode(std::move(decoded_.elements), stores_empty_);
    }
  }
  // Encoders allocate as much memory as they could need. Inner chunks of a shard stay in memory; a
  // chunk that is not a shard is put next.
  if (is_in_shard_) encoded_.shrink_to_fit();
  state_ = is_filled ? State::filled : State::encoded;
  decoded_ = {};
  changed_ = 0;
}

// Copies the last elements inside the array to those outside of it: a filter may be unable to
// encode the fill value, which the caller never wrote. False when no elements are outside.
bool PendingInnerChunk::repeat_edges() {
  if (inside_.size() != shape().size() || inside_ == shape()) return false;
  std::uint64_t count = 1;  // of rows along a dimension, whose items have `size` bytes
  std::uint64_t size = decoded_.elements.size();
  for (std::size_t i = 0; i < shape().size(); ++i) {
    const std::uint64_t row = size;
    size /= shape()[i];
    for (std::uint64_t k = 0; k < count; ++k) {
      std::byte* start = decoded_.elements.data() + k * row;
      const std::byte* last = start + (inside_[i] - 1) * size;
      for (std::uint64_t at = inside_[i]; at < shape()[i]; ++at) {
        std::memcpy(start + at * size, last, memory_size(size));
      }
    }
    count *= shape()[i];
  }
  return true;
}

void PendingInnerChunk::read(const StoredSlice& slice, std::byte* destination,
                             const ElementConverter* converter) const {
  DecodedChunk loaded;
  if (state_ == State::encoded) loaded = chain_.decode(encoded_.span());
  const std::uint64_t item_size = type().item_size;
  SliceLayout layout = layout_of(slice.axes, shape(), item_size);
  const std::byte* source = loaded.elements.data() + layout.offset;
  if (state_ == State::decoded) source = decoded_.elements.data() + layout.offset;
  if (state_ == State::filled) {
    source = array_.fill_value.data();
    layout.in_chunk.assign(layout.counts.size(), 0);
  }
  copy_or_convert(layout.counts, item_size, converter, source, layout.in_chunk, destination,
                  layout.in_memory);
}

}  // namespace zarrcore
