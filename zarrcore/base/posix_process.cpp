#include <pthread.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers,hicpp-deprecated-headers): kill()
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>
#include <utility>

#include "zarrcore/base/process.h"

namespace zarrcore {

long process_id() {
  return ::getpid();
}

std::string name_of_process_ids() {
  std::string boot;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
  std::error_code error;
  const auto ids = std::filesystem::read_symlink("/proc/self/ns/pid", error);
  return boot.empty() || error ? std::string() : boot + ids.string();
}

bool is_process_alive(long id) {
  return ::kill(static_cast<pid_t>(id), 0) == 0 || errno != ESRCH;
}

// The system calls handlers in the order of their registration, which differs from one process to
// the next: this class registers one handler. It first calls its own, which pause what the process
// does, and then locks the mutexes.
class ForkHandlers {
 public:
  static ForkHandlers& of_process() {
    static auto* const handlers = [] {
      auto* const handlers_of_process = new ForkHandlers;
      ::pthread_atfork([] { of_process().before(); }, [] { of_process().after(); },
                       [] { of_process().after(); });
      return handlers_of_process;
    }();
    return *handlers;
  }

  using Handlers = std::pair<void (*)(), void (*)()>;  // before and after a fork

  void add(const Handlers& handlers) {
    const std::lock_guard lock(mutex_);
    handlers_.at(count_) = handlers;
    ++count_;
  }

  void add(ForkMutex& mutex) {
    const std::lock_guard lock(mutex_);
    mutex.next_ = std::exchange(first_, &mutex);
    if (mutex.next_ != nullptr) mutex.next_->previous_ = &mutex;
  }

  void remove(ForkMutex& mutex) {
    const std::lock_guard lock(mutex_);
    (mutex.previous_ != nullptr ? mutex.previous_->next_ : first_) = mutex.next_;
    if (mutex.next_ != nullptr) mutex.next_->previous_ = mutex.previous_;
  }

 private:
  // Work that is paused may add a handler meanwhile.
  void before() {
    forking_.lock();
    called_ = count_;
    for (std::size_t i = 0; i < called_; ++i) handlers_[i].first();
    while (!try_to_lock_all()) std::this_thread::yield();
  }

  void after() {
    unlock_until(nullptr);
    for (std::size_t i = called_; i-- > 0;) handlers_[i].second();
    forking_.unlock();
  }

  // Other threads hold several in an order of their own: without all, it keeps none.
  bool try_to_lock_all() {
    if (!mutex_.try_lock()) return false;
    for (ForkMutex* mutex = first_; mutex != nullptr; mutex = mutex->next_) {
      if (mutex->try_lock()) continue;
      unlock_until(mutex);
      return false;
    }
    return true;
  }

  void unlock_until(const ForkMutex* end) {
    for (ForkMutex* mutex = first_; mutex != end; mutex = mutex->next_) mutex->unlock();
    mutex_.unlock();
  }

  std::mutex forking_;  // for one fork at a time
  std::mutex mutex_;    // guards the following
  std::array<Handlers, 8> handlers_ = {};
  std::atomic<std::size_t> count_ = 0;  // of those that are complete
  std::size_t called_ = 0;              // in a fork
  ForkMutex* first_ = nullptr;
};

ForkMutex::ForkMutex() {
  ForkHandlers::of_process().add(*this);
}

ForkMutex::~ForkMutex() {
  ForkHandlers::of_process().remove(*this);
}

void at_fork(void (*before)(), void (*after)()) {
  ForkHandlers::of_process().add({before, after});
}

void at_exit(void (*before)()) {
  static_cast<void>(std::atexit(before));
}

bool are_threads_gone() {
  return false;
}

}  // namespace zarrcore
