// For the files that implement the local file system with POSIX.
#pragma once

#include <cerrno>
#include <chrono>
#include <thread>

#include "zarrcore/store/open_file.h"

namespace zarrcore {

// Calls `open`, which returns a descriptor, or a negative number and sets errno. If the process or
// the system has too many open files, some are given back, and it is called again.
template <typename Open>
int open_descriptor(const Open& open) {
  int descriptor = open();
  std::chrono::milliseconds pause(1);
  while (descriptor < 0 && (errno == EMFILE || errno == ENFILE) && pause.count() < 256) {
    // What other threads have open, they close soon.
    if (!OpenFile::give_back()) {
      std::this_thread::sleep_for(pause);
      pause *= 2;
    }
    descriptor = open();
  }
  return descriptor;
}

}  // namespace zarrcore
