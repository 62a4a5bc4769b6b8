// An open folder of the local file system: whatever happens to its path, this object refers to the
// same folder, and no other folder can get its inode.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>

#include "zarrcore/store/value_version.h"

namespace zarrcore {

class PosixFolder {
 public:
  // Null when the folder does not exist. Throws Error.
  static std::shared_ptr<PosixFolder> open(const std::string& path);
  // Null on every error, which is put into `error`.
  static std::shared_ptr<PosixFolder> open(const std::string& path, std::error_code& error);
  ~PosixFolder();
  PosixFolder(const PosixFolder&) = delete;
  PosixFolder& operator=(const PosixFolder&) = delete;

  int descriptor() const { return descriptor_; }
  // Whether this folder is the one at `path`.
  bool is_at(const std::string& path) const;

  // The version of a file in it.
  ValueVersion version(const char* name) const;
  // Renames a file in it, replacing any file of the new name. Throws Error.
  void rename(const char* from, const char* to) const;
  bool remove(const char* name) const noexcept;

  enum class LockMode : std::uint8_t {
    exclusive,
    shared,
  };
  // The lock of lock_folder(), for a scope. Where the file system has no such locks, it only
  // excludes threads that use this object.
  class Lock {
   public:
    Lock(PosixFolder& folder, LockMode mode);
    ~Lock();
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

    // Whether the file system has such locks.
    bool is_held() const { return is_held_; }

   private:
    PosixFolder& folder_;
    bool is_held_;
  };

  // Waits until the entries of a folder would survive a loss of power. Throws Error.
  static void sync(const std::string& path);

 private:
  explicit PosixFolder(int descriptor) : descriptor_(descriptor) {}

  bool lock(LockMode mode);
  void unlock();

  int descriptor_;
  // The lock belongs to the descriptor, so the threads that use it have to coordinate.
  std::mutex mutex_;  // guards the following
  std::condition_variable unlocked_;
  bool is_locked_ = false;
  unsigned holders_ = 0;
  unsigned sharers_ = 0;  // in all, since the lock was taken; 0 while it is exclusive
};

}  // namespace zarrcore
