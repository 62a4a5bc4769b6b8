#include "zarrcore/array/thread_pool.h"

#include <algorithm>
#include <atomic>
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
  std::size_t count = 0;
  const std::function<void(std::size_t)>* body = nullptr;
  const WorkerScope* scope = nullptr;

  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::condition_variable left;
  std::size_t running = 0;  // workers in the loop, without the caller
  bool closed = false;      // `body` may no longer exist: a late worker must leave at once
  std::exception_ptr failure;

  void run_iterations() {
    ++loop_depth;
    for (std::size_t i = next++; i < count; i = next++) {
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
      (*scope)([&] { run_iterations(); });
    } else {
      run_iterations();
    }
    const std::lock_guard lock(mutex);
    if (--running == 0) left.notify_all();
  }

  // The caller's part, after its own run_iterations(). It takes the exception out of the loop, so
  // that no late worker destroys it.
  void close() {
    std::unique_lock lock(mutex);
    closed = true;
    left.wait(lock, [this] { return running == 0; });
    if (failure) std::rethrow_exception(std::exchange(failure, nullptr));
  }
};

// The pools whose tasks are to pause while this process forks, and to end before it does.
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
  }

 private:
  ForkingPools() {
    at_fork(BeforeFork::pause, [] { get().before_fork(); }, [] { get().after_fork(); });
    at_exit([] { get().before_exit(); });
  }

  std::vector<std::weak_ptr<State>> pools() {
    const std::lock_guard lock(mutex_);
    return pools_;
  }

  void before_exit() {
    if (are_threads_gone()) return;
    for (const std::weak_ptr<State>& pool : pools()) {
      if (const auto state = pool.lock()) state->end_tasks();
    }
  }

  // A task that this waits for may itself add a pool: `mutex_` is not locked meanwhile.
  void before_fork() {
    forking_.lock();
    for (const std::weak_ptr<State>& pool : pools()) {
      if (const auto state = pool.lock()) paused_.push_back(state);
    }
    for (const auto& pool : paused_) pool->pause();
    mutex_.lock();
    for (const auto& pool : paused_) pool->mutex.lock();
  }

  void after_fork() {
    for (const auto& pool : paused_) {
      pool->resume();
      pool->mutex.unlock();
    }
    mutex_.unlock();
    std::vector<std::shared_ptr<State>> paused;
    paused.swap(paused_);
    forking_.unlock();
  }

  std::mutex forking_;  // for one fork at a time
  std::mutex mutex_;    // guards pools_
  std::vector<std::weak_ptr<State>> pools_;
  std::vector<std::shared_ptr<State>> paused_;
};

void ThreadPool::State::work() {
  // The first use of exceptions in a thread allocates memory, and without it the process ends. So
  // it is allocated now, not when memory has run out.
  static_cast<void>(std::uncaught_exceptions());
  std::unique_lock lock(mutex);
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
  std::unique_lock lock(mutex);
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
  is_paused = false;
  for (const auto& cancellation : cancellations) cancellation->reset();
  if (!is_inherited()) tasks_changed.notify_all();
}

void ThreadPool::State::end_tasks() {
  std::list<std::shared_ptr<Job>> dropped;  // destroyed after the lock is released
  std::unique_lock lock(mutex);
  is_ending = true;
  dropped.swap(tasks);
  wait_for_tasks(lock);
  lock.unlock();
}

void ThreadPool::State::pause_at_forks() {
  {
    const std::lock_guard lock(mutex);
    if (std::exchange(pauses_at_forks, true)) return;
  }
  ForkingPools::get().add(shared_from_this());
}

ThreadPool::ThreadPool() : state_(std::make_shared<State>()) {}

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
  const auto loop = std::make_shared<Loop>();
  loop->count = count;
  loop->body = &body;
  loop->scope = &scope;
  {
    const std::lock_guard lock(state_->mutex);
    state_->loops.insert(state_->loops.end(), helpers, loop);
    // A nested loop gets additional threads: all others may be busy with the outer loop.
    constexpr std::size_t kMoreInside = 64;
    state_->add_workers(helpers + (loop_depth > 0 ? kMoreInside : 0));
  }
  state_->wake.notify_all();
  loop->run_iterations();
  {
    // Withdraw the unused invitations.
    const std::lock_guard lock(state_->mutex);
    std::erase(state_->loops, std::shared_ptr<Job>(loop));
  }
  loop->close();
}

}  // namespace zarrcore
