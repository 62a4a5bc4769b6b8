// Processes of the operating system.
#pragma once

#include <mutex>
#include <string>

#include "zarrcore/base/api.h"

namespace zarrcore {

long process_id();

// A text that is the same wherever a process id means the same process: on this boot of this
// machine, and in this container. Empty when that is unknown.
std::string name_of_process_ids();

// Returns true if a process with this id is running on this machine; true when that is unknown.
bool is_process_alive(long id);

// From now on, fork() calls `before` first, and `after` at its end in both processes. Windows has
// no fork(). For a few users in a process, each once.
void at_fork(void (*before)(), void (*after)());

#ifdef _WIN32
using ForkMutex = std::mutex;
#else
// A mutex that no thread but the one that forks holds during fork(), which waits for the others: in
// the child, they would never unlock it. They must not wait meanwhile for what ends after the fork
// alone, such as tasks that are paused, or for what a caller of fork() may hold.
class ZARRCORE_API ForkMutex : public std::mutex {
 public:
  ForkMutex();
  ~ForkMutex();
  ForkMutex(const ForkMutex&) = delete;
  ForkMutex& operator=(const ForkMutex&) = delete;

 private:
  friend class ForkHandlers;
  ForkMutex* previous_ = nullptr;  // in the list of all
  ForkMutex* next_ = nullptr;
};
#endif

// From now on, the normal end of the process begins with `before`. Objects of static storage that
// have been created later are destroyed earlier, while tasks still run. So objects of zarrcore and
// the driver are never destroyed: `static auto& x = *new X;`.
void at_exit(void (*before)());

// Returns true if the other threads have been ended: at the end of a process, Windows does so
// before the functions of at_exit() are called in a DLL. To wait for a thread would then never end.
bool are_threads_gone();

}  // namespace zarrcore
