#include <windows.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <new>

#include "zarrcore/base/process.h"

// In ntdll.dll; documented, but in no header.
extern "C" __declspec(dllimport) BOOLEAN NTAPI RtlDllShutdownInProgress();

namespace zarrcore {

long process_id() {
  return static_cast<long>(::GetCurrentProcessId());
}

std::string name_of_process_ids() {
  std::array<char, MAX_COMPUTERNAME_LENGTH + 1> name{};
  auto size = static_cast<DWORD>(name.size());
  return ::GetComputerNameA(name.data(), &size) != 0 ? std::string(name.data(), size)
                                                     : std::string();
}

bool is_process_alive(long id) {
  const HANDLE process = ::OpenProcess(SYNCHRONIZE, FALSE, static_cast<DWORD>(id));
  if (process == nullptr) return ::GetLastError() != ERROR_INVALID_PARAMETER;
  const bool is_running = ::WaitForSingleObject(process, 0) == WAIT_TIMEOUT;
  ::CloseHandle(process);
  return is_running;
}

void at_fork(void (* /*before*/)(), void (* /*after*/)()) {}

void at_exit(void (*before)()) {
  static_cast<void>(std::atexit(before));
}

bool are_threads_gone() {
  return ::RtlDllShutdownInProgress() != 0;
}

#ifdef __MINGW32__
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
#endif

}  // namespace zarrcore
