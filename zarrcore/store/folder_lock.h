// A lock on a folder of the local file system, for changing files in it: other processes, and other
// threads, wait for it. It leaves no files behind and ends with its process.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "zarrcore/store/store.h"

namespace zarrcore {

// Waits up to `limit` until no other thread or process has the lock. Null when the folder does not
// exist, or when its file system has no such locks (NFS). Throws Error, and LockTimeout.
std::unique_ptr<StoreLock> lock_folder(const std::string& path, std::chrono::milliseconds limit);

}  // namespace zarrcore
