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

namespace {

// The system calls handlers in the order of their registration, which differs from one process to
// the next: this class registers one handler, and calls its own in a fixed order.
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

  void add(BeforeFork what, const Handlers& handlers) {
    const std::lock_guard lock(mutex_);
    List& list = what == BeforeFork::pause ? pauses_ : locks_;
    list.handlers.at(list.count) = handlers;
    ++list.count;
  }

 private:
  struct List {
    std::array<Handlers, 8> handlers = {};
    std::atomic<std::size_t> count = 0;  // of those that are complete
    std::size_t called = 0;              // in a fork

    void before() {
      called = count;
      for (std::size_t i = 0; i < called; ++i) handlers[i].first();
    }
    void after() {
      for (std::size_t i = called; i-- > 0;) handlers[i].second();
    }
  };

  // Work that is paused may add a lock meanwhile. The system allows one fork at a time.
  void before() {
    pauses_.before();
    locks_.before();
  }
  void after() {
    locks_.after();
    pauses_.after();
  }

  std::mutex mutex_;  // of add()
  List pauses_;
  List locks_;
};

}  // namespace

void at_fork(BeforeFork what, void (*before)(), void (*after)()) {
  ForkHandlers::of_process().add(what, {before, after});
}

void at_exit(void (*before)()) {
  static_cast<void>(std::atexit(before));
}

bool are_threads_gone() {
  return false;
}

}  // namespace zarrcore
