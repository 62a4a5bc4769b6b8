// How a selection is read.
#pragma once

#include <cstddef>
#include <functional>

#include "zarrcore/array/read_statistics.h"
#include "zarrcore/array/thread_pool.h"

namespace zarrcore {

struct ReadOptions {
  std::size_t threads = 1;
  WorkerScope worker_scope = nullptr;
  // Whether it may wait for chunks that other requests are reading. Not if their I/O needs
  // something that the calling thread may hold, as file systems written in Python do.
  bool waits_for_others = true;
  // Whether a missing chunk is an error, which names it, instead of the fill value.
  bool missing_chunks_are_errors = false;
  ReadStatistics* statistics = nullptr;  // added to, if not null
  // Makes a scope for work that goes on after the read has returned. Null: nothing is read ahead.
  std::function<WorkerScope()> lasting_scope = nullptr;
};

}  // namespace zarrcore
