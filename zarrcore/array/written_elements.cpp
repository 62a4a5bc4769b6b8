#include "zarrcore/array/written_elements.h"

#include <algorithm>
#include <bit>

#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/strided.h"

namespace zarrcore {

void WrittenElements::add(std::span<const AxisSlice> axes, std::span<const std::uint64_t> shape) {
  if (words_.empty()) {
    size_ = 1;
    for (const std::uint64_t length : shape) size_ *= length;
    words_.resize(memory_size(ceil_divide(size_, kWordBits)));
  }
  // Rows of elements beside each other; those of a step are rows of one.
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

}  // namespace zarrcore
