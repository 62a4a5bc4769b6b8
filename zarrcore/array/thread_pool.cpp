#include "zarrcore/array/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "zarrcore/base/process.h"

namespace zarrcore {
namespace {

// How many loops of any pool this thread takes part in.
thread_local std::size_t loop_depth = 0;

}  // namespace

struct ThreadPool::Loop {
  std::size_t count = 0;
  const std::function<void(std::size_t)>* body = nullptr;
  const WorkerScope* scope = nullptr;

  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::condition_variable left;
  std::size_t running = 0;  // workers in the loop, without the caller
  bool closed = false;      // `body` may no longer exist: a late worker must leave at once
  std::exception_ptr failure;

  void run() {
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
  void join() {
    {
      const std::lock_guard lock(mutex);
      if (closed) return;
      ++running;
    }
    if (*scope) {
      (*scope)([&] { run(); });
    } else {
      run();
    }
    const std::lock_guard lock(mutex);
    if (--running == 0) left.notify_all();
  }

  // The caller's part, after its own run(). It takes the exception out of the loop, so that no late
  // worker destroys it.
  void close() {
    std::unique_lock lock(mutex);
    closed = true;
    left.wait(lock, [this] { return running == 0; });
    if (failure) std::rethrow_exception(std::exchange(failure, nullptr));
  }
};

struct ThreadPool::State {
  // A forked child has no workers, and mutexes that they had locked stay locked.
  bool is_inherited() const { return process != process_id(); }

  const long process = process_id();
  std::mutex mutex;
  std::condition_variable wake;
  std::deque<std::shared_ptr<Loop>> tickets;  // each invites one worker to a loop
  std::size_t workers = 0;
  std::size_t idle = 0;
  bool stopping = false;

  // A worker, until the pool is destroyed.
  void work() {
    // The first use of exceptions in a thread allocates memory, and without it the process ends. So
    // it is allocated now, not when memory has run out.
    static_cast<void>(std::uncaught_exceptions());
    std::unique_lock lock(mutex);
    while (true) {
      wake.wait(lock, [this] { return stopping || !tickets.empty(); });
      if (stopping) return;
      std::shared_ptr<Loop> loop = std::move(tickets.front());
      tickets.pop_front();
      --idle;
      lock.unlock();
      loop->join();
      loop.reset();
      lock.lock();
      ++idle;
    }
  }
};

ThreadPool::ThreadPool() : state_(std::make_shared<State>()) {}

ThreadPool::~ThreadPool() {
  if (state_->is_inherited()) return;
  {
    const std::lock_guard lock(state_->mutex);
    state_->stopping = true;
  }
  state_->wake.notify_all();
}

void ThreadPool::parallel_for(std::size_t count, std::size_t threads,
                              const std::function<void(std::size_t)>& body,
                              const WorkerScope& scope) {
  if (count <= 1 || threads <= 1 || state_->is_inherited()) {
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
    state_->tickets.insert(state_->tickets.end(), helpers, loop);
    // A loop inside another one gets threads of its own: the others may all be in that one.
    constexpr std::size_t kMoreInside = 64;
    const std::size_t max_workers = helpers + (loop_depth > 0 ? kMoreInside : 0);
    try {
      while (state_->idle < state_->tickets.size() && state_->workers < max_workers) {
        std::thread([state = state_] { state->work(); }).detach();
        ++state_->workers;
        ++state_->idle;
      }
    } catch (const std::exception&) {
      // No more threads can be created: the caller does the work.
    }
  }
  state_->wake.notify_all();
  loop->run();
  {
    // Withdraw the unused invitations.
    const std::lock_guard lock(state_->mutex);
    std::erase(state_->tickets, loop);
  }
  loop->close();
}

}  // namespace zarrcore
