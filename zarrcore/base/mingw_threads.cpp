#include <windows.h>

#include <memory>
#include <new>

#include "zarrcore/base/threads.h"

namespace zarrcore {
namespace {

static_assert(sizeof(SRWLOCK) == sizeof(void*));

SRWLOCK* lock_of(void*& state) {
  return reinterpret_cast<SRWLOCK*>(&state);
}

}  // namespace

void SharedMutex::lock() {
  ::AcquireSRWLockExclusive(lock_of(state_));
}

bool SharedMutex::try_lock() {
  return ::TryAcquireSRWLockExclusive(lock_of(state_)) != 0;
}

void SharedMutex::unlock() {
  ::ReleaseSRWLockExclusive(lock_of(state_));
}

void SharedMutex::lock_shared() {
  ::AcquireSRWLockShared(lock_of(state_));
}

bool SharedMutex::try_lock_shared() {
  return ::TryAcquireSRWLockShared(lock_of(state_)) != 0;
}

void SharedMutex::unlock_shared() {
  ::ReleaseSRWLockShared(lock_of(state_));
}

struct ThreadSlot::Held {
  void* object;
  void (*destroy)(void*);

  static void CALLBACK release(void* value) {
    const std::unique_ptr<Held> held(static_cast<Held*>(value));
    held->destroy(held->object);
  }
};

ThreadSlot::ThreadSlot(void (*destroy)(void*))
    : destroy_(destroy), index_(::FlsAlloc(&Held::release)) {
  if (index_ == FLS_OUT_OF_INDEXES) throw std::bad_alloc();
}

ThreadSlot::~ThreadSlot() {
  ::FlsFree(index_);
}

void* ThreadSlot::get() const {
  const auto* held = static_cast<const Held*>(::FlsGetValue(index_));
  return held == nullptr ? nullptr : held->object;
}

void ThreadSlot::set(void* object) {
  auto* const held = new (std::nothrow) Held{object, destroy_};
  if (held != nullptr && ::FlsSetValue(index_, held) != 0) return;
  delete held;
  destroy_(object);
  throw std::bad_alloc();
}

}  // namespace zarrcore
