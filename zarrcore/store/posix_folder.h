// A folder of the local file system that is held open: it stays the same one, whatever becomes of
// its path, and no other can get its inode. What is done by means of it is done in this folder.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "zarrcore/store/value_version.h"

namespace zarrcore {

class PosixFolder {
 public:
  // Null when there is no such folder. Throws Error.
  static std::shared_ptr<PosixFolder> open(const std::string& path);
  ~PosixFolder();
  PosixFolder(const PosixFolder&) = delete;
  PosixFolder& operator=(const PosixFolder&) = delete;

  int descriptor() const { return descriptor_; }
  // Whether `path` leads to this folder.
  bool is_at(const std::string& path) const;

  // The version of a file in it.
  ValueVersion version(const char* name) const;
  // Gives a file in it another name, where it replaces another one. Throws Error.
  void rename(const char* from, const char* to) const;
  bool remove(const char* name) const noexcept;

  enum class LockMode : std::uint8_t {
    exclusive,
    shared,  // with others that share it
  };
  // The lock of lock_folder(), for a moment. It does nothing where there are no such locks.
  class Lock {
   public:
    Lock(PosixFolder& folder, LockMode mode);
    ~Lock();
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

   private:
    PosixFolder& folder_;
  };

  // Waits until the names in a folder would outlive a loss of power. Throws Error.
  static void sync(const std::string& path);

 private:
  explicit PosixFolder(int descriptor) : descriptor_(descriptor) {}

  void lock(LockMode mode);
  void unlock();

  int descriptor_;
  // The lock belongs to the descriptor: threads that use it share what one of them has taken.
  std::mutex mutex_;
  std::condition_variable unlocked_;
  unsigned holders_ = 0;
  unsigned sharers_ = 0;  // since the lock was taken, all told; none while it is exclusive
};

}  // namespace zarrcore
