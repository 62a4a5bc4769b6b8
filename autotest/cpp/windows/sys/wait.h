// Processes of POSIX, for tests that Windows compiles and autotest/systems/windows-skipped.txt
// names.
#pragma once

#include <stdexcept>

#ifdef _MSC_VER
using pid_t = int;
#endif

inline constexpr int SIGKILL = 9;
inline constexpr int SIGXFSZ = 25;

inline pid_t fork() {
  throw std::logic_error("Windows has no fork()");
}
inline int kill(pid_t /*process*/, int /*signal*/) {
  return -1;
}
inline pid_t waitpid(pid_t /*process*/, int* /*status*/, int /*options*/) {
  return -1;
}
inline unsigned alarm(unsigned /*seconds*/) {
  return 0;
}
inline int pause() {
  return -1;
}
inline bool WIFEXITED(int /*status*/) {
  return false;
}
inline int WEXITSTATUS(int status) {
  return status;
}
