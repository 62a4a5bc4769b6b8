// A lock on a folder of the local file system, for who changes files in it: other processes, and
// other threads, that take it wait. It leaves nothing behind and goes with its process.
#pragma once

#include <memory>

#include "zarrcore/store/store.h"

namespace zarrcore {

// Waits until nobody else holds the lock. Null when there is no such folder, or when its file
// system has no such locks (NFS). Throws Error.
std::unique_ptr<StoreLock> lock_folder(const char* path);

}  // namespace zarrcore
