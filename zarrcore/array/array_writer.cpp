#include "zarrcore/array/array_writer.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>

#include "zarrcore/array/chunk_reader.h"
#include "zarrcore/array/pending_chunk.h"
#include "zarrcore/base/buffer.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/process.h"

namespace zarrcore {
namespace {

// How many chunks or inner chunks of a selection are processed at once.
constexpr std::size_t kBatchSize = ChunkReader::kBatchSize;
// After this many bytes have been put, free memory is returned to the system.
constexpr std::uint64_t kReturnedBytes = std::uint64_t{128} << 20;
// The bytes that may be queued at first, unless puts wait for answers: memory that is used again
// soon is still in the caches of the CPU. They become more, up to this part of the bound of pending
// bytes, when threads had nothing to do although the queue was full after a write.
constexpr std::uint64_t kFirstQueuedBytes = 8 << 20;
constexpr std::uint64_t kQueuedPart = 4;

// Calls `body` with the chunks that a selection meets, a batch at a time.
void for_each_chunk_batch(const ChunkGrid& grid, const Selection& selection, const Strides& strides,
                          const std::function<void(const std::vector<ChunkSlice>&)>& body) {
  std::vector<ChunkSlice> batch;
  for_each_chunk(grid, selection, strides, [&](const ChunkSlice& slice) {
    batch.push_back(slice);
    if (batch.size() < kBatchSize) return;
    body(batch);
    batch.clear();
  });
  body(batch);
}

// With WriterOptions::locks, each chunk is read, or written and put, under the lock of its key, one
// at a time for each thread. No cache is used: it does not know what other processes have put.
FileLocks::Held lock_chunk(const FileLocks& locks, const std::string& key) {
  return with_context({"chunk ", key}, [&] { return locks.lock(key); });
}

void write_locked(const ArrayState& array, const WriterOptions& writer, const ChunkSlice& slice,
                  const Source& source) {
  std::atomic<std::uint64_t> pending_bytes{0};
  PendingChunk chunk(array, slice.chunk, pending_bytes, writer.stores_empty_chunks);
  const FileLocks::Held held = lock_chunk(*writer.locks, chunk.key());
  for (const StoredSlice& inner : chunk.cut(slice)) {
    chunk.write(inner, source.data + inner.offset, source.converter,
                PendingChunk::WriteSteps::encoding);
  }
  chunk.put(PendingChunk::PutMode::exclusive);
}

void read_locked(const ArrayState& array, const FileLocks& locks, const ChunkSlice& slice,
                 const Destination& destination) {
  ChunkCache empty(0, 0);
  CachedArray nothing(empty);
  std::vector<StoredPart> part{array.part_of(slice, destination.data)};
  const FileLocks::Held held = lock_chunk(locks, *part.front().key);
  const ReadOptions alone;
  ChunkReader(array, nothing, destination.converter, alone).read(std::move(part));
}

}  // namespace

// Chunks that are being read. They are not put meanwhile: a shard would be read with the index of
// its old value.
class ArrayWriter::HeldChunks {
 public:
  explicit HeldChunks(ArrayWriter& writer) : writer_(writer) {}
  ~HeldChunks() {
    locks_.clear();
    for (const Pending& chunk : chunks_) writer_.drop(chunk);
  }
  HeldChunks(const HeldChunks&) = delete;
  HeldChunks& operator=(const HeldChunks&) = delete;

  const Pending& add(const std::vector<std::uint64_t>& index) {
    chunks_.push_back(writer_.pending(index));
    auto lock = chunks_.back()->hold();
    while (!lock) {
      chunks_.back() = writer_.pending(index);
      lock = chunks_.back()->hold();
    }
    locks_.push_back(std::move(*lock));
    return chunks_.back();
  }

