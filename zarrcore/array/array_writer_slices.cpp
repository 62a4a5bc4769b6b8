// How ArrayWriter writes a selection: as slices of the inner chunks that it meets, in parallel.
#include <deque>
#include <utility>

#include "zarrcore/array/array_writer.h"
#include "zarrcore/array/chunk_reader.h"
#include "zarrcore/array/pending_chunk.h"

namespace zarrcore {
namespace {

// A write of this many slices for each thread keeps all threads busy itself. Queueing it gains
// something only if the program works long enough until the next one.
constexpr std::size_t kManySlices = 4;
// So few and small slices are copied by the calling thread: to wake others takes longer.
constexpr std::size_t kMaxSmallSlices = 256;
constexpr std::uint64_t kMaxSmallBytes = 128 << 10;
// Smaller inner chunks of shards are encoded at once: a task takes about as long.
constexpr std::uint64_t kMinBackgroundBytes = 16 << 10;

}  // namespace

// The slices that one call writes to a chunk.
struct ArrayWriter::ChunkWrite {
  explicit ChunkWrite(Pending written) : chunk(std::move(written)) {}
  ~ChunkWrite() { end(); }
  ChunkWrite(const ChunkWrite&) = delete;
  ChunkWrite& operator=(const ChunkWrite&) = delete;

  void end() {
    if (!std::exchange(has_ended, true)) chunk->end_write();
  }

  const Pending chunk;
  std::atomic<std::size_t> slices_left = 0;
  std::mutex mutex = {};                // guards the following until no slices are left
  std::vector<std::size_t> ready = {};  // inner chunks that are to be encoded
  bool has_ended = false;
};

// A slice of an inner chunk of a pending chunk.
struct ArrayWriter::PendingSlice {
  ChunkWrite* write;
  StoredSlice slice;
  bool is_ready = false;  // has been written, and the inner chunk is to be encoded
};

void ArrayWriter::write_pending(const Selection& selection, const Source& source,
                                const WriteOptions& options) {
  const Pace::TimePoint began = Pace::now();
  {
    const std::lock_guard lock(mutex_);
    pace_.begin(began);
  }
  FirstError error;
  lengthen_queue();
  evict(error, options.threads);
  std::deque<ChunkWrite> writes;
  std::vector<PendingSlice> slices;
  const auto write_batch = [&] {
    write_slices(writes, slices, source, options, error);
    slices.clear();
    writes.clear();
  };
  for_each_chunk(state().grid, selection, source.strides, [&](const ChunkSlice& slice) {
    Pending chunk = pending(slice.chunk);
    while (!chunk->begin_write()) chunk = pending(slice.chunk);
    ChunkWrite& write = writes.emplace_back(std::move(chunk));
    std::vector<StoredSlice> inner = write.chunk->cut(slice);
    write.slices_left = inner.size();
    for (StoredSlice& one : inner) slices.push_back({&write, std::move(one)});
    if (slices.size() >= ChunkReader::kBatchSize) write_batch();
  });
  write_batch();
  {
    const std::lock_guard lock(mutex_);
    pace_.end(began);
  }
  error.rethrow();
  if (const auto earlier = queue_.take_error()) std::rethrow_exception(earlier);
}

bool ArrayWriter::writes_in_background(std::size_t slices, const WriteOptions& options) const {
  if (!options_.writes_in_background || options.threads <= 1) return false;
  if (is_slow() || slices < kManySlices * options.threads) return true;
  const std::lock_guard lock(mutex_);
  return pace_.is_mostly_work();
}

bool ArrayWriter::are_small(const std::vector<PendingSlice>& slices) const {
  if (slices.size() > kMaxSmallSlices) return false;
  std::uint64_t elements = 0;
  for (const PendingSlice& part : slices) elements += element_count(part.slice.axes);
  return elements <= kMaxSmallBytes / state().metadata.data_type.item_size;
}

// Removes the slices that have been written completely. The chunks of the others have to be decoded
// first, or encoded now.
void ArrayWriter::copy_slices(std::vector<PendingSlice>& slices, const Source& source) {
  std::erase_if(slices, [&](PendingSlice& part) {
    const auto written =
        part.write->chunk->write(part.slice, source.data + part.slice.offset, source.converter,
                                 PendingChunk::WriteSteps::copying);
    part.is_ready = written == PendingChunk::WriteResult::is_ready;
    if (written != PendingChunk::WriteResult::done) return false;
    --part.write->slices_left;
    return true;
  });
}

// Writes a slice that copy_slices() has left.
void ArrayWriter::write_slice(PendingSlice& part, const Source& source, bool encodes_at_once) {
  PendingChunk& chunk = *part.write->chunk;
  if (part.is_ready) {
    if (!encodes_at_once) return;
    chunk.encode(part.slice.position);
    part.is_ready = false;
    return;
  }
  const auto steps =
      encodes_at_once ? PendingChunk::WriteSteps::encoding : PendingChunk::WriteSteps::decoding;
  const auto written =
      chunk.write(part.slice, source.data + part.slice.offset, source.converter, steps);
  part.is_ready = written == PendingChunk::WriteResult::is_ready;
}

// All slices of the call have been written to a chunk. It is encoded and put as far as that is due.
void ArrayWriter::end_write(ChunkWrite& write, bool is_in_background, const WriteOptions& options,
                            FirstError& error) {
  write.end();
  if (!write.ready.empty()) {
    for (const std::size_t position : write.ready)
      encode_in_background(write.chunk, position, options);
  } else if (write.chunk->claim_put()) {
    if (is_in_background) {
      put_in_background(write.chunk, options);
    } else {
      error.keep([&] { put_claimed(write.chunk); });
    }
  }
}

void ArrayWriter::write_slices(std::deque<ChunkWrite>& writes, std::vector<PendingSlice>& slices,
                               const Source& source, const WriteOptions& options,
                               FirstError& error) {
  const bool is_in_background = writes_in_background(slices.size(), options);
  if (options.threads > 1 && are_small(slices)) {
    copy_slices(slices, source);
    for (ChunkWrite& write : writes) {
      if (write.slices_left == 0) end_write(write, is_in_background, options, error);
    }
  }
  state().context->pool.parallel_for(
      slices.size(), options.threads,
      [&](std::size_t i) {
        PendingSlice& part = slices[i];
        ChunkWrite& write = *part.write;
        const bool encodes_at_once =
            !is_in_background ||
            (write.chunk->is_shard() && write.chunk->decoded_size() < kMinBackgroundBytes);
        write_slice(part, source, encodes_at_once);
        if (part.is_ready) {
          const std::lock_guard lock(write.mutex);
          write.ready.push_back(part.slice.position);
        }
        if (--write.slices_left == 0) end_write(write, is_in_background, options, error);
        evict(error, options.threads);
      },
      options.worker_scope);
}

}  // namespace zarrcore
