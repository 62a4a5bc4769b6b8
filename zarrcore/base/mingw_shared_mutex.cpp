#include <windows.h>

#include "zarrcore/base/shared_mutex.h"

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

}  // namespace zarrcore
