// A lock on a folder of the local file system, for changing files in it: other processes, and other
// threads, wait for it. It leaves no files behind and ends with its process.
#pragma once

#include <memory>
#include <string>

#include "zarrcore/store/store.h"

namespace zarrcore {

// Waits until no other thread or process has the lock. Null when the folder does not exist, or when
// its file system has no such locks (NFS). Throws Error.
std::unique_ptr<StoreLock> lock_folder(const std::string& path);

}  // namespace zarrcore
