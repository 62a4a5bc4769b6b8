// Limits of POSIX, for tests that Windows compiles and autotest/systems/windows-skipped.txt names.
#pragma once

struct rlimit {
  unsigned long long rlim_cur;
  unsigned long long rlim_max;
};
inline constexpr int RLIMIT_FSIZE = 1;
inline constexpr int RLIMIT_NOFILE = 7;

inline int getrlimit(int /*resource*/, rlimit* /*limit*/) {
  return -1;
}
inline int setrlimit(int /*resource*/, const rlimit* /*limit*/) {
  return -1;
}
