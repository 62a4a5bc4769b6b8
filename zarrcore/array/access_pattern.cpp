#include "zarrcore/array/access_pattern.h"

#include <algorithm>
#include <set>

#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/strided.h"
#include "zarrcore/codec/sharding.h"

namespace zarrcore {
namespace {

// The steps after which a walk is expected to continue: an unneeded request to a server costs more
// than an unneeded chunk of a file.
constexpr std::size_t kLocalSteps = 2;
constexpr std::size_t kRemoteSteps = 3;
// The number of prefetched chunks for each thread or request that runs in parallel.
constexpr std::size_t kChunksPerThread = 3;
// How many boxes of requests, and chunks in them, are searched for chunks to prefetch.
constexpr std::size_t kMaxBoxes = 64;
constexpr std::size_t kMaxVisits = 10'000;
// The rate of reused chunks from which on chunks are worth caching, and the weight of a request in
// it: requests of many and of few chunks count the same.
constexpr float kMinReuseRate = 0.1F;
constexpr float kWeight = 1.0F / 8;
// Older chunks that were decoded in part count half when there are so many: programs change.
constexpr std::uint64_t kMaxParts = 128;
// After so many chunks that were decoded as a whole, one is decoded in part, to learn from it.
constexpr std::uint64_t kWholesBetween = 32;

}  // namespace

AccessPattern::AccessPattern(const Store& store, const Shape& shape, const ChunkGrid& grid,
                             const CodecChain& chain, Shape unit, std::uint64_t item_size)
    : store_(store), item_size_(item_size), unit_shape_(std::move(unit)), walk_(shape) {
  if (chain.spec().data_type.is_variable() || grid.rank() == 0) return;
  const CodecChain* innermost = &chain;
  if (chain.sharding() != nullptr && !grid.is_regular()) return;
  for (; innermost->sharding() != nullptr; innermost = &innermost->sharding()->inner_chain()) {
    // Other shards are fetched as a whole.
    if (!innermost->shard_is_bare()) return;
  }
  can_read_parts_ = innermost->elements_stand_alone();
  const auto elements = checked_product(unit_shape_);
  const auto bytes = elements ? checked_multiply(*elements, item_size) : std::nullopt;
  if (!bytes || *bytes == 0) return;
  unit_bytes_ = *bytes;
  for (std::size_t i = 0; i < grid.rank(); ++i) {
    units_.push_back(grid.is_regular()
                         ? GridDimension(grid.dimension(i).array_length(), unit_shape_[i])
                         : grid.dimension(i));
  }
}

void AccessPattern::expect(const Box& box) {
  const std::lock_guard lock(mutex_);
  // Bands of an array are announced one after the other.
  if (expected_ && last_start_.empty()) {
    for (std::size_t i = 0; i < box.start.size(); ++i) {
      const std::uint64_t end =
          std::max(box.start[i] + box.count[i], expected_->start[i] + expected_->count[i]);
      expected_->start[i] = std::min(expected_->start[i], box.start[i]);
      expected_->count[i] = end - expected_->start[i];
    }
  } else {
    expected_ = box;
    last_start_.clear();
  }
}

AccessPattern::Request::Request(AccessPattern& pattern, const Selection& selection,
                                const RequestOptions& options)
    : pattern_(pattern) {
  const std::lock_guard lock(pattern.mutex_);
  keys_.swap(pattern.keys_);
  if (options.is_read) whole_chunks_ = pattern.whole_chunks(selection);
  if (options.may_prefetch) pattern.begin_walk(*this, selection, options);
  reuse_is_likely_ =
      options.fits_cache || requests_per_chunk_ > 1 || pattern.reuse_rate_ >= kMinReuseRate;
  // As long as little is known, the rest of half the chunks is expected to be needed.
  rest_share_ =
      (static_cast<double>(pattern.rests_) + 1) / (static_cast<double>(pattern.parts_) + 2);
  wholes_ = pattern.wholes_;
}

AccessPattern::Request::~Request() {
  keys_.resize(std::min(next_key_, keys_.size()));
  const std::lock_guard lock(pattern_.mutex_);
  keys_.swap(pattern_.keys_);
  if (is_timed_) pattern_.pace_.end(began_);
  pattern_.wholes_ = wholes_;
  pattern_.parts_ += parts_;
  pattern_.rests_ = std::min(pattern_.rests_ + rests_, pattern_.parts_);
  while (pattern_.parts_ >= kMaxParts) {
    pattern_.parts_ /= 2;
    pattern_.rests_ /= 2;
  }
  const std::uint64_t parts = used_before_ + new_;
  if (parts == 0) return;
  const auto rate = static_cast<float>(used_before_) / static_cast<float>(parts);
  pattern_.reuse_rate_ += kWeight * (rate - pattern_.reuse_rate_);
}

bool AccessPattern::Request::caches_part(bool is_known, std::size_t hash, std::uint64_t capacity) {
  if (!reuse_is_likely_) {
    const std::lock_guard lock(pattern_.mutex_);
    std::vector<std::size_t>& remembered = pattern_.remembered_;
    is_known = std::ranges::find(remembered, hash) != remembered.end();
    if (!is_known) {
      std::size_t& next = pattern_.next_remembered_;
      if (remembered.size() < std::clamp<std::uint64_t>(capacity, 1, kMaxRemembered)) {
        remembered.push_back(hash);
      } else {
        remembered[next] = hash;
        next = (next + 1) % remembered.size();
      }
    }
  }
  ++(is_known ? used_before_ : new_);
  return reuse_is_likely_ || is_known;
}

bool AccessPattern::Request::decodes_whole(const DecodingCosts& costs) {
  if (costs.part >= costs.whole) return true;
  if (costs.part + rest_share_ * costs.rest >= costs.whole &&
      wholes_++ % kWholesBetween != kWholesBetween - 1) {
    return true;
  }
  ++parts_;
  return false;
}

WholeChunks AccessPattern::whole_chunks(const Selection& selection) {
  if (selection == last_selection_) {
    was_repeated_ = true;
    return std::exchange(is_cached_, false) ? WholeChunks::release : WholeChunks::pass;
  }
  last_selection_ = selection;
  is_cached_ = std::exchange(was_repeated_, false);
  return is_cached_ ? WholeChunks::keep : WholeChunks::pass;
}

void AccessPattern::begin_walk(Request& request, const Selection& selection,
                               const RequestOptions& options) {
  if (units_.empty() || skips_chunks(selection)) return;
  Box box = box_around(selection);
  // Programs that ask for each window twice walk and pause as others do.
  if (walk_.is_at(box) && !last_start_.empty()) return;
  request.is_timed_ = true;
  pace_.begin(request.began_);
  const Box range = chunks_of(box);
  try {
    note(box, range);
  } catch (...) {  // there is no memory
    walk_.forget();
    throw;
  }
  const std::size_t needed = is_remote() ? kRemoteSteps : walk_.is_scan() ? 1 : kLocalSteps;
  const bool is_walk = expected_ || walk_.steps() >= needed;
  if (is_walk) {
    request.requests_per_chunk_ = walk_.requests_within(unit_shape_);
    if (reads_parts(box, request.requests_per_chunk_)) return;
    request.walk_ = box;
    // Requests inside of the same chunks have the same next chunks.
    if (planned_ == range || is_reading_only(box, range, options.threads)) return;
    planned_ = range;
    const std::size_t at_once = is_remote() ? store_.traits().parallel_requests : options.threads;
    const std::uint64_t max_count =
        std::min(expected_ ? UINT64_MAX : walked_,
                 std::max<std::uint64_t>(range.size(), kChunksPerThread * at_once));
    request.next_chunks_ = chunks_after(
        box, range,
        static_cast<std::size_t>(std::min(max_count, options.max_prefetched_bytes / unit_bytes_)));
  } else if (walk_.steps() == 0) {
    request.next_chunks_.emplace();
  }
}

void AccessPattern::note(const Box& box, const Box& range) {
  walk_.observe(box);
  if (expected_ && (!expected_->contains(box) || box.start < last_start_)) expected_.reset();
  last_start_ = box.start;
  if (walk_.steps() == 0) {
    walked_ = range.size();
    planned_.reset();
  } else {
    std::uint64_t added = 0;  // mostly, requests of a walk follow each other in the same chunks
    if (range != *last_) {
      const auto common = intersection(range, *last_);
      added = range.size() - (common ? common->size() : 0);
    }
    walked_ += std::min(added, UINT64_MAX - walked_);
  }
  last_ = range;
}

// Returns true if a selection is empty, or has steps that are longer than chunks.
bool AccessPattern::skips_chunks(const Selection& selection) const {
  for (std::size_t i = 0; i < selection.count.size(); ++i) {
    if (selection.count[i] == 0) return true;
    if (selection.step.empty() || selection.count[i] == 1) continue;
    const auto step = static_cast<std::uint64_t>(selection.step[i]);
    if (std::min(step, 0 - step) > unit_shape_[i]) return true;
  }
  return false;
}

// The chunks that a box meets, as a box of the grid.
Box AccessPattern::chunks_of(const Box& box) const {
  Box range;
  range.start.reserve(units_.size());
  range.count.reserve(units_.size());
  for (std::size_t i = 0; i < units_.size(); ++i) {
    range.start.push_back(units_[i].chunk_of(box.start[i]));
    range.count.push_back(units_[i].chunk_of(box.start[i] + box.count[i] - 1) - range.start[i] + 1);
  }
  return range;
}

Box AccessPattern::box_of_chunk(const Shape& position) const {
  Box box;
  for (std::size_t i = 0; i < units_.size(); ++i) {
    box.start.push_back(units_[i].chunk_start(position[i]));
    box.count.push_back(units_[i].chunk_extent(position[i]));
  }
  return box;
}

bool AccessPattern::reads_parts(const Box& box, std::uint64_t requests_per_chunk) const {
  if (!can_read_parts_ || is_remote()) return false;
  std::uint64_t rows = 1;
  for (std::size_t i = 0; i + 1 < units_.size(); ++i) {
    rows *= std::min(box.count[i], unit_shape_[i]);
  }
  const std::uint64_t row_bytes = std::min(box.count.back(), unit_shape_.back()) * item_size_;
  const std::uint64_t range_bytes = store_.traits().bytes_per_range;
  // Gaps that are shorter than a request are read.
  const std::uint64_t bytes =
      rows * std::min(unit_shape_.back() * item_size_, row_bytes + range_bytes);
  return bytes + range_bytes < unit_bytes_ / requests_per_chunk;
}

// The chunks of the next requests, in the order of need, without those in `range`.
std::vector<Box> AccessPattern::chunks_after(const Box& box, const Box& range,
                                             std::size_t max_count) const {
  const Walk walk = expected_ ? Walk::through(box, *expected_) : walk_;
  std::vector<Box> chunks;
  std::set<Shape> seen;
  std::size_t boxes = 0;
  std::size_t visits = 0;
  walk.predict(unit_shape_, !is_remote(), [&](const Box& next) {
    const Box next_range = chunks_of(next);
    Shape position = next_range.start;
    Shape steps(position.size(), 0);
    do {
      if (++visits > kMaxVisits || chunks.size() >= max_count) return false;
      bool is_in_range = true;
      for (std::size_t i = 0; i < position.size(); ++i) {
        is_in_range &= position[i] - range.start[i] < range.count[i];
      }
      if (is_in_range || !seen.insert(position).second) continue;
      Box chunk = box_of_chunk(position);
      if (next.contains(chunk) || !can_read_parts_ || !is_remote()) {
        chunks.push_back(std::move(chunk));
      }
    } while (advance_position(
        steps, [&](std::size_t axis) { return next_range.count[axis]; },
        [&](std::size_t axis, std::ptrdiff_t step) {
          position[axis] += static_cast<std::uint64_t>(step);
        }));
    return ++boxes < kMaxBoxes;
  });
  return chunks;
}

double AccessPattern::used_part(const Box& box, const Box& range) const {
  double part = 1;
  for (std::size_t i = 0; i < units_.size(); ++i) {
    const std::uint64_t last = range.start[i] + range.count[i] - 1;
    const std::uint64_t end = units_[i].chunk_start(last) + units_[i].chunk_extent(last);
    part *= static_cast<double>(box.count[i]) /
            static_cast<double>(end - units_[i].chunk_start(range.start[i]));
  }
  return part;
}

bool AccessPattern::is_reading_only(const Box& box, const Box& range, std::size_t threads) const {
  // Other requests that follow are of the same chunks. They leave threads idle.
  constexpr double kLittle = 0.25;
  return !is_remote() && range.size() >= 2 * threads && pace_.is_mostly_calls() &&
         used_part(box, range) > kLittle;
}

}  // namespace zarrcore
