// A small pool of threads for loops over chunks. The calling thread always takes part, so a loop
// makes progress even when every worker is busy. In a forked child, where the workers of the parent
// do not exist, and while the process ends, it does all the work.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace zarrcore {

// Called by a worker thread with its work for one loop, which it must run exactly once. It lets the
// host program pass thread-local state from the caller to the workers. It must not throw.
using WorkerScope = std::function<void(const std::function<void()>& work)>;

class ThreadPool {
 public:
  ThreadPool();
  // Ends the workers without waiting for them: in a forked child they do not exist, and the wait
  // would never end.
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // False in a forked child, and when the process has begun to end.
  bool has_workers() const;

  // Calls `body(i)` for every i below `count`, on at most `threads` threads, and waits for all
  // calls. When a call throws, no new calls are started, and the first exception is rethrown.
  // Threads are created when they are first needed. May be called from several threads at once, and
  // from inside `body`.
  void parallel_for(std::size_t count, std::size_t threads,
                    const std::function<void(std::size_t i)>& body, const WorkerScope& scope = {});

 private:
  friend class TaskGroup;
  class ForkingPools;
  struct Loop;
  struct State;

  std::shared_ptr<State> state_;  // shared with the workers
};

}  // namespace zarrcore
