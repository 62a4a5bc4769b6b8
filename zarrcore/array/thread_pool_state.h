// What the threads of a pool share: for the files that queue work for them.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>

#include "zarrcore/array/thread_pool.h"
#include "zarrcore/base/process.h"

namespace zarrcore {

// Work for one thread of a pool.
class Job {
 public:
  Job() = default;
  virtual ~Job() = default;
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  // Called once, by a worker. Must not throw.
  virtual void run() = 0;
};

struct ThreadPool::State : std::enable_shared_from_this<ThreadPool::State> {
  // A forked child has no workers.
  bool is_inherited() const { return process != process_id(); }
  bool has_workers() const { return !is_inherited() && !stopping; }

  // With `mutex` locked: creates workers until there is an idle one for each queued job, but at
  // most `max_workers`, in addition to those that run tasks.
  void add_workers(std::size_t max_workers);
  // A worker, until the pool is destroyed.
  void work();

  // From the first call on, no task runs while this process forks, so that a task's locks are not
  // left locked in the child.
  void pause_at_forks();
  // Waits for the running tasks; until resume(), no other one starts.
  void pause();
  void resume();
  // Ends the workers. Tasks that are left run on the threads that wait for them.
  void stop();

  const long process = process_id();
  std::mutex mutex;  // guards the following
  std::condition_variable wake;
  std::deque<std::shared_ptr<Job>> loops;  // each invites one worker to a loop
  std::deque<std::shared_ptr<Job>> tasks;  // run while no loop wants workers
  std::size_t workers = 0;
  std::size_t idle = 0;
  std::size_t running_tasks = 0;
  std::condition_variable tasks_changed;  // running_tasks, is_paused and the queues of groups
  bool is_paused = false;
  bool pauses_at_forks = false;
  std::atomic<bool> stopping = false;  // set with `mutex` locked
};

}  // namespace zarrcore
