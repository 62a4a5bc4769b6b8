#include "zarrcore/array/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <system_error>

namespace zarrcore {

struct ThreadPool::Loop {
  std::size_t count = 0;
  const std::function<void(std::size_t, std::size_t)>* body = nullptr;
  const WorkerScope* scope = nullptr;

  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::condition_variable left;
  std::size_t joined = 0;   // workers that ever took part, the caller included
  std::size_t running = 0;  // workers that take part now, the caller not included
  bool closed = false;      // `body` may be gone: a late worker has to leave at once
  std::exception_ptr failure;

  void run(std::size_t worker) {
    for (std::size_t i = next++; i < count; i = next++) {
      try {
        (*body)(i, worker);
      } catch (...) {
        next = count;
        const std::lock_guard lock(mutex);
        if (!failure) failure = std::current_exception();
      }
    }
  }

  // A worker's part.
  void join() {
    std::size_t worker = 0;
    {
      const std::lock_guard lock(mutex);
      if (closed) return;
      worker = joined++;
      ++running;
    }
    if (*scope) {
      (*scope)([&] { run(worker); });
    } else {
      run(worker);
    }
    const std::lock_guard lock(mutex);
    if (--running == 0) left.notify_all();
  }

  // The caller's part, after its own run().
  void close() {
    std::unique_lock lock(mutex);
    closed = true;
    left.wait(lock, [this] { return running == 0; });
    if (failure) std::rethrow_exception(failure);
  }
};

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::parallel_for(std::size_t count, std::size_t threads,
                              const std::function<void(std::size_t, std::size_t)>& body,
                              const WorkerScope& scope) {
  const std::size_t helpers = std::min(count, threads) - (count > 0 && threads > 0 ? 1 : 0);
  if (helpers == 0) {
    for (std::size_t i = 0; i < count; ++i) body(i, 0);
    return;
  }
  const auto loop = std::make_shared<Loop>();
  loop->count = count;
  loop->body = &body;
  loop->scope = &scope;
  loop->joined = 1;
  {
    const std::lock_guard lock(mutex_);
    tickets_.insert(tickets_.end(), helpers, loop);
    while (idle_ < tickets_.size() && workers_.size() < helpers) {
      try {
        workers_.emplace_back([this] { work(); });
      } catch (const std::system_error&) {
        break;  // no more threads to be had: the caller does the work
      }
      ++idle_;
    }
  }
  wake_.notify_all();
  loop->run(0);
  {
    // Invitations that nobody took are void.
    const std::lock_guard lock(mutex_);
    std::erase(tickets_, loop);
  }
  loop->close();
}

void ThreadPool::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return stopping_ || !tickets_.empty(); });
    if (stopping_) return;
    const std::shared_ptr<Loop> loop = std::move(tickets_.front());
    tickets_.pop_front();
    --idle_;
    lock.unlock();
    loop->join();
    lock.lock();
    ++idle_;
  }
}

}  // namespace zarrcore
