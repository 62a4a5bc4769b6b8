#include "zarrcore/array/box.h"

#include <algorithm>

#include "zarrcore/base/checked_math.h"

namespace zarrcore {

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
