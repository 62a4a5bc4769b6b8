#include "zarrcore/array/array_writer.h"

#include <algorithm>
#include <optional>
#include <shared_mutex>
#include <utility>

#include "zarrcore/array/chunk_reader.h"
#include "zarrcore/array/pending_chunk.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/free_memory.h"

namespace zarrcore {
namespace {

// A selection is worked on in batches of so many chunks or units.
constexpr std::size_t kBatchSize = ChunkReader::kBatchSize;
// After so many bytes have been put, the process is as small again as it should be.
constexpr std::uint64_t kReturnedBytes = std::uint64_t{128} << 20;

// Calls `body` with the chunks that a selection meets, a batch at a time.
void for_each_batch(const ChunkGrid& grid, const Selection& selection, const Strides& strides,
                    const std::function<void(const std::vector<ChunkSlice>&)>& body) {
  std::vector<ChunkSlice> batch;
  for_each_chunk(grid, selection, strides, [&](ChunkSlice slice) {
    batch.push_back(std::move(slice));
    if (batch.size() < kBatchSize) return;
    body(batch);
    batch.clear();
  });
  body(batch);
}

}  // namespace

// What is written of one unit of a chunk.
struct ArrayWriter::Part {
  Pending chunk;
  InnerSlice slice;
};

// Of what goes wrong in several threads that go on all the same.
class ArrayWriter::FirstError {
 public:
  // False when `body` throws.
  bool keep(const std::function<void()>& body) {
    try {
      body();
      return true;
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!error_) error_ = std::current_exception();
      return false;
    }
  }
  void rethrow() {
    const std::lock_guard lock(mutex_);
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr error_;
};

// Chunks that are being read: none of them is put meanwhile, for a shard that is would be read with
// the index of the old one.
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
  std::vector<std::shared_lock<std::shared_mutex>> locks_;
};

ArrayWriter::ArrayWriter(std::shared_ptr<const Array> array, WriterOptions options)
    : array_(std::move(array)), options_(std::move(options)) {}

ArrayWriter::~ArrayWriter() = default;

ArrayWriter::Pending ArrayWriter::pending(const std::vector<std::uint64_t>& chunk) {
  const std::lock_guard lock(mutex_);
  if (const auto it = chunks_.find(chunk); it != chunks_.end()) {
    order_.splice(order_.begin(), order_, it->second);
    return *it->second;
  }
  order_.push_front(std::make_shared<PendingChunk>(*array_, chunk, waiting_bytes_));
  chunks_.emplace(chunk, order_.begin());
  return order_.front();
}

void ArrayWriter::write(const Selection& selection, const Source& source,
                        const WriteOptions& options) {
  with_context([&] { return array_->description(); },
               [&] {
                 check_selection(selection, array_->shape());
                 if (source.strides.size() != array_->shape().size()) {
                   throw Error("the source does not have the " +
                               std::to_string(array_->shape().size()) + " dimensions of the array");
                 }
                 if (options_.locks) {
                   for_each_batch(array_->grid_, selection, source.strides,
                                  [&](const std::vector<ChunkSlice>& chunks) {
                                    write_locked(chunks, source, options);
                                  });
                   return;
                 }
                 FirstError error;
                 make_room(error);
                 std::vector<Part> parts;
                 for_each_chunk(array_->grid_, selection, source.strides,
                                [&](const ChunkSlice& slice) {
                                  const Pending chunk = pending(slice.chunk);
                                  for (InnerSlice& part : chunk->cut(slice))
                                    parts.push_back({chunk, std::move(part)});
                                  if (parts.size() >= kBatchSize)
                                    write_parts(parts, source, options, error);
                                });
                 write_parts(parts, source, options, error);
                 error.rethrow();
               });
}

void ArrayWriter::write_parts(std::vector<Part>& parts, const Source& source,
                              const WriteOptions& options, FirstError& error) {
  array_->context_->pool.parallel_for(
      parts.size(), std::max<std::size_t>(1, options.threads),
      [&](std::size_t i) {
        Part& part = parts[i];
        while (!part.chunk->write(part.slice, source.data + part.slice.offset, source.converter)) {
          part.chunk = pending(part.chunk->index());
        }
        if (part.chunk->is_complete()) error.keep([&] { put(part.chunk); });
        make_room(error);
      },
      options.worker_scope);
  parts.clear();
}

// Puts what is complete, and then what has waited longest, until the rest is within the bound.
// Throws when that cannot be done.
void ArrayWriter::make_room(FirstError& error) {
  array_->context_->chunks.make_way(array_->context_->waiting_bytes);
  if (waiting_bytes_ <= options_.max_bytes) return;
  const std::lock_guard one_at_a_time(room_mutex_);
  std::vector<Pending> oldest;
  {
    const std::lock_guard lock(mutex_);
    oldest.assign(order_.rbegin(), order_.rend());
  }
  std::stable_partition(oldest.begin(), oldest.end(),
                        [](const Pending& chunk) { return chunk->is_complete(); });
  bool has_failed = false;
  for (const Pending& chunk : oldest) {
    if (waiting_bytes_ <= options_.max_bytes) return;
    has_failed |= !error.keep([&] { put(chunk); });
  }
  if (has_failed && waiting_bytes_ > options_.max_bytes) error.rethrow();
}

