#include "zarrcore/array/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <list>
#include <mutex>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include "zarrcore/base/process.h"

namespace zarrcore {
namespace {

// How many loops, of any pool, this thread takes part in.
thread_local std::size_t loop_depth = 0;

}  // namespace

// The tasks of a group. Guarded by the mutex of the pool.
struct ThreadPool::TaskQueue {
  std::list<TaskGroup::Task> tasks;
  std::size_t running = 0;
  std::size_t invitations = 0;  // of workers: queued, or running a task
};

// No task runs while this process forks, so that a task's locks are not left locked in the child.
struct ThreadPool::State : std::enable_shared_from_this<ThreadPool::State> {
  // A forked child has no workers.
  bool is_inherited() const { return process != process_id(); }
  bool has_workers() const { return !is_inherited() && !is_ending; }

  // With `mutex` locked: creates workers until there is an idle one for each invitation, but at
  // most `max_workers`, in addition to those that run tasks.
  void add_workers(std::size_t max_workers);
  // A worker, until the pool is destroyed.
  void work();

  // With `mutex` locked: invites a worker to run one task of a queue.
  void invite(const std::shared_ptr<TaskQueue>& queue) noexcept;
  // Runs the first task of a queue, with `lock` released meanwhile.
  void run_first(TaskQueue& queue, std::unique_lock<std::mutex>& lock) noexcept;

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
  // Each entry invites one worker: to a loop, or to a task while no loop wants workers. Lists,
  // because an empty one needs no memory: a destructor may be what drops tasks.
  std::list<std::shared_ptr<Loop>> loops;
  std::list<std::shared_ptr<TaskQueue>> tasks;
  std::size_t workers = 0;
  std::size_t idle = 0;
  std::size_t running_tasks = 0;
  std::size_t running_loops = 0;
  // running_tasks, is_paused and the queues of tasks; running_loops while the process ends
  std::condition_variable tasks_changed;
  std::vector<std::shared_ptr<Cancellation>> cancellations;  // of tasks that nobody waits for
  bool is_paused = false;
  std::atomic<bool> is_ending = false;  // the process; set with `mutex` locked
  bool stopping = false;
};

struct ThreadPool::Loop {
  Loop(const State& loop_pool, std::size_t loop_count,
       const std::function<void(std::size_t)>& loop_body, const WorkerScope& loop_scope)
      : pool(loop_pool), count(loop_count), body(&loop_body), scope(&loop_scope) {}

  const State& pool;
  const std::size_t count;
  const std::function<void(std::size_t)>* body;
  const WorkerScope* scope;

  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::condition_variable left;
  std::size_t running = 0;  // workers in the loop, without the caller
  bool closed = false;      // `body` may no longer exist: a late worker must leave at once
  std::exception_ptr failure;

  // A worker leaves the rest to the caller when the process ends.
  void run_iterations(bool is_worker) {
    ++loop_depth;
    for (std::size_t i = 0; !(is_worker && pool.is_ending) && (i = next++) < count;) {
      try {
        (*body)(i);
      } catch (...) {
        next = count;
        const std::lock_guard lock(mutex);
        if (!failure) failure = std::current_exception();
      }
    }
    --loop_depth;
  }

  // A worker's part.
  void run() {
    {
      const std::lock_guard lock(mutex);
      if (closed) return;
      ++running;
    }
    const auto iterate = [this] { run_iterations(true); };
    *scope ? (*scope)(iterate) : iterate();
    const std::lock_guard lock(mutex);
    if (--running == 0) left.notify_all();
  }

  // The caller's part, after its own run_iterations(). Returns the exception of the loop, so that
  // no late worker destroys it.
  std::exception_ptr close() {
    std::unique_lock lock(mutex);
    closed = true;
    left.wait(lock, [this] { return running == 0; });
    return std::exchange(failure, nullptr);
  }
};

// The pools whose tasks pause while this process forks, and whose workers end before it does.
class ThreadPool::ForkingPools {
 public:
  // It is never destroyed: a process may fork while it ends.
  static ForkingPools& get() {
    static auto* const pools = new ForkingPools;
    return *pools;
  }

  void add(const std::shared_ptr<State>& pool) {
    const std::lock_guard lock(mutex_);
    std::erase_if(pools_, [](const std::weak_ptr<State>& other) { return other.expired(); });
    pools_.push_back(pool);
    pool->is_ending = is_exiting_;
  }

