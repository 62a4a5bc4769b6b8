// Replaces parts of the C++ library's threads where MinGW's do not work.
#pragma once

#include <shared_mutex>

namespace zarrcore {

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
#else
// A mutex that threads can share.
using SharedMutex = std::shared_mutex;
#endif

#ifdef __MINGW32__
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