void ArrayWriter::put(const Pending& chunk) {
  const std::uint64_t bytes = chunk->waiting_bytes();
  chunk->put();
  drop(chunk);
  array_->context_->chunks.make_way(array_->context_->waiting_bytes);
  if ((put_bytes_ += bytes) < kReturnedBytes) return;
  put_bytes_ = 0;
  return_free_memory();
}

// Forgets a chunk of which nothing waits. One that somebody uses just now is forgotten later.
void ArrayWriter::drop(const Pending& chunk) {
  const std::lock_guard lock(mutex_);
  const auto it = chunks_.find(chunk->index());
  if (it == chunks_.end() || *it->second != chunk || !chunk->retire()) return;
  order_.erase(it->second);
  chunks_.erase(it);
}

void ArrayWriter::flush(const WriteOptions& options) {
  with_context([&] { return array_->description(); },
               [&] {
                 std::vector<Pending> all;
                 {
                   const std::lock_guard lock(mutex_);
                   all.assign(order_.begin(), order_.end());
                 }
                 // All threads encode, however few the chunks are. What cannot be encoded is
                 // reported by put(), which tries again.
                 std::vector<std::pair<Pending, std::size_t>> units;
                 for (const Pending& chunk : all) {
                   for (const std::size_t unit : chunk->waiting_units())
                     units.emplace_back(chunk, unit);
                 }
                 FirstError not_encoded;
                 array_->context_->pool.parallel_for(
                     units.size(), std::max<std::size_t>(1, options.threads),
                     [&](std::size_t i) {
                       not_encoded.keep([&] { units[i].first->encode(units[i].second); });
                     },
                     options.worker_scope);
                 FirstError error;
                 array_->context_->pool.parallel_for(
                     all.size(), std::max<std::size_t>(1, options.threads),
                     [&](std::size_t i) { error.keep([&] { put(all[i]); }); },
                     options.worker_scope);
                 error.rethrow();
               });
}

void ArrayWriter::read(const Selection& selection, const Destination& destination,
                       const ReadOptions& options) {
  with_context([&] { return array_->description(); },
               [&] {
                 array_->check_read(selection, destination);
                 for_each_batch(array_->grid_, selection, destination.strides,
                                [&](const std::vector<ChunkSlice>& chunks) {
                                  if (options_.locks) {
                                    read_locked(chunks, destination, options);
                                  } else {
                                    read_chunks(chunks, destination, options);
                                  }
                                });
               });
}

void ArrayWriter::read_chunks(const std::vector<ChunkSlice>& chunks, const Destination& destination,
                              const ReadOptions& options) {
  HeldChunks held(*this);
  std::vector<Part> waiting;
  std::vector<ChunkPart> stored;
  for (const ChunkSlice& slice : chunks) {
    const Pending chunk = held.add(slice.chunk);
    for (InnerSlice& part : chunk->split(slice, destination.data, stored)) {
      waiting.push_back({chunk, std::move(part)});
    }
  }
  array_->context_->pool.parallel_for(
      waiting.size(), std::max<std::size_t>(1, options.threads),
      [&](std::size_t i) {
        const auto& [chunk, slice] = waiting[i];
        chunk->read(slice, destination.data + slice.offset, destination.converter);
      },
      options.worker_scope);
  // With what the caches know now: a chunk of which nothing waits has been forgotten by them.
  ChunkReader(*array_->store_, *array_->context_, array_->id_, array_->fill_value_,
              array_->data_type().item_size, destination.converter, options)
      .read(std::move(stored));
}

FileLocks::Held ArrayWriter::lock(const std::string& key) const {
  return with_context([&] { return "chunk " + key; }, [&] { return options_.locks->lock(key); });
}

void ArrayWriter::write_locked(const std::vector<ChunkSlice>& chunks, const Source& source,
                               const WriteOptions& options) {
  array_->context_->pool.parallel_for(
      chunks.size(), std::max<std::size_t>(1, options.threads),
      [&](std::size_t i) {
        PendingChunk chunk(*array_, chunks[i].chunk, waiting_bytes_);
        const FileLocks::Held held = lock(chunk.key());
        for (const InnerSlice& part : chunk.cut(chunks[i])) {
          chunk.write(part, source.data + part.offset, source.converter);
        }
        chunk.put();
      },
      options.worker_scope);
}

// Past the caches: they do not know what other processes have put.
void ArrayWriter::read_locked(const std::vector<ChunkSlice>& chunks, const Destination& destination,
                              const ReadOptions& options) {
  array_->context_->pool.parallel_for(
      chunks.size(), std::max<std::size_t>(1, options.threads),
      [&](std::size_t i) {
        Context fresh(0, 0);
        std::vector<ChunkPart> part{array_->part_of(chunks[i], destination.data)};
        const FileLocks::Held held = lock(*part.front().key);
        const ReadOptions alone;
        ChunkReader(*array_->store_, fresh, array_->id_, array_->fill_value_,
                    array_->data_type().item_size, destination.converter, alone)
            .read(std::move(part));
      },
      options.worker_scope);
}

}  // namespace zarrcore
