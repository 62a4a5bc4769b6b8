// The threads of a program's arrays: loops over chunks (ThreadPool::parallel_for), and tasks that
// run in the background (TaskGroup).
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include "zarrcore/base/api.h"
#include "zarrcore/base/cancellation.h"

namespace zarrcore {

// Called by a worker thread with its work for one loop, which it must run exactly once. It lets the
// host program pass thread-local state from the caller to the workers. It must not throw.
using WorkerScope = std::function<void(const std::function<void()>& work)>;

// A small pool of threads for loops over chunks. The calling thread always takes part, so a loop
// makes progress even when every worker is busy. In a forked child, where the workers of the parent
// do not exist, and while the process ends, it does all the work. The end of the process waits a
// short time for loops that have begun before.
class ZARRCORE_API ThreadPool {
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
  struct TaskQueue;
  struct State;

  std::shared_ptr<State> state_;  // shared with the workers
};

// Tasks that run on idle threads of a pool while the caller continues. May be used by several
// threads at once. The pool must outlive it.
//
// Loops of the pool go before tasks. In a forked child, where the pool has no threads, post() runs
// the task itself; while the process ends, tasks wait for help(). No task runs during
// fork(), which waits for those that are running.
class TaskGroup {
 public:
  // Must not throw.
  using Task = std::function<void()>;

  explicit TaskGroup(ThreadPool& pool);
  // Of tasks that nobody waits for: `cancellation` is cancelled by cancel(), and before the process
  // forks or ends, so that neither waits for them. After a fork it is reset.
  TaskGroup(ThreadPool& pool, std::shared_ptr<Cancellation> cancellation);
  // Like cancel().
  ~TaskGroup();
  TaskGroup(const TaskGroup&) = delete;
  TaskGroup& operator=(const TaskGroup&) = delete;

  // Queues a task. Tasks start in the order of their calls, on up to `threads` threads at once.
  // Throws std::bad_alloc; the task is then not queued.
  void post(Task task, std::size_t threads);

  // Runs one queued task on the calling thread, or waits until a running task has ended. Returns
  // false if there was no task.
  bool help();

  // Drops the queued tasks, and waits for those that are running.
  void cancel();

  // The tasks that are queued or running.
  std::size_t size() const;

 private:
  std::shared_ptr<ThreadPool::State> pool_;
  std::shared_ptr<ThreadPool::TaskQueue> queue_;
  std::shared_ptr<Cancellation> cancellation_;  // null: tasks that are needed
};

// The first error of several threads that continue after an error. May be used by several threads
// at once.
class FirstError {
 public:
  // False when `body` throws.
  bool keep(const std::function<void()>& body) noexcept {
    try {
      body();
      return true;
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!error_) error_ = std::current_exception();
      return false;
    }
  }

  // Returns the error and forgets it; null if there is no error.
  std::exception_ptr take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(error_, nullptr);
  }

  // Throws the error, if there is one, and forgets it.
  void rethrow() {
    if (const std::exception_ptr error = take()) std::rethrow_exception(error);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr error_;
};

}  // namespace zarrcore