 private:
  ArrayWriter& writer_;
  std::vector<Pending> chunks_;
  std::vector<std::shared_lock<SharedMutex>> locks_;
};

ArrayWriter::ArrayWriter(std::shared_ptr<const Array> array, WriterOptions options)
    : array_(std::move(array)),
      options_(std::move(options)),
      max_queued_(options_.max_bytes / kQueuedPart),
      queue_(array_->state().context->pool) {
  if (!is_slow()) max_queued_ = std::min<std::uint64_t>(max_queued_, kFirstQueuedBytes);
}

ArrayWriter::~ArrayWriter() = default;

void ArrayWriter::stop() {
  queue_.cancel();
}

std::size_t ArrayWriter::requests() const {
  return state().store->traits().parallel_requests;
}

ArrayWriter::Pending ArrayWriter::pending(const std::vector<std::uint64_t>& chunk) {
  const std::lock_guard lock(mutex_);
  if (const auto it = chunks_.find(chunk); it != chunks_.end()) {
    order_.splice(order_.begin(), order_, it->second);
    return *it->second;
  }
  // `added` stays empty if memory runs out here.
  std::list<Pending> added;
  added.push_front(
      std::make_shared<PendingChunk>(state(), chunk, pending_bytes_, options_.stores_empty_chunks));
  chunks_.emplace(chunk, added.begin());
  order_.splice(order_.begin(), added);
  return order_.front();
}

void ArrayWriter::write(const Selection& selection, const Source& source,
                        const WriteOptions& options) {
  with_context(state().description, [&] {
    check_selection(selection, array_->shape());
    if (source.strides.size() != array_->shape().size()) {
      throw Error("the source does not have the " + std::to_string(array_->shape().size()) +
                  " dimensions of the array");
    }
    if (!options_.locks) return write_pending(selection, source, options);
    for_each_chunk_batch(state().grid, selection, source.strides,
                         [&](const std::vector<ChunkSlice>& chunks) {
                           const auto write_one = [&](std::size_t i) {
                             write_locked(state(), options_, chunks[i], source);
                           };
                           state().context->pool.parallel_for(chunks.size(), options.threads,
                                                              write_one, options.worker_scope);
                         });
  });
}

// The errors of jobs get their context when they are thrown.
void ArrayWriter::encode_in_background(const Pending& chunk, std::size_t position,
                                       const WriteOptions& options) {
  queue_.post_encoding({options.threads - 1, options.background_scope}, chunk->decoded_size(),
                       [this, chunk, position,
                        background = WriteOptions{options.threads, {}, options.background_scope}] {
                         chunk->encode(position);
                         if (!chunk->claim_put()) return;
                         // Stores that can wait for several puts at once get them in the
                         // background, so that no thread stops encoding.
                         is_slow() ? put_in_background(chunk, background) : put_claimed(chunk);
                       });
}

void ArrayWriter::put_in_background(const Pending& chunk, const WriteOptions& options) {
  queue_.post_put({std::max(options.threads - 1, requests()), options.background_scope},
                  chunk->pending_bytes(), [this, chunk] { put_claimed(chunk); });
}

// Threads had nothing to do, if the queue is empty after it was full.
void ArrayWriter::lengthen_queue() {
  if (queue_.jobs() > 0 || !was_full_.exchange(false)) return;
  max_queued_ = std::min(2 * max_queued_, options_.max_bytes / kQueuedPart);
}

bool ArrayWriter::has_too_many_queued(std::size_t threads) {
  // Each thread, and each request, has a chunk, however large.
  const std::size_t at_once = std::max(threads, requests());
  if (queue_.jobs() <= at_once || queue_.bytes() <= max_queued_) return false;
  was_full_ = true;
  return true;
}

// Waits for the queue, then puts complete chunks, then the least recently written ones, until
// the pending bytes are within the bound. Throws when that is impossible.
void ArrayWriter::evict(FirstError& error, std::size_t threads) {
  const auto is_full = [this] { return pending_bytes_ > options_.max_bytes; };
  while ((is_full() || has_too_many_queued(threads)) && queue_.help()) {
  }
  state().context->chunks.set_reserved_bytes(state().context->pending_bytes);
  if (!is_full()) return;
  const std::lock_guard one_at_a_time(evict_mutex_);
  std::vector<Pending> oldest;
  {
    const std::lock_guard lock(mutex_);
    oldest.assign(order_.rbegin(), order_.rend());
  }
  // Chunks that are being written come last. Other threads change this meanwhile, so it is queried
  // once.
  const auto others = std::stable_partition(
      oldest.begin(), oldest.end(), [](const Pending& chunk) { return chunk->is_complete(); });
  std::stable_partition(others, oldest.end(),
                        [](const Pending& chunk) { return !chunk->is_being_written(); });
  bool has_failed = false;
  for (const Pending& chunk : oldest) {
    if (pending_bytes_ <= options_.max_bytes) return;
    has_failed |= !error.keep([&] { put(chunk); });
  }
  if (has_failed && pending_bytes_ > options_.max_bytes) error.rethrow();
}

void ArrayWriter::put(const Pending& chunk, bool is_claimed) {
  const std::uint64_t bytes = chunk->pending_bytes();
  chunk->put(is_claimed ? PendingChunk::PutMode::claimed : PendingChunk::PutMode::pending);
  drop(chunk);
  state().context->chunks.set_reserved_bytes(state().context->pending_bytes);
  const std::uint64_t put_bytes = put_bytes_ += bytes;
  if (put_bytes < kReturnedBytes) return;
  put_bytes_ = 0;
  return_free_memory();
}

// Drops a chunk that has nothing pending. A chunk that is in use is dropped later.
void ArrayWriter::drop(const Pending& chunk) {
  const std::lock_guard lock(mutex_);
  const auto it = chunks_.find(chunk->index());
  if (it == chunks_.end() || *it->second != chunk || !chunk->retire()) return;
  order_.erase(it->second);
  chunks_.erase(it);
}

void ArrayWriter::flush(const WriteOptions& options) {
  with_context(state().description, [&] {
    std::vector<Pending> all;
    {
      const std::lock_guard lock(mutex_);
      all.assign(order_.begin(), order_.end());
    }
    // All threads encode, even if there are few chunks. Chunks that cannot be encoded
    // are reported by put(), which tries again.
    std::vector<std::pair<Pending, std::size_t>> inner_chunks;
    for (const Pending& chunk : all) {
      for (const std::size_t position : chunk->pending_positions())
        inner_chunks.emplace_back(chunk, position);
    }
    FirstError not_encoded;
    state().context->pool.parallel_for(
        inner_chunks.size(), options.threads,
        [&](std::size_t i) {
          const auto& inner = inner_chunks[i];
          not_encoded.keep([&] { inner.first->encode(inner.second); });
        },
        options.worker_scope);
    FirstError error;
    state().context->pool.parallel_for(
        all.size(), std::max(options.threads, requests()),
        [&](std::size_t i) { error.keep([&] { put(all[i]); }); }, options.worker_scope);
    queue_.cancel();
    const std::exception_ptr earlier = queue_.take_error();
    error.rethrow();
    if (earlier) std::rethrow_exception(earlier);
  });
}

void ArrayWriter::read(const Selection& selection, const Destination& destination,
                       const ReadOptions& options) {
  with_context(state().description, [&] {
    state().check_read(selection, destination);
    AccessPattern::Request request(
        *state().pattern, selection,
        {.fits_cache = state().byte_count <= state().context->chunks.max_bytes()});
    for_each_chunk_batch(state().grid, selection, destination.strides,
                         [&](const std::vector<ChunkSlice>& chunks) {
                           if (!options_.locks)
                             return read_chunks(chunks, destination, request, options);
                           const auto read_one = [&](std::size_t i) {
                             read_locked(state(), *options_.locks, chunks[i], destination);
                           };
                           state().context->pool.parallel_for(chunks.size(), options.threads,
                                                              read_one, options.worker_scope);
                         });
  });
}

void ArrayWriter::read_chunks(const std::vector<ChunkSlice>& chunks, const Destination& destination,
                              AccessPattern::Request& request, const ReadOptions& options) {
  HeldChunks held(*this);
  std::vector<std::pair<Pending, StoredSlice>> pending_slices;
  std::vector<StoredPart> stored;
  for (const ChunkSlice& slice : chunks) {
    const Pending chunk = held.add(slice.chunk);
    for (StoredSlice& inner : chunk->split(slice, destination.data, stored)) {
      pending_slices.emplace_back(chunk, std::move(inner));
    }
  }
  state().context->pool.parallel_for(
      pending_slices.size(), options.threads,
      [&](std::size_t i) {
        const auto& [chunk, slice] = pending_slices[i];
        chunk->read(slice, destination.data + slice.offset, destination.converter);
      },
      options.worker_scope);
  // The reader looks at the caches only now: a chunk that has just been put has invalidated them.
  ChunkReader reader(state(), state().cached, destination.converter, options, &request);
  reader.read(std::move(stored));
}

}  // namespace zarrcore
