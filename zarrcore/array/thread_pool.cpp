#include "zarrcore/array/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <list>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "zarrcore/array/thread_pool_state.h"

namespace zarrcore {
namespace {

// How many loops, of any pool, this thread takes part in.
thread_local std::size_t loop_depth = 0;

}  // namespace

struct ThreadPool::Loop : Job {
  explicit Loop(const State& pool_state) : pool(pool_state) {}

  const State& pool;
  std::size_t count = 0;
  const std::function<void(std::size_t)>* body = nullptr;
  const WorkerScope* scope = nullptr;

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
  void run() override {
    {
      const std::lock_guard lock(mutex);
      if (closed) return;
      ++running;
    }
    if (*scope) {
      (*scope)([&] { run_iterations(true); });
    } else {
      run_iterations(true);
    }
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
    std::list<std::shared_ptr<Job>>& jobs = loops.empty() ? tasks : loops;
    std::shared_ptr<Job> job = std::move(jobs.front());
    jobs.pop_front();
    --idle;
    lock.unlock();
    job->run();
    job.reset();
    lock.lock();
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
  std::list<std::shared_ptr<Job>> dropped;  // destroyed after the lock is released
  std::unique_lock<std::mutex> lock(mutex);
  is_ending = true;
  dropped.swap(tasks);
  wait_for_tasks(lock);
  tasks_changed.wait_for(lock, kMaxWait, [this] { return running_loops == 0; });
  lock.unlock();
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
  const auto loop = std::make_shared<Loop>(*state_);
  loop->count = count;
  loop->body = &body;
  loop->scope = &scope;
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
    std::erase(state_->loops, std::shared_ptr<Job>(loop));
  }
  const std::exception_ptr failure = loop->close();
  {
    const std::lock_guard lock(state_->mutex);
    --state_->running_loops;
    if (state_->is_ending) state_->tasks_changed.notify_all();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace zarrcore
