#include <algorithm>
#include <list>
#include <mutex>
#include <new>
#include <utility>

#include "zarrcore/array/thread_pool.h"
#include "zarrcore/array/thread_pool_state.h"

namespace zarrcore {

// Guarded by the mutex of the pool.
struct TaskGroup::Queue {
  std::list<Task> tasks;
  std::size_t running = 0;
  std::size_t invitations = 0;  // of workers: queued, or running a task

  // Runs the first task with `lock`, of the pool, released.
  void run_first(ThreadPool::State& pool, std::unique_lock<std::mutex>& lock) noexcept {
    Task task = std::move(tasks.front());
    tasks.pop_front();
    ++running;
    ++pool.running_tasks;
    lock.unlock();
    task();
    task = nullptr;
    lock.lock();
    --pool.running_tasks;
    --running;
    // The parent's threads, which a forked child does not have, may have been using it.
    if (!pool.is_inherited()) pool.tasks_changed.notify_all();
  }
};

// Invites a worker to run one task.
class TaskGroup::Invitation : public Job {
 public:
  Invitation(ThreadPool::State& pool, std::shared_ptr<Queue> queue)
      : pool_(pool), queue_(std::move(queue)) {}

  void run() override {
    std::unique_lock<std::mutex> lock(pool_.mutex);
    pool_.tasks_changed.wait(lock, [this] { return !pool_.is_paused; });
    if (!queue_->tasks.empty() && !pool_.is_ending) queue_->run_first(pool_, lock);
    --queue_->invitations;
    if (!queue_->tasks.empty()) invite(pool_, queue_);
  }

  // The mutex of the pool must be locked. If there is no memory, other invitations or help() do the
  // work.
  static void invite(ThreadPool::State& pool, const std::shared_ptr<Queue>& queue) noexcept {
    if (pool.is_ending) return;
    try {
      pool.tasks.push_back(std::make_shared<Invitation>(pool, queue));
      ++queue->invitations;
      pool.wake.notify_one();
    } catch (const std::bad_alloc&) {
      return;
    }
  }

 private:
  ThreadPool::State& pool_;  // of the worker, which keeps it
  std::shared_ptr<Queue> queue_;
};

TaskGroup::TaskGroup(ThreadPool& pool) : pool_(pool.state_), queue_(std::make_shared<Queue>()) {}

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
    Invitation::invite(*pool_, queue_);
    pool_->add_workers(threads);
  }
}

bool TaskGroup::help() {
  std::unique_lock<std::mutex> lock(pool_->mutex);
  pool_->tasks_changed.wait(lock, [this] { return !pool_->is_paused; });
  if (!queue_->tasks.empty()) {
    queue_->run_first(*pool_, lock);
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
  lock.unlock();
}

std::size_t TaskGroup::size() const {
  const std::lock_guard lock(pool_->mutex);
  return queue_->tasks.size() + queue_->running;
}

}  // namespace zarrcore
