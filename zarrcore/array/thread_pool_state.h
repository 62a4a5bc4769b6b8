// The shared state of the threads of a pool, for the files that queue work for them.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include "zarrcore/array/thread_pool.h"
#include "zarrcore/base/cancellation.h"
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

// No task runs while this process forks, so that a task's locks are not left locked in the child.
struct ThreadPool::State : std::enable_shared_from_this<ThreadPool::State> {
  // A forked child has no workers.
  bool is_inherited() const { return process != process_id(); }
  bool has_workers() const { return !is_inherited() && !is_ending; }

  // With `mutex` locked: creates workers until there is an idle one for each queued job, but at
  // most `max_workers`, in addition to those that run tasks.
  void add_workers(std::size_t max_workers);
  // A worker, until the pool is destroyed.
  void work();

  // Called when the process ends: waits for the running tasks and loops, before the libraries that
  // they use are finalized. From then on, the threads that wait for tasks run them, and those that
  // call loops run all of these.
  void end_workers();
  // Waits for the running tasks, and cancels those that nobody waits for; until resume(), no other
  // one starts.
  void pause();
  void resume();
  // Waits for the running tasks, with `lock` locked between.
  void wait_for_tasks(std::unique_lock<std::mutex>& lock);

  const long process = process_id();
  ForkMutex mutex;  // guards the following
  std::condition_variable wake;
  // Lists, because an empty one needs no memory: a destructor may be what drops tasks.
  std::list<std::shared_ptr<Job>> loops;  // each invites one worker to a loop
  std::list<std::shared_ptr<Job>> tasks;  // run while no loop wants workers
  std::size_t workers = 0;
  std::size_t idle = 0;
  std::size_t running_tasks = 0;
  std::size_t running_loops = 0;
  // running_tasks, is_paused and the queues of groups; running_loops while the process ends
  std::condition_variable tasks_changed;
  std::vector<std::shared_ptr<Cancellation>> cancellations;  // of tasks that nobody waits for
  bool is_paused = false;
  std::atomic<bool> is_ending = false;  // the process; set with `mutex` locked
  bool stopping = false;
};

}  // namespace zarrcore
