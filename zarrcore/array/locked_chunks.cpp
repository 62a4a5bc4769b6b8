#include "zarrcore/array/locked_chunks.h"

#include <algorithm>
#include <atomic>

#include "zarrcore/array/chunk_reader.h"
#include "zarrcore/array/pending_chunk.h"
#include "zarrcore/base/error.h"

namespace zarrcore {

FileLocks::Held LockedChunks::lock(const std::string& key) const {
  return with_context([&] { return "chunk " + key; }, [&] { return locks_.lock(key); });
}

void LockedChunks::write(const std::vector<ChunkSlice>& chunks, const Source& source,
                         bool stores_empty_chunks, std::size_t threads,
                         const WorkerScope& scope) const {
  std::atomic<std::uint64_t> pending_bytes{0};
  array_.context->pool.parallel_for(
      chunks.size(), std::max<std::size_t>(1, threads),
      [&](std::size_t i) {
        PendingChunk chunk(array_, chunks[i].chunk, pending_bytes, stores_empty_chunks);
        const FileLocks::Held held = lock(chunk.key());
        for (const StoredSlice& slice : chunk.cut(chunks[i])) {
          chunk.write(slice, source.data + slice.offset, source.converter,
                      PendingChunk::Work::encoding);
        }
        chunk.put(true);
      },
      scope);
}

void LockedChunks::read(const std::vector<ChunkSlice>& chunks, const Destination& destination,
                        std::size_t threads, const WorkerScope& scope) const {
  array_.context->pool.parallel_for(
      chunks.size(), std::max<std::size_t>(1, threads),
      [&](std::size_t i) {
        ChunkCache empty(0, 0);
        CachedArray nothing(empty);
        std::vector<StoredPart> part{array_.part_of(chunks[i], destination.data)};
        const FileLocks::Held held = lock(*part.front().key);
        const ReadOptions alone;
        ChunkReader(array_, nothing, destination.converter, alone).read(std::move(part));
      },
      scope);
}

}  // namespace zarrcore
