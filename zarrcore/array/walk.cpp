// Walk of access_pattern.h.
#include <algorithm>
#include <utility>

#include "zarrcore/array/access_pattern.h"
#include "zarrcore/base/checked_math.h"

namespace zarrcore {
namespace {

std::uint64_t moved(std::uint64_t start, std::int64_t step) {
  return start + static_cast<std::uint64_t>(step);
}

}  // namespace

Walk Walk::through(const Box& box, const Box& within) {
  Shape end;
  for (std::size_t i = 0; i < box.start.size(); ++i) {
    end.push_back(within.start[i] + within.count[i]);
  }
  Walk walk(std::move(end));
  walk.last_ = box;
  walk.count_ = box.count;
  walk.steps_ = 1;
  for (std::size_t i = box.start.size(); i-- > 0;) {
    walk.loops_.push_back({i, static_cast<std::int64_t>(box.count[i]), within.start[i]});
  }
  return walk;
}

// The boxes of a warp differ by some elements.
bool Walk::is_near(std::size_t axis, std::uint64_t expected, std::uint64_t actual) const {
  const std::uint64_t difference = expected < actual ? actual - expected : expected - actual;
  return difference <= count_[axis] / 8;
}

bool Walk::has_similar_count(const Box& box) const {
  for (std::size_t i = 0; i < shape_.size(); ++i) {
    // A walk backwards begins with a box that the end of the array cuts off.
    if (steps_ <= loops_.size() && count_[i] == last_->count[i] &&
        last_->start[i] + last_->count[i] == shape_[i]) {
      continue;
    }
    const bool is_at_end = box.start[i] + box.count[i] >= shape_[i];
    if (is_at_end ? box.count[i] > count_[i] + count_[i] / 4
                  : !is_near(i, count_[i], box.count[i])) {
      return false;
    }
  }
  return true;
}

bool Walk::is_step(const Box& box, std::size_t loops, std::size_t axis) const {
  for (std::size_t i = 0; i < shape_.size(); ++i) {
    if (i == axis) continue;
    std::uint64_t expected = last_->start[i];
    for (std::size_t loop = 0; loop < loops; ++loop) {
      if (loops_[loop].axis == i) expected = loops_[loop].first;
    }
    if (!is_near(i, expected, box.start[i])) return false;
  }
  return true;
}

// Returns true if a box is the next one of the walk, or begins a new loop around it.
bool Walk::follows(const Box& box) {
  if (!has_similar_count(box)) return false;
  for (std::size_t i = 0; i <= loops_.size(); ++i) {
    if (i < loops_.size()) {
      Loop& loop = loops_[i];
      const std::uint64_t expected = moved(last_->start[loop.axis], loop.step);
      const bool is_forward = (box.start[loop.axis] > last_->start[loop.axis]) == (loop.step > 0);
      if (box.start[loop.axis] == last_->start[loop.axis] || !is_forward ||
          !is_near(loop.axis, expected, box.start[loop.axis]) || !is_step(box, i, loop.axis)) {
        continue;
      }
    } else {
      std::optional<std::size_t> axis;
      for (std::size_t other = 0; other < shape_.size(); ++other) {
        const bool is_looped =
            std::ranges::any_of(loops_, [&](const Loop& loop) { return loop.axis == other; });
        if (!is_looped && box.start[other] != last_->start[other] && is_step(box, i, other)) {
          axis = other;
          break;
        }
      }
      if (!axis) return false;
      loops_.push_back({*axis, static_cast<std::int64_t>(box.start[*axis] - last_->start[*axis]),
                        last_->start[*axis]});
    }
    for (std::size_t inner = 0; inner < i; ++inner) {
      loops_[inner].last = last_->start[loops_[inner].axis];
    }
    return true;
  }
  return false;
}

void Walk::observe(const Box& box) {
  if (last_ == box) return;
  if (last_ && follows(box)) {
    ++steps_;
    const Loop& loop = loops_.front();
    is_scan_ =
        is_scan_ && (box.start[loop.axis] == last_->start[loop.axis] + last_->count[loop.axis] ||
                     box.start[loop.axis] == 0);
    if (steps_ == 1) {
      is_scan_ = last_->start[loop.axis] == 0 && box.start[loop.axis] == last_->count[loop.axis];
    }
    for (std::size_t i = 0; i < shape_.size(); ++i) {
      if (box.start[i] + box.count[i] < shape_[i]) count_[i] = box.count[i];
    }
  } else {
    loops_.clear();
    steps_ = 0;
    is_scan_ = false;
    count_ = box.count;
  }
  last_ = box;
}

void Walk::forget() noexcept {
  last_.reset();
  loops_.clear();
  steps_ = 0;
  is_scan_ = false;
}

// In the line that `start` is in.
std::uint64_t Walk::steps_left(const Loop& loop, const Shape& start) const {
  const std::uint64_t from = start[loop.axis];
  std::uint64_t room = loop.step > 0 ? shape_[loop.axis] - 1 - from : from;
  if (loop.last) {
    const std::uint64_t to = *loop.last;
    const bool is_before = loop.step > 0 ? from < to : from > to;
    // The last box of a warp may be a little nearer.
    const std::uint64_t gap = from < to ? to - from : from - to;
    room = std::min(room, is_before ? gap + absolute(loop.step) / 8 : 0);
  }
  return room / absolute(loop.step);
}

Box Walk::clipped(const Shape& start) const {
  Box box{start, count_};
  for (std::size_t i = 0; i < start.size(); ++i) {
    box.count[i] = std::min(box.count[i], shape_[i] - start[i]);
  }
  return box;
}

std::uint64_t Walk::requests_within(const Shape& unit) const {
  std::uint64_t requests = 1;
  for (const Loop& loop : loops_) {
    const std::uint64_t steps = ceil_divide(unit[loop.axis], absolute(loop.step));
    requests = checked_multiply(requests, steps).value_or(UINT64_MAX);
  }
  return requests;
}

void Walk::predict(const Shape& unit, bool guesses,
                   const std::function<bool(const Box&)>& body) const {
  if (steps_ == 0) return;
  std::vector<Loop> loops = loops_;
  if (guesses && loops.size() == 1 && shape_.size() > 1) {
    const std::size_t axis = loops[0].axis > 0 ? loops[0].axis - 1 : 1;
    loops.push_back({axis, static_cast<std::int64_t>(count_[axis]), last_->start[axis]});
  }
  Shape start = last_->start;
  while (true) {
    std::size_t level = 0;
    while (level < loops.size() && steps_left(loops[level], start) == 0) {
      start[loops[level].axis] = loops[level].first;
      ++level;
    }
    if (level == loops.size()) return;
    const std::size_t axis = loops[level].axis;
    start[axis] = moved(start[axis], loops[level].step);
    Box box = clipped(start);
    // Steps inside of a unit lead to the same chunks.
    if (level == 0 && absolute(loops[0].step) < unit[axis]) {
      const std::uint64_t steps =
          std::min(steps_left(loops[0], start), unit[axis] / absolute(loops[0].step));
      start[axis] = moved(start[axis], static_cast<std::int64_t>(steps) * loops[0].step);
      const std::uint64_t low = std::min(box.start[axis], start[axis]);
      const std::uint64_t high =
          std::max(box.start[axis], start[axis]) +
          std::min(count_[axis], shape_[axis] - std::max(box.start[axis], start[axis]));
      box.start[axis] = low;
      box.count[axis] = high - low;
    }
    if (!body(box)) return;
  }
}

}  // namespace zarrcore
