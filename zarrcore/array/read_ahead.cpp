#include "zarrcore/array/read_ahead.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "zarrcore/array/chunk_reader.h"
#include "zarrcore/base/checked_math.h"

namespace zarrcore {
namespace {

// The steps after which a walk is expected to go on: an unneeded request to a server costs more
// than an unneeded chunk of a file.
constexpr std::size_t kLocalSteps = 2;
constexpr std::size_t kRemoteSteps = 3;
// How many chunks may be ahead, for each thread or request that runs in parallel.
constexpr std::size_t kChunksPerThread = 3;
// One task decodes about this much, or one chunk.
constexpr std::uint64_t kTaskBytes = 256 << 10;
// How many boxes of requests, and chunks in them, are looked at to find those to read ahead.
constexpr std::size_t kMaxBoxes = 64;
constexpr std::size_t kMaxVisits = 10'000;

std::uint64_t count_of(const std::vector<std::pair<std::uint64_t, std::uint64_t>>& range) {
  std::uint64_t count = 1;
  for (const auto& [first, last] : range) {
    count = checked_multiply(count, last - first + 1).value_or(UINT64_MAX);
  }
  return count;
}

}  // namespace

ReadAhead::ReadAhead(const ArrayState& array, Shape unit)
    : array_(array),
      unit_shape_(std::move(unit)),
      walk_(array.metadata.shape),
      tasks_(array.context->pool, cancellation_) {
  const ChunkGrid& grid = array.grid;
  if (array.metadata.data_type.is_variable() || grid.rank() == 0) return;
  const CodecChain* chain = array.first_chain;
  if (chain->sharding() != nullptr && !grid.is_regular()) return;
  for (; chain->sharding() != nullptr; chain = &chain->sharding()->inner_chain()) {
    // Other shards are fetched as a whole.
    if (!chain->shard_is_bare()) return;
  }
  can_read_parts_ = chain->elements_stand_alone();
  const auto elements = checked_product(unit_shape_);
  const auto bytes =
      elements ? checked_multiply(*elements, array.metadata.data_type.item_size) : std::nullopt;
  if (!bytes || *bytes == 0) return;
  unit_bytes_ = *bytes;
  for (std::size_t i = 0; i < grid.rank(); ++i) {
    units_.push_back(grid.is_regular()
                         ? GridDimension(grid.dimension(i).array_length(), unit_shape_[i])
                         : grid.dimension(i));
  }
}

ReadAhead::~ReadAhead() {
  {
    const std::lock_guard lock(mutex_);
    is_closing_ = true;
  }
  chunks_.keep([](const Box&) { return false; });
  tasks_.cancel();
}

ReadAhead::Request::Request(ReadAhead* ahead, const Selection& selection,
                            const ReadOptions& options) noexcept
    : ahead_(ahead), began_(Pace::now()) {
  if (ahead == nullptr || ahead->units_.empty() || !ahead->array_.context->pool.has_workers()) {
    return;
  }
  if (ahead->skips_chunks(selection)) return;
  try {
    Box box = box_around(selection);
    if (ahead->is_repeated(box)) {
      ahead_ = nullptr;
      return;
    }
    const Range range = ahead->range_of(box);
    const auto requests_per_chunk = ahead->observe(box, range, began_);
    if (!requests_per_chunk) return;
    requests_per_chunk_ = *requests_per_chunk;
    if (ahead->reads_parts(box, requests_per_chunk_)) return;
    ahead->chunks_.begin_request(box);
    box_ = std::move(box);
    ahead->plan(*box_, range, options);
  } catch (const std::exception&) {
    // Without memory, the request is read as if nothing had been read ahead.
  }
}

ReadAhead::Request::~Request() {
  if (ahead_ == nullptr) return;
  if (box_) ahead_->chunks_.end_request(*box_);
  const std::lock_guard lock(ahead_->mutex_);
  ahead_->pace_.end(began_);
}

void ReadAhead::expect(const Box& box) {
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

ChunksAhead::Taken ReadAhead::take(const CacheKey& key) {
  return chunks_.take(key, [this] { return !is_remote() && read_next(); });
}

// Whether a selection is empty, or has steps that are longer than chunks.
bool ReadAhead::skips_chunks(const Selection& selection) const {
  for (std::size_t i = 0; i < selection.count.size(); ++i) {
    if (selection.count[i] == 0) return true;
    if (selection.step.empty() || selection.count[i] == 1) continue;
    const auto step = static_cast<std::uint64_t>(selection.step[i]);
    if (std::min(step, 0 - step) > unit_shape_[i]) return true;
  }
  return false;
}

ReadAhead::Range ReadAhead::range_of(const Box& box) const {
  Range range;
  range.reserve(units_.size());
  for (std::size_t i = 0; i < units_.size(); ++i) {
    range.emplace_back(units_[i].chunk_of(box.start[i]),
                       units_[i].chunk_of(box.start[i] + box.count[i] - 1));
  }
  return range;
}

Box ReadAhead::box_of(const std::vector<std::uint64_t>& position) const {
  Box box;
  for (std::size_t i = 0; i < units_.size(); ++i) {
    box.start.push_back(units_[i].chunk_start(position[i]));
    box.count.push_back(units_[i].chunk_extent(position[i]));
  }
  return box;
}

// Programs that ask for each window twice walk and pause as others do.
bool ReadAhead::is_repeated(const Box& box) {
  const std::lock_guard lock(mutex_);
  return walk_.is_at(box) && !last_start_.empty();
}

std::optional<std::uint64_t> ReadAhead::observe(const Box& box, const Range& range,
                                                Pace::TimePoint began) {
  const std::lock_guard lock(mutex_);
  pace_.begin(began);
  try {
    note(box, range);
  } catch (...) {  // there is no memory
    walk_.forget();
    throw;
  }
  const std::size_t needed = is_remote() ? kRemoteSteps : walk_.is_scan() ? 1 : kLocalSteps;
  if (!expected_ && walk_.steps() < needed) return std::nullopt;
  return walk_.requests_within(unit_shape_);
}

// With `mutex_` locked.
void ReadAhead::note(const Box& box, const Range& range) {
  walk_.observe(box);
  if (expected_ && (!expected_->contains(box) || box.start < last_start_)) expected_.reset();
  last_start_ = box.start;
  if (walk_.steps() == 0) {
    walked_ = count_of(range);
    planned_.reset();
    if (!expected_ && chunks_.size() > 0) chunks_.keep([](const Box&) { return false; });
  } else {
    Range common;
    for (std::size_t i = 0; i < range.size(); ++i) {
      common.emplace_back(std::max(range[i].first, (*last_)[i].first),
                          std::min(range[i].second, (*last_)[i].second));
    }
    const bool is_apart =
        std::ranges::any_of(common, [](const auto& axis) { return axis.first > axis.second; });
    const std::uint64_t added = count_of(range) - (is_apart ? 0 : count_of(common));
    walked_ += std::min(added, UINT64_MAX - walked_);
  }
  last_ = range;
}

bool ReadAhead::reads_parts(const Box& box, std::uint64_t requests_per_chunk) const {
  if (!can_read_parts_ || is_remote()) return false;
  std::uint64_t rows = 1;
  for (std::size_t i = 0; i + 1 < units_.size(); ++i) {
    rows *= std::min(box.count[i], unit_shape_[i]);
  }
  const std::uint64_t item_size = array_.metadata.data_type.item_size;
  const std::uint64_t row_bytes = std::min(box.count.back(), unit_shape_.back()) * item_size;
  const std::uint64_t range_bytes = array_.store->traits().bytes_per_range;
  // Gaps that are shorter than a request are read.
  const std::uint64_t bytes =
      rows * std::min(unit_shape_.back() * item_size, row_bytes + range_bytes);
  return bytes + range_bytes < unit_bytes_ / requests_per_chunk;
}

// The chunks of the next requests, in the order of need, without those in `range`.
std::vector<Box> ReadAhead::next_chunks(const Box& box, const Range& range,
                                        std::size_t max_count) const {
  const Walk walk = expected_ ? Walk::through(box, *expected_) : walk_;
  std::vector<Box> chunks;
  std::set<std::vector<std::uint64_t>> seen;
  std::size_t boxes = 0;
  std::size_t visits = 0;
  walk.predict(unit_shape_, !is_remote(), [&](const Box& next) {
    const Range next_range = range_of(next);
    std::vector<std::uint64_t> position;
    for (const auto& axis : next_range) position.push_back(axis.first);
    bool is_done = false;
    while (!is_done) {
      if (++visits > kMaxVisits || chunks.size() >= max_count) return false;
      bool is_in_box = true;
      for (std::size_t i = 0; i < range.size(); ++i) {
        is_in_box &= position[i] >= range[i].first && position[i] <= range[i].second;
      }
      if (!is_in_box && seen.insert(position).second) {
        Box chunk = box_of(position);
        bool is_whole = true;
        for (std::size_t i = 0; i < range.size(); ++i) {
          is_whole &= next.start[i] <= chunk.start[i] &&
                      next.start[i] + next.count[i] >= chunk.start[i] + chunk.count[i];
        }
        if (is_whole || !can_read_parts_ || !is_remote()) chunks.push_back(std::move(chunk));
      }
      std::size_t axis = position.size();
      while (axis > 0 && position[axis - 1] == next_range[axis - 1].second) {
        --axis;
        position[axis] = next_range[axis].first;
      }
      is_done = axis == 0;
      if (!is_done) ++position[axis - 1];
    }
    return ++boxes < kMaxBoxes;
  });
  return chunks;
}

double ReadAhead::used_part(const Box& box, const Range& range) const {
  double part = 1;
  for (std::size_t i = 0; i < range.size(); ++i) {
    const auto [first, last] = range[i];
    const std::uint64_t end = units_[i].chunk_start(last) + units_[i].chunk_extent(last);
    part *=
        static_cast<double>(box.count[i]) / static_cast<double>(end - units_[i].chunk_start(first));
  }
  return part;
}

bool ReadAhead::is_reading_only(const Box& box, const Range& range, std::size_t threads) const {
  // Other requests that follow are of the same chunks. They leave threads idle.
  constexpr double kLittle = 0.25;
  return !is_remote() && count_of(range) >= 2 * threads && pace_.is_mostly_calls() &&
         used_part(box, range) > kLittle;
}

void ReadAhead::plan(const Box& box, const Range& range, const ReadOptions& options) {
  const std::lock_guard lock(mutex_);
  // Requests inside of the same chunks have the same next chunks.
  if (planned_ == range) return;
  if (is_reading_only(box, range, options.threads)) return;
  planned_ = range;
  threads_ = options.threads;
  const std::size_t at_once =
      is_remote() ? array_.store->traits().parallel_requests : options.threads;
  const std::uint64_t max_count =
      std::min(expected_ ? UINT64_MAX : walked_,
               std::max<std::uint64_t>(count_of(range), kChunksPerThread * at_once));
  Context& context = *array_.context;
  const std::uint64_t max_bytes = context.chunks.max_bytes() / 4;
  const std::vector<Box> chunks = next_chunks(
      box, range, static_cast<std::size_t>(std::min(max_count, max_bytes / unit_bytes_)));
  std::set<Shape> starts;
  for (const Box& chunk : chunks) starts.insert(chunk.start);
  chunks_.keep([&](const Box& chunk) { return starts.contains(chunk.start) || chunk.meets(box); });
  bool has_new = false;
  for (const Box& chunk : chunks) {
    if (chunks_.has(chunk.start)) continue;
    auto memory = MemoryShare::take(context.ahead_bytes, unit_bytes_, max_bytes);
    if (!memory) break;
    if (!std::exchange(has_new, true)) scope_ = cancellable(options.lasting_scope());
    chunks_.add(chunk, std::move(*memory));
  }
  if (has_new) post_tasks();
}

// `scope`, in which the work is also cancelled with the tasks.
WorkerScope ReadAhead::cancellable(WorkerScope scope) const {
  return
      [cancellation = cancellation_, scope = std::move(scope)](const std::function<void()>& work) {
        const Cancellation::Scope cancelled(cancellation.get());
        scope ? scope(work) : work();
      };
}

// With `mutex_` locked. The reader is one of the threads.
void ReadAhead::post_tasks() {
  if (is_closing_) return;
  const std::size_t at_once = is_remote() ? 2 : threads_ - 1;
  const std::size_t waiting = chunks_.waiting();
  while (posted_ < std::min(at_once, waiting)) {
    tasks_.post([this] { run_task(); }, at_once);
    ++posted_;
  }
}

void ReadAhead::run_task() {
  read_next();
  try {
    const std::lock_guard lock(mutex_);
    --posted_;
    post_tasks();
  } catch (const std::exception&) {
    // Without memory, readers read the chunks themselves.
  }
}

// At the end of its scope, gives those chunks up that have not been read: requests wait for them.
class ReadAhead::GivenUp {
 public:
  GivenUp(ChunksAhead& all, std::span<const ChunksAhead::Chunk> chunks)
      : all_(all), chunks_(chunks) {}
  ~GivenUp() { all_.give_up(chunks_); }
  GivenUp(const GivenUp&) = delete;
  GivenUp& operator=(const GivenUp&) = delete;

 private:
  ChunksAhead& all_;
  std::span<const ChunksAhead::Chunk> chunks_;
};

// False when no chunk is waiting.
bool ReadAhead::read_next() {
  try {
    const auto max_count = static_cast<std::size_t>(
        is_remote() ? (array_.store->traits().parallel_requests + 1) / 2
                    : std::max<std::uint64_t>(1, kTaskBytes / unit_bytes_));
    const std::vector<ChunksAhead::Chunk> chunks = chunks_.next(max_count);
    if (chunks.empty()) return false;
    const GivenUp unread(chunks_, chunks);
    ReadOptions options;
    {
      const std::lock_guard lock(mutex_);
      options.threads = is_remote() ? threads_ : 1;
      options.worker_scope = scope_;
    }
    const auto work = [&] { read(chunks, options); };
    if (options.worker_scope) {
      options.worker_scope(work);
    } else {
      work();
    }
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

void ReadAhead::read(std::span<const ChunksAhead::Chunk> chunks, const ReadOptions& options) {
  try {
    ChunkReader reader(array_, *array_.context, nullptr, options, this);
    std::vector<StoredPart> parts;
    for (const ChunksAhead::Chunk& chunk : chunks) {
      const Box& box = chunk->box();
      for_each_chunk(array_.grid, {box.start, box.count}, Strides(box.start.size(), 0),
                     [&](const ChunkSlice& slice) {
                       parts.push_back(array_.part_of(slice, nullptr));
                       parts.back().ahead = chunk.get();
                     });
    }
    reader.read(std::move(parts));
  } catch (const std::exception&) {
    // Who needs the chunk reads it and gets the error.
  }
}

}  // namespace zarrcore
