#include "zarrcore/array/prefetcher.h"

#include <algorithm>
#include <exception>
#include <set>
#include <utility>

#include "zarrcore/array/chunk_reader.h"

namespace zarrcore {
namespace {

// The approximate number of bytes that one task decodes; at least one chunk.
constexpr std::uint64_t kTaskBytes = 256 << 10;

}  // namespace

Prefetcher::~Prefetcher() {
  {
    const std::lock_guard lock(mutex_);
    is_closing_ = true;
    keep([](const Box&) { return false; });
  }
  tasks_.cancel();
}

void Prefetcher::plan(const AccessPattern::Request& request, const ReadOptions& options) {
  if (!request.next_chunks()) return;
  const std::lock_guard lock(mutex_);
  std::set<Shape> starts;
  for (const Box& chunk : *request.next_chunks()) starts.insert(chunk.start);
  keep([&](const Box& chunk) {
    return starts.contains(chunk.start) || (request.walk() && chunk.meets(*request.walk()));
  });
  const std::size_t before = queue_.size();
  for (const Box& chunk : *request.next_chunks()) {
    if (!prefetched_.contains(chunk.start)) add(chunk);
  }
  if (queue_.size() == before) return;
  threads_ = options.threads;
  scope_ = cancellable(options.lasting_scope());
  post_tasks();
}

void Prefetcher::end(const AccessPattern::Request& request) {
  if (!request.walk()) return;
  const std::lock_guard lock(mutex_);
  // Chunks of this request that are still listed were not current: they are dropped.
  keep([&](const Box& chunk) { return !chunk.meets(*request.walk()); });
}

// Adds a chunk as the next one. `mutex_` must be locked.
void Prefetcher::add(const Box& chunk) {
  StoredPart part;
  for_each_chunk(array_.grid, {chunk.start, chunk.count}, Strides(chunk.start.size(), 0),
                 [&](const ChunkSlice& slice) { part = array_.part_of(slice, nullptr); });
  // The box is one inner chunk.
  PlaceInValue place = part.place();
  std::vector<AxisSlice> axes = part.axes;
  while (const ShardingCodec* sharding = place.chain->sharding()) {
    const auto outer = std::exchange(axes, {});
    for_each_inner_chunk(*sharding, outer, [&](StoredSlice inner) {
      place = {{part.chain, &sharding->inner_chain()},
               place.position * sharding->inner_count() + inner.position};
      axes = std::move(inner.axes);
    });
  }
  auto entry =
      array_.context->chunks.queue(array_.cached, part.key, place, array_.pattern->unit_bytes());
  if (!entry) return;
  const auto added =
      std::make_shared<const Prefetched>(Prefetched{chunk, std::move(part), std::move(entry)});
  prefetched_.emplace(chunk.start, added);
  queue_.push_back(added);
}

void Prefetcher::keep(const std::function<bool(const Box&)>& is_wanted) {
  ChunkCache& cache = array_.context->chunks;
  std::erase_if(prefetched_, [&](const auto& item) {
    if (is_wanted(item.second->box)) return false;
    cache.drop_prefetched(*item.second->entry);
    // That its shard was missing is forgotten, as the shard may be put.
    cache.erase(array_.cached, item.second->part.key, item.second->part.place(),
                ChunkCache::Erased::missing);
    return true;
  });
  std::erase_if(
      queue_, [&](const PrefetchedPtr& chunk) { return !prefetched_.contains(chunk->box.start); });
}

// `scope`, in which the work is also cancelled with the tasks.
WorkerScope Prefetcher::cancellable(WorkerScope scope) const {
  return
      [cancellation = cancellation_, scope = std::move(scope)](const std::function<void()>& work) {
        const Cancellation::Scope cancelled(cancellation.get());
        scope ? scope(work) : work();
      };
}

// `mutex_` must be locked. The reader counts as one of the threads.
void Prefetcher::post_tasks() {
  if (is_closing_) return;
  const std::size_t at_once = array_.pattern->is_remote() ? 2 : threads_ - 1;
  while (posted_ < std::min(at_once, queue_.size())) {
    tasks_.post([this] { run_task(); }, at_once);
    ++posted_;
  }
}

void Prefetcher::run_task() {
  read_next();
  try {
    const std::lock_guard lock(mutex_);
    --posted_;
    post_tasks();
  } catch (const std::exception&) {
    // If there is no memory, readers read the chunks themselves.
  }
}

// False when no chunk is queued. A chunk that cannot be read is absent from the cache again: the
// request that needs it reads it and gets the error.
bool Prefetcher::read_next() {
  try {
    const auto max_count = static_cast<std::size_t>(
        array_.pattern->is_remote()
            ? (array_.store->traits().parallel_requests + 1) / 2
            : std::max<std::uint64_t>(1, kTaskBytes / array_.pattern->unit_bytes()));
    std::vector<StoredPart> parts;
    std::vector<ChunkCache::Filling> fillings;
    ReadOptions options;
    {
      const std::lock_guard lock(mutex_);
      fillings.reserve(std::min(max_count, queue_.size()));
      while (fillings.size() < max_count && !queue_.empty()) {
        const PrefetchedPtr chunk = std::move(queue_.front());
        queue_.pop_front();
        auto filling = array_.context->chunks.start_queued(chunk->entry);
        if (!filling) continue;
        fillings.push_back(std::move(filling));
        parts.push_back(chunk->part);
        parts.back().filling = &fillings.back();
      }
      options.threads = array_.pattern->is_remote() ? threads_ : 1;
      options.worker_scope = scope_;
    }
    if (parts.empty()) return false;
    const auto work = [&] {
      try {
        ChunkReader(array_, array_.cached, nullptr, options).read(std::move(parts));
      } catch (const std::exception&) {
        // See above.
      }
    };
    options.worker_scope ? options.worker_scope(work) : work();
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace zarrcore