 private:
  ForkingPools() {
    at_fork([] { get().before_fork(); }, [] { get().after_fork(); });
    at_exit([] { get().before_exit(); });
  }

  std::vector<std::weak_ptr<State>> pools() {
    const std::lock_guard lock(mutex_);
    return pools_;
  }

  void before_exit() {
    if (are_threads_gone()) return;
    {
      const std::lock_guard lock(mutex_);
      is_exiting_ = true;
    }
    for (const std::weak_ptr<State>& pool : pools()) {
      if (const auto state = pool.lock()) state->end_workers();
    }
  }

  // A task that this waits for may itself add a pool: `mutex_` is not locked meanwhile.
  void before_fork() {
    for (const std::weak_ptr<State>& pool : pools()) {
      if (const auto state = pool.lock()) paused_.push_back(state);
    }
    for (const auto& pool : paused_) pool->pause();
  }

  void after_fork() {
    for (const auto& pool : paused_) pool->resume();
    paused_.clear();
  }

  ForkMutex mutex_;  // guards the next two
  std::vector<std::weak_ptr<State>> pools_;
  bool is_exiting_ = false;
  std::vector<std::shared_ptr<State>> paused_;  // during a fork
};

void ThreadPool::State::work() {
  // The first use of exceptions in a thread allocates memory, and without it the process ends. So
  // it is allocated now, not when memory has run out.
  static_cast<void>(std::uncaught_exceptions());
  std::unique_lock<std::mutex> lock(mutex);
  while (true) {
    wake.wait(lock, [this] { return stopping || !loops.empty() || !tasks.empty(); });
    if (stopping) return;
    --idle;
    if (!loops.empty()) {
      std::shared_ptr<Loop> loop = std::move(loops.front());
      loops.pop_front();
      lock.unlock();
      loop->run();
      loop.reset();
      lock.lock();
    } else {
      const std::shared_ptr<TaskQueue> queue = std::move(tasks.front());
      tasks.pop_front();
      tasks_changed.wait(lock, [this] { return !is_paused; });
      if (!queue->tasks.empty() && !is_ending) run_first(*queue, lock);
      --queue->invitations;
      if (!queue->tasks.empty()) invite(queue);
    }
    ++idle;
  }
}

void ThreadPool::State::add_workers(std::size_t max_workers) {
  try {
    while (idle < loops.size() + tasks.size() && workers < max_workers + running_tasks) {
      std::thread([state = shared_from_this()] { state->work(); }).detach();
      ++workers;
      ++idle;
    }
  } catch (const std::exception&) {
    // No more threads can be created: the existing ones and the caller do the work.
  }
}

void ThreadPool::State::invite(const std::shared_ptr<TaskQueue>& queue) noexcept {
  if (is_ending) return;
  try {
    tasks.push_back(queue);
    ++queue->invitations;
    wake.notify_one();
  } catch (const std::bad_alloc&) {
    // Other invitations or help() do the work.
  }
}

void ThreadPool::State::run_first(TaskQueue& queue, std::unique_lock<std::mutex>& lock) noexcept {
  TaskGroup::Task task = std::move(queue.tasks.front());
  queue.tasks.pop_front();
  ++queue.running;
  ++running_tasks;
  lock.unlock();
  task();
  task = nullptr;
  lock.lock();
  --running_tasks;
  --queue.running;
  // The parent's threads, which a forked child does not have, may have been using it.
  if (!is_inherited()) tasks_changed.notify_all();
}

void ThreadPool::State::pause() {
  std::unique_lock<std::mutex> lock(mutex);
  is_paused = true;
  wait_for_tasks(lock);
}

void ThreadPool::State::wait_for_tasks(std::unique_lock<std::mutex>& lock) {
  const auto cancelled = cancellations;
  // Listeners may end a task, which takes the lock.
  lock.unlock();
  for (const auto& cancellation : cancelled) cancellation->cancel();
  lock.lock();
  tasks_changed.wait(lock, [this] { return running_tasks == 0; });
}

void ThreadPool::State::resume() {
  const std::lock_guard lock(mutex);
  is_paused = false;
  for (const auto& cancellation : cancellations) cancellation->reset();
  if (!is_inherited()) tasks_changed.notify_all();
}

void ThreadPool::State::end_workers() {
  // A loop may wait for what the end of the process holds, as those of file systems in Python do.
  constexpr std::chrono::seconds kMaxWait{2};
  if (is_inherited()) return;
  std::list<std::shared_ptr<TaskQueue>> dropped;  // destroyed after the lock is released
  std::unique_lock<std::mutex> lock(mutex);
  is_ending = true;
  dropped.swap(tasks);
  wait_for_tasks(lock);
  tasks_changed.wait_for(lock, kMaxWait, [this] { return running_loops == 0; });
}

ThreadPool::ThreadPool() : state_(std::make_shared<State>()) {
  ForkingPools::get().add(state_);
}

ThreadPool::~ThreadPool() {
  if (state_->is_inherited()) return;
  {
    const std::lock_guard lock(state_->mutex);
    state_->stopping = true;
  }
  state_->wake.notify_all();
}

bool ThreadPool::has_workers() const {
  return state_->has_workers();
}

void ThreadPool::parallel_for(std::size_t count, std::size_t threads,
                              const std::function<void(std::size_t)>& body,
                              const WorkerScope& scope) {
  if (count <= 1 || threads <= 1 || !state_->has_workers()) {
    for (std::size_t i = 0; i < count; ++i) body(i);
    return;
  }
  const std::size_t helpers = std::min(count, threads) - 1;
  const auto loop = std::make_shared<Loop>(*state_, count, body, scope);
  {
    const std::lock_guard lock(state_->mutex);
    state_->loops.insert(state_->loops.end(), helpers, loop);
    ++state_->running_loops;
    // A nested loop gets additional threads: all others may be busy with the outer loop.
    constexpr std::size_t kMoreInside = 64;
    state_->add_workers(helpers + (loop_depth > 0 ? kMoreInside : 0));
  }
  state_->wake.notify_all();
  loop->run_iterations(false);
  {
    // Withdraw the unused invitations.
    const std::lock_guard lock(state_->mutex);
    std::erase(state_->loops, loop);
  }
  const std::exception_ptr failure = loop->close();
  {
    const std::lock_guard lock(state_->mutex);
    --state_->running_loops;
    if (state_->is_ending) state_->tasks_changed.notify_all();
  }
  if (failure) std::rethrow_exception(failure);
}

TaskGroup::TaskGroup(ThreadPool& pool)
    : pool_(pool.state_), queue_(std::make_shared<ThreadPool::TaskQueue>()) {}

TaskGroup::TaskGroup(ThreadPool& pool, std::shared_ptr<Cancellation> cancellation)
    : TaskGroup(pool) {
  const std::lock_guard lock(pool_->mutex);
  pool_->cancellations.push_back(cancellation);
  cancellation_ = std::move(cancellation);
}

TaskGroup::~TaskGroup() {
  cancel();
  if (!cancellation_) return;
  const std::lock_guard lock(pool_->mutex);
  std::erase(pool_->cancellations, cancellation_);
}

void TaskGroup::post(Task task, std::size_t threads) {
  if (pool_->is_inherited()) {
    task();
    return;
  }
  const std::lock_guard lock(pool_->mutex);
  queue_->tasks.push_back(std::move(task));
  if (queue_->invitations < std::max<std::size_t>(1, threads)) {
    pool_->invite(queue_);
    pool_->add_workers(threads);
  }
}

bool TaskGroup::help() {
  std::unique_lock<std::mutex> lock(pool_->mutex);
  pool_->tasks_changed.wait(lock, [this] { return !pool_->is_paused; });
  if (!queue_->tasks.empty()) {
    pool_->run_first(*queue_, lock);
    return true;
  }
  const std::size_t running = queue_->running;
  if (running == 0) return false;
  pool_->tasks_changed.wait(lock,
                            [&] { return queue_->running < running || !queue_->tasks.empty(); });
  return true;
}

void TaskGroup::cancel() {
  if (cancellation_) cancellation_->cancel();
  std::list<Task> dropped;  // destroyed after the lock is released
  std::unique_lock<std::mutex> lock(pool_->mutex);
  dropped.swap(queue_->tasks);
  pool_->tasks_changed.wait(lock, [this] { return queue_->running == 0; });
}

std::size_t TaskGroup::size() const {
  const std::lock_guard lock(pool_->mutex);
  return queue_->tasks.size() + queue_->running;
}

}  // namespace zarrcore
