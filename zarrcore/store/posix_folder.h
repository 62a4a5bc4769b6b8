// For the files that implement the local file system with POSIX.
#pragma once

#include "zarrcore/store/local_folder.h"

namespace zarrcore {

// An open folder: no other folder can get its inode.
struct LocalFolder::System {
  explicit System(int open_descriptor) : descriptor(open_descriptor) {}
  ~System();
  System(const System&) = delete;
  System& operator=(const System&) = delete;

  int descriptor;
};

// The version of a file at a path in an open folder.
ValueVersion version_at(int folder, const char* path);

}  // namespace zarrcore
