// Files of POSIX, for tests that Windows compiles and autotest/systems/windows-skipped.txt names.
#pragma once

inline constexpr int O_CLOEXEC = 0;
inline constexpr int O_DIRECTORY = 0;
inline constexpr int LOCK_EX = 2;
inline constexpr int LOCK_NB = 4;

inline int flock(int /*file*/, int /*operation*/) {
  return -1;
}
inline int mkfifo(const char* /*path*/, unsigned /*mode*/) {
  return -1;
}
inline int geteuid() {
  return 1;
}
