// A lock on a folder of the local file system, for who changes files in it: other processes, and
// other threads, that take it wait. It leaves nothing behind and goes with its process.
#pragma once

#include <cstdint>
#include <memory>

#include "zarrcore/store/store.h"

namespace zarrcore {

enum class LockMode : std::uint8_t {
  exclusive,
  shared,  // with others that share it
};

// Waits until nobody else holds the lock, but for those that share it. Null when there is no such
// folder, or when its file system has no such locks (NFS). Throws Error.
std::unique_ptr<StoreLock> lock_folder(const char* path, LockMode mode = LockMode::exclusive);

}  // namespace zarrcore
