// A small pool of threads for loops over chunks. The calling thread always takes part, so a loop
// makes progress even when every worker is busy (or gone, as in a forked child).
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace zarrcore {

// Wraps what a worker thread does for one loop: called with the work, which it must run exactly
// once. Lets a host program carry thread-local state from the caller to the workers. It must not
// throw.
using WorkerScope = std::function<void(const std::function<void()>& work)>;

class ThreadPool {
 public:
  ThreadPool() = default;
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // Calls `body(i, worker)` for every i below `count`, on at most `threads` threads, which have
  // different numbers `worker` below `threads`. Returns when all calls have. When a call throws,
  // no new ones are begun, and the first exception is thrown on. Threads are made as they are first
  // needed. May be called from several threads at once, but not from inside `body`.
  void parallel_for(std::size_t count, std::size_t threads,
                    const std::function<void(std::size_t i, std::size_t worker)>& body,
                    const WorkerScope& scope = {});

 private:
  struct Loop;
  void work();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::shared_ptr<Loop>> tickets_;  // each invites one worker to a loop
  std::size_t idle_ = 0;
  bool stopping_ = false;
  std::vector<std::thread> workers_;
};

}  // namespace zarrcore
