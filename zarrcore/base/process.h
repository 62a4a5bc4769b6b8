// Processes: forks, which pause other threads, and the identity of this process. And threads where
// the C++ library's are not enough: mutexes that survive a fork, and objects of a thread under
// MinGW.
#pragma once

#include <mutex>
#include <shared_mutex>
#include <string>

#include "zarrcore/base/api.h"

namespace zarrcore {

long process_id();

// A text that is the same wherever a process id means the same process: on this boot of this
// machine, and in this container. Empty when that is unknown.
std::string name_of_process_ids();

// Returns true if a process with this id is running on this machine; true when that is unknown.
bool is_process_alive(long id);

// From now on, fork() calls `before` first, and `after` at its end in both processes. Windows has
// no fork(). For a few users in a process, each once.
void at_fork(void (*before)(), void (*after)());

#ifdef _WIN32
using ForkMutex = std::mutex;
#else
// A mutex that no thread but the one that forks holds during fork(), which waits for the others: in
// the child, they would never unlock it. They must not wait meanwhile for what ends after the fork
// alone, such as tasks that are paused, or for what a caller of fork() may hold.
class ZARRCORE_API ForkMutex : public std::mutex {
 public:
  ForkMutex();
  ~ForkMutex();
  ForkMutex(const ForkMutex&) = delete;
  ForkMutex& operator=(const ForkMutex&) = delete;

 private:
  friend class ForkHandlers;
  ForkMutex* previous_ = nullptr;  // in the list of all
  ForkMutex* next_ = nullptr;
};
#endif

// From now on, the normal end of the process begins with `before`. Objects of static storage that
// have been created later are destroyed earlier, while tasks still run. So objects of zarrcore and
// the driver are never destroyed: `static auto& x = *new X;`.
void at_exit(void (*before)());

// Returns true if the other threads have been ended: at the end of a process, Windows does so
// before the functions of at_exit() are called in a DLL. To wait for a thread would then never end.
bool are_threads_gone();

#ifdef __MINGW32__
// Replaces std::shared_mutex, which has a fault in MinGW-w64's winpthreads: two threads that are
// the first to lock it at the same time both get the lock.
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

// A pointer of each thread, null at first. It stands in for thread_local: with MinGW-w64, GCC frees
// the memory of such objects before it destroys them.
class ThreadSlot {
 public:
  // `destroy` gets the pointer of a thread that ends, unless it is null.
  explicit ThreadSlot(void (*destroy)(void*));
  ~ThreadSlot();  // also destroys the objects of threads that still run
  ThreadSlot(const ThreadSlot&) = delete;
  ThreadSlot& operator=(const ThreadSlot&) = delete;

  void* get() const;
  // Takes the object, also if it throws.
  void set(void* object);

 private:
  struct Held;

  void (*destroy_)(void*);
  unsigned long index_;
};
#else
// A mutex that threads can share.
using SharedMutex = std::shared_mutex;
#endif

// The object of type T of this thread. The first call makes it; it is destroyed when the thread
// ends. All callers that name this type get the same one.
template <typename T>
T& thread_object() {
#ifdef __MINGW32__
  static ThreadSlot slot([](void* object) { delete static_cast<T*>(object); });
  if (slot.get() == nullptr) slot.set(new T());
  return *static_cast<T*>(slot.get());
#else
  thread_local T object;
  return object;
#endif
}

}  // namespace zarrcore
