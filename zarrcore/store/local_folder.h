// A folder of the local file system: whatever happens to its path, this object refers to the same
// folder. local_folder.cpp has what all systems share; posix_folder.cpp and windows_folder.cpp
// implement the rest.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>

#include "zarrcore/store/lock_wait.h"
#include "zarrcore/store/value_version.h"

namespace zarrcore {

class LocalFolder {
 public:
  // How the system refers to the folder: in posix_folder.h or windows_folder.h.
  struct System;

  // Null when the folder does not exist. Throws Error.
  static std::shared_ptr<LocalFolder> open(const std::string& path);
  // Null on every error, which is put into `error`. Throws Error only for a name that Windows
  // forbids.
  static std::shared_ptr<LocalFolder> open(const std::string& path, std::error_code& error);
  ~LocalFolder();
  LocalFolder(const LocalFolder&) = delete;
  LocalFolder& operator=(const LocalFolder&) = delete;

  const System& system() const { return *system_; }
  // Whether this folder is the one at `path`.
  bool is_at(const std::string& path) const;

  // The version of a file in it.
  ValueVersion version(const std::string& name) const;
  // Renames a file in it, replacing any file of the new name at once. Throws Error.
  void rename(const std::string& from, const std::string& to) const;
  bool remove(const std::string& name) const noexcept;

  enum class LockMode : std::uint8_t {
    exclusive,
    shared,
  };
  // The lock of lock_folder(), for a scope. Where the file system has no such locks, it only
  // excludes threads that use this object.
  class Lock {
   public:
    // Waits up to `limit`. Throws LockTimeout.
    Lock(LocalFolder& folder, LockMode mode, std::chrono::milliseconds limit);
    ~Lock();
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

    // Whether the file system has such locks.
    bool is_held() const { return is_held_; }

   private:
    LocalFolder& folder_;
    bool is_held_;
  };

  // Waits until the entries of a folder would survive a loss of power. Throws Error.
  static void sync(const std::string& path);

 private:
  explicit LocalFolder(std::unique_ptr<System> system);

  enum class Attempt : std::uint8_t { held, busy, impossible };

  // Returns false if the file system has no such locks.
  bool lock(LockMode mode, std::chrono::milliseconds limit);
  void unlock();
  // Waits for the lock between processes, and between objects of this process.
  bool wait_for_system(LockMode mode, LockWait& wait);
  Attempt try_lock_system(LockMode mode);
  void unlock_system();
  // As lock_holder().
  std::string system_lock_holder() const;

  std::unique_ptr<System> system_;
  // The system's lock belongs to this object, so the threads that use it have to coordinate.
  std::mutex mutex_;  // guards the following
  std::condition_variable unlocked_;
  bool is_locked_ = false;
  unsigned holders_ = 0;  // also the one that waits for the system's lock
  unsigned sharers_ = 0;  // in all, since the lock was taken; 0 while it is exclusive
};

}  // namespace zarrcore
