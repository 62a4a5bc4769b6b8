// Processes of the operating system.
#pragma once

namespace zarrcore {

long process_id();

// Whether a process with this id is running on this machine; true when that is unknown.
bool is_process_alive(long id);

// From now on, fork() calls `before` first, and `after` at its end in both processes.
void at_fork(void (*before)(), void (*after)());

// From now on, the normal end of the process begins with `before`.
void at_exit(void (*before)());

}  // namespace zarrcore
