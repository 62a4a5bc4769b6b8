#include "zarrcore/array/selection.h"

#include <algorithm>
#include <string>

#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/error.h"

namespace zarrcore {

void AxisWalker::move_to(std::uint64_t position) {
  const std::uint64_t index = start_ + position * step_;
  const std::uint64_t chunk = dimension_.chunk_of(index);
  const std::uint64_t offset = index - dimension_.chunk_start(chunk);
  const std::uint64_t in_chunk = (dimension_.chunk_length(chunk) - 1 - offset) / step_ + 1;
  slice_ = {chunk, offset, std::min(in_chunk, count_ - position), position};
}

bool AxisWalker::advance() {
  const std::uint64_t next = slice_.position + slice_.count;
  move_to(next < count_ ? next : 0);
  return next < count_;
}

bool advance(std::span<AxisWalker> walkers) {
  for (std::size_t i = walkers.size(); i-- > 0;) {
    if (walkers[i].advance()) return true;
  }
  return false;
}

void check_selection(const Selection& selection, const Shape& shape) {
  const std::size_t rank = shape.size();
  if (selection.start.size() != rank || selection.count.size() != rank ||
      (!selection.step.empty() && selection.step.size() != rank)) {
    throw Error("the selection does not have the " + std::to_string(rank) +
                " dimensions of the array");
  }
  for (std::size_t i = 0; i < rank; ++i) {
    const std::uint64_t start = selection.start[i];
    const std::uint64_t count = selection.count[i];
    if (count == 0) continue;
    const std::int64_t step = selection.step.empty() ? 1 : selection.step[i];
    bool inside = start < shape[i];
    if (inside && count > 1) {
      if (step == 0) throw Error("the step of dimension " + std::to_string(i) + " is zero");
      const std::uint64_t room = step > 0 ? shape[i] - 1 - start : start;
      const std::uint64_t stride =
          step > 0 ? static_cast<std::uint64_t>(step) : 0 - static_cast<std::uint64_t>(step);
      inside = count - 1 <= room / stride;
    }
    if (!inside) {
      throw Error("the selection (start " + std::to_string(start) + ", count " +
                  std::to_string(count) + ", step " + std::to_string(step) +
                  ") reaches outside dimension " + std::to_string(i) + " of length " +
                  std::to_string(shape[i]));
    }
  }
}

std::uint64_t Box::size() const {
  return checked_product(count).value_or(UINT64_MAX);
}

bool Box::meets(const Box& other) const {
  for (std::size_t i = 0; i < start.size(); ++i) {
    if (start[i] >= other.start[i] + other.count[i]) return false;
    if (other.start[i] >= start[i] + count[i]) return false;
  }
  return true;
}

bool Box::contains(const Box& other) const {
  for (std::size_t i = 0; i < start.size(); ++i) {
    if (other.start[i] < start[i] || other.start[i] + other.count[i] > start[i] + count[i]) {
      return false;
    }
  }
  return true;
}

std::optional<Box> intersection(const Box& a, const Box& b) {
  Box common;
  for (std::size_t i = 0; i < a.start.size(); ++i) {
    const std::uint64_t start = std::max(a.start[i], b.start[i]);
    const std::uint64_t end = std::min(a.start[i] + a.count[i], b.start[i] + b.count[i]);
    if (start >= end) return std::nullopt;
    common.start.push_back(start);
    common.count.push_back(end - start);
  }
  return common;
}

Box box_around(const Selection& selection) {
  Box box{selection.start, selection.count};
  for (std::size_t i = 0; i < box.start.size(); ++i) {
    if (selection.step.empty() || box.count[i] == 1) continue;
    const std::uint64_t reach = (box.count[i] - 1) * absolute(selection.step[i]);
    if (selection.step[i] < 0) box.start[i] -= reach;
    box.count[i] = reach + 1;
  }
  return box;
}

}  // namespace zarrcore
