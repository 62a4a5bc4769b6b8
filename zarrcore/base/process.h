// Processes of the operating system.
#pragma once

#include <cstdint>
#include <string>

namespace zarrcore {

long process_id();

// A text that is the same wherever a process id means the same process: on this boot of this
// machine, and in this container. Empty when that is unknown.
std::string name_of_process_ids();

// Returns true if a process with this id is running on this machine; true when that is unknown.
bool is_process_alive(long id);

// The steps before a fork. First all work of the process pauses, and only then are locks acquired,
// since the work may need them.
enum class BeforeFork : std::uint8_t { pause, lock };

// From now on, fork() calls `before` first, and `after` at its end in both processes. Windows has
// no fork(). For a few users in a process, each once.
void at_fork(BeforeFork what, void (*before)(), void (*after)());

// From now on, the normal end of the process begins with `before`. Objects of static storage that
// have been created later are destroyed earlier, while tasks still run. So objects of zarrcore and
// the driver are never destroyed: `static auto& x = *new X;`.
void at_exit(void (*before)());

// Returns true if the other threads have been ended: at the end of a process, Windows does so
// before the functions of at_exit() are called in a DLL. To wait for a thread would then never end.
bool are_threads_gone();

}  // namespace zarrcore
