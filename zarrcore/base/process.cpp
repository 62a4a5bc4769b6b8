#include "zarrcore/base/process.h"

#include <signal.h>  // NOLINT(modernize-deprecated-headers,hicpp-deprecated-headers): kill()
#include <unistd.h>

#include <cerrno>

namespace zarrcore {

long process_id() {
  return ::getpid();
}

bool is_process_alive(long id) {
  return ::kill(static_cast<pid_t>(id), 0) == 0 || errno != ESRCH;
}

}  // namespace zarrcore
