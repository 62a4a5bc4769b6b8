// The first error of several threads that continue after an error.
#pragma once

#include <exception>
#include <functional>
#include <mutex>
#include <utility>

namespace zarrcore {

// May be used by several threads at once.
class FirstError {
 public:
  // False when `body` throws.
  bool keep(const std::function<void()>& body) noexcept {
    try {
      body();
      return true;
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!error_) error_ = std::current_exception();
      return false;
    }
  }

  // The error, which is then forgotten; null if there is none.
  std::exception_ptr take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(error_, nullptr);
  }

  // Throws the error, if there is one, and forgets it.
  void rethrow() {
    if (const std::exception_ptr error = take()) std::rethrow_exception(error);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr error_;
};

}  // namespace zarrcore
