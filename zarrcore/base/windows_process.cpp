#include <windows.h>

#include <array>
#include <cstdlib>

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

}  // namespace zarrcore
