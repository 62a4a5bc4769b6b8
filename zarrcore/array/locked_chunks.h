// Chunks that several processes write, in a store that cannot tell that a value has changed: each
// chunk is read, or written and put, under a lock of its key. Nothing stays pending, and no cache
// is asked, since it does not know what other processes have put.
#pragma once

#include <string>
#include <vector>

#include "zarrcore/array/array.h"
#include "zarrcore/array/array_state.h"
#include "zarrcore/array/selection.h"
#include "zarrcore/store/file_locks.h"

namespace zarrcore {

class LockedChunks {
 public:
  // Of an array, which must outlive this object, as must the locks.
  LockedChunks(const ArrayState& array, const FileLocks& locks) : array_(array), locks_(locks) {}

  // Each thread holds the lock of one chunk at a time. Throws Error, which names the chunk; others
  // may then have been written.
  void write(const std::vector<ChunkSlice>& chunks, const Source& source, bool stores_empty_chunks,
             std::size_t threads, const WorkerScope& scope) const;
  void read(const std::vector<ChunkSlice>& chunks, const Destination& destination,
            std::size_t threads, const WorkerScope& scope) const;

 private:
  FileLocks::Held lock(const std::string& key) const;

  const ArrayState& array_;
  const FileLocks& locks_;
};

}  // namespace zarrcore
