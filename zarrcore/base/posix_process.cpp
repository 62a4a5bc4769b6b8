#include <pthread.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers,hicpp-deprecated-headers): kill()
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "zarrcore/base/process.h"

namespace zarrcore {

long process_id() {
  return ::getpid();
}

std::string name_of_process_ids() {
  std::string boot;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
  std::error_code error;
  const auto ids = std::filesystem::read_symlink("/proc/self/ns/pid", error);
  return boot.empty() || error ? std::string() : boot + ids.string();
}

bool is_process_alive(long id) {
  return ::kill(static_cast<pid_t>(id), 0) == 0 || errno != ESRCH;
}

void at_fork(void (*before)(), void (*after)()) {
  ::pthread_atfork(before, after, after);
}

void at_exit(void (*before)()) {
  static_cast<void>(std::atexit(before));
}

bool are_threads_gone() {
  return false;
}

}  // namespace zarrcore
