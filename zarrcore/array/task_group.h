// Tasks that run on idle threads of a pool while the caller goes on.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "zarrcore/array/thread_pool.h"
#include "zarrcore/base/cancellation.h"

namespace zarrcore {

// May be used by several threads at once. The pool must outlive it.
//
// Loops of the pool go before tasks. In a forked child, where the pool has no threads, post() runs
// the task itself; while the process ends, tasks wait for finish() or help(). No task runs during
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

  // Runs the queued tasks on the calling thread too, and waits until none is queued or running.
  void finish();

  // Runs one queued task on the calling thread, or waits until one that is running has ended. False
  // when there was none.
  bool help();

  // Drops the queued tasks, and waits for those that are running.
  void cancel();

  // The tasks that are queued or running.
  std::size_t size() const;

 private:
  struct Queue;
  class Invitation;

  std::shared_ptr<ThreadPool::State> pool_;
  std::shared_ptr<Queue> queue_;
  std::shared_ptr<Cancellation> cancellation_;  // null: tasks that are needed
};

}  // namespace zarrcore
