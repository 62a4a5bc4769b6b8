#include "zarrcore/base/process.h"

#include <pthread.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers,hicpp-deprecated-headers): kill()
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace zarrcore {

long process_id() {
  return ::getpid();
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

}  // namespace zarrcore
