// Waiting for locks that other threads and processes take. A program that does not release a lock
// must not stop others for ever: after some time, waiting ends with an error that names the holder.
//
// Systems cannot wait for the lock of a file with a limit, so each wait is a series of attempts
// with pauses between them. The pauses grow from 50 microseconds to 20 milliseconds, and their
// lengths vary by chance, so that many processes that wait for one lock all have their turn.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "zarrcore/base/error.h"

namespace zarrcore {

inline constexpr std::chrono::milliseconds kDefaultLockTimeout = std::chrono::seconds(30);

// A lock was not released in time.
class LockTimeout : public Error {
 public:
  // `holder` is what lock_holder() returned.
  explicit LockTimeout(const std::string& holder)
      : Error((holder.empty() ? std::string("another program") : holder) + " does not release it") {
  }
};

// The process that holds a lock of the file or folder with this descriptor, such as
// "process 123 (python3)". Empty if the system does not tell: Linux does for most locks, and other
// systems do not.
std::string lock_holder(int descriptor);

// One wait.
class LockWait {
 public:
  explicit LockWait(std::chrono::milliseconds limit)
      : end_(std::chrono::steady_clock::now() + limit) {}

  std::chrono::steady_clock::time_point end() const { return end_; }
  // Pauses before the next attempt. Returns false, at once, when there is no time left.
  bool pause();

 private:
  std::chrono::steady_clock::time_point end_;
  std::chrono::microseconds pause_{50};
};

// How long one store waits for its locks. After a wait has failed, further waits for the same lock
// are short for as long as the limit: a flush has thousands of chunks in one folder. Safe to use
// from several threads.
class LockPatience {
 public:
  explicit LockPatience(std::chrono::milliseconds limit) : limit_(limit) {}

  // Returns what `take` returns, which takes the lock at `path` with the limit that it gets, or
  // throws LockTimeout.
  template <typename Take>
  auto take(const std::string& path, const Take& take) {
    try {
      return take(limit_of(path));
    } catch (const LockTimeout&) {
      set_held(path);
      throw;
    }
  }

 private:
  std::chrono::milliseconds limit_of(const std::string& path);
  void set_held(const std::string& path);

  const std::chrono::milliseconds limit_;
  std::mutex mutex_;
  // Until when waits for the lock at a path are short.
  std::map<std::string, std::chrono::steady_clock::time_point> held_;
};

}  // namespace zarrcore
