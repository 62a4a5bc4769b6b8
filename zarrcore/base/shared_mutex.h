// A mutex that threads can share.
#pragma once

#include <shared_mutex>

namespace zarrcore {

#ifdef __MINGW32__
// As std::shared_mutex, which MinGW-w64 builds from a lock of winpthreads: two threads that are the
// first to use that one at the same time both get it.
class SharedMutex {
 public:
  SharedMutex() = default;
  ~SharedMutex() = default;
  SharedMutex(const SharedMutex&) = delete;
  SharedMutex& operator=(const SharedMutex&) = delete;

  void lock();
  bool try_lock();
  void unlock();
  void lock_shared();
  bool try_lock_shared();
  void unlock_shared();

 private:
  void* state_ = nullptr;  // an SRWLOCK
};
#else
using SharedMutex = std::shared_mutex;
#endif

}  // namespace zarrcore
