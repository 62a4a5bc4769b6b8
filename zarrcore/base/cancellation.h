// Ends work that nobody waits for: prefetching of an array that is closed, or in a process that
// forks.
//
// The owner of the work keeps a Cancellation and runs each part of it in a Scope. Operations that
// may take long, such as a request to a server, look at current() and end with an error once it is
// cancelled.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>

#include "zarrcore/base/api.h"

namespace zarrcore {

// Safe to use from several threads at once.
class ZARRCORE_API Cancellation {
 public:
  Cancellation() = default;
  Cancellation(const Cancellation&) = delete;
  Cancellation& operator=(const Cancellation&) = delete;

  // Wakes all that listen or wait.
  void cancel();
  // Later work is not cancelled. Takes no lock: a forked child may call it.
  void reset() { is_cancelled_ = false; }
  bool is_cancelled() const { return is_cancelled_; }

  // Waits until it is cancelled, for so long at most. Returns true if it is cancelled.
  bool wait_for(std::chrono::duration<double> time);

  // The cancellation of the calling thread's work; null if nothing cancels it.
  static Cancellation* current();

  // While it lives, `cancellation`, which may be null, applies to the thread's work.
  class ZARRCORE_API Scope {
   public:
    explicit Scope(Cancellation* cancellation);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Cancellation* before_;
  };

  // While it lives, `on_cancel` is called when `cancellation`, which may be null, is cancelled; at
  // once if it is already. It must not throw, nor use the cancellation.
  class ZARRCORE_API Listener {
   public:
    Listener(Cancellation* cancellation, std::function<void()> on_cancel);
    ~Listener();
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

   private:
    Cancellation* cancellation_;
    std::list<std::function<void()>>::iterator place_;
  };

 private:
  std::atomic<bool> is_cancelled_ = false;
  std::mutex mutex_;  // guards the listeners
  std::list<std::function<void()>> listeners_;
  std::condition_variable cancelled_;
};

}  // namespace zarrcore
