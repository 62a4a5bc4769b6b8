// A lock on a folder of the local file system, for changing files in it: other processes, and other
// threads, wait for it. It leaves no files behind and ends with its process.
//
// folder_lock.cpp has what all systems share; posix_folder_lock.cpp and windows_folder_lock.cpp
// implement SystemFolderLock.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <system_error>

#include "zarrcore/store/store.h"

namespace zarrcore {

enum class LockMode : std::uint8_t {
  exclusive,
  shared,
};

// Waits up to `limit` until no other thread or process has the lock, or all that have it share it.
// Null when the folder does not exist, or when its file system has no such locks (NFS). Throws
// Error, and LockTimeout.
std::unique_ptr<StoreLock> lock_folder(const std::string& path, LockMode mode,
                                       std::chrono::milliseconds limit);

// The lock of the folder that was at a path when this object was made.
class SystemFolderLock final : public StoreLock {
 public:
  // The error says why the folder cannot be opened.
  SystemFolderLock(const std::string& path, std::error_code& error);
  // Releases the lock.
  ~SystemFolderLock() override;
  SystemFolderLock(const SystemFolderLock&) = delete;
  SystemFolderLock& operator=(const SystemFolderLock&) = delete;

  enum class Attempt : std::uint8_t { held, busy, impossible };
  Attempt try_lock(LockMode mode);
  // As lock_holder().
  std::string holder() const;
  // Whether the folder is still at the path.
  bool is_at(const std::string& path) const;

 private:
  struct Folder;

  std::unique_ptr<Folder> folder_;
};

}  // namespace zarrcore
