// Locks of the local file system that other threads and processes wait for: locks on the folders of
// a store (lock_folder), which a store holds during a put, and lock files (FileLocks), for stores
// that have no locks. The system releases them when their process ends.
//
// A program that does not release a lock must not stop others for ever: after some time, waiting
// ends with an error that names the holder. Systems cannot wait for the lock of a file with a
// limit, so each wait is a series of attempts with pauses between them. The pauses grow from 50
// microseconds to 20 milliseconds, and their lengths vary by chance, so that many processes that
// wait for one lock all have their turn.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <system_error>

#include "zarrcore/base/api.h"
#include "zarrcore/base/error.h"
#include "zarrcore/store/local_files.h"
#include "zarrcore/store/store.h"

namespace zarrcore {

inline constexpr std::chrono::milliseconds kDefaultLockTimeout = std::chrono::seconds(10);

// A lock was not released in time.
class LockTimeout : public Error {
 public:
  // `holder` is what lock_holder() returned.
  explicit LockTimeout(const std::string& holder)
      : Error((holder.empty() ? std::string("another program") : holder) + " does not release it") {
  }
};

// The process that holds a lock of the file or folder with this descriptor, such as "process 123
// (python3)". Empty if the system does not know it: Linux does for most locks, other systems do
// not.
std::string lock_holder(int descriptor);

// One wait for a lock.
class LockWait {
 public:
  explicit LockWait(std::chrono::milliseconds limit)
      : end_(std::chrono::steady_clock::now() + limit) {}

  std::chrono::steady_clock::time_point end() const { return end_; }
  // Pauses before the next attempt. Returns false, at once, when there is no time left.
  bool pause();

 private:
  std::chrono::steady_clock::time_point end_;
  std::chrono::microseconds pause_{50};
};

// How long one store waits for its locks. After a wait has failed, further waits for the same lock
// are short for as long as the limit: a flush has thousands of chunks in one folder. Safe to use
// from several threads.
class LockTimeouts {
 public:
  explicit LockTimeouts(std::chrono::milliseconds limit) : limit_(limit) {}

  // Returns what `take` returns, which takes the lock at `path` with the limit that it gets, or
  // throws LockTimeout.
  template <typename Take>
  auto take(const std::string& path, const Take& take) {
    try {
      return take(limit_of(path));
    } catch (const LockTimeout&) {
      set_held(path);
      throw;
    }
  }

 private:
  std::chrono::milliseconds limit_of(const std::string& path);
  void set_held(const std::string& path);

  const std::chrono::milliseconds limit_;
  std::mutex mutex_;
  // The times until which waits for the lock at a path are short.
  std::map<std::string, std::chrono::steady_clock::time_point> held_;
};

enum class LockMode : std::uint8_t {
  exclusive,
  shared,
};

// A lock on a folder, for changing files in it. It creates no files.
//
// Waits up to `limit` until no other thread or process has the lock, or all that have it share it.
// Null when the folder does not exist, or when its file system has no such locks (NFS). Throws
// Error; LockTimeout after `limit`.
std::unique_ptr<StoreLock> lock_folder(const std::string& path, LockMode mode,
                                       std::chrono::milliseconds limit);

// The lock of the folder that was at a path when this object was created. Implemented in the files
// of each operating system.
class SystemFolderLock final : public StoreLock {
 public:
  // Sets `error` if the folder cannot be opened.
  SystemFolderLock(const std::string& path, std::error_code& error);
  // Releases the lock.
  ~SystemFolderLock() override;
  SystemFolderLock(const SystemFolderLock&) = delete;
  SystemFolderLock& operator=(const SystemFolderLock&) = delete;

  enum class Attempt : std::uint8_t { held, busy, impossible };
  Attempt try_lock(LockMode mode);
  // See lock_holder().
  std::string holder() const;
  // Returns true if the folder is still at the path.
  bool is_at(const std::string& path) const;

 private:
  struct Folder;

  std::unique_ptr<Folder> folder_;
};

// Locks between processes that write the same chunks: a file for each key, in a folder that all of
// them can access, preferably outside of the store. The lock files are compatible with
// zarr-python's ProcessSynchronizer, so programs that use it on the same folder are locked out as
// well.
class ZARRCORE_API FileLocks {
  class Turn;
  // Ends a turn.
  struct EndOfTurn {
    void operator()(Turn* turn) const noexcept;
  };

 public:
  // A lock, held until this object is destroyed.
  struct Held {
    std::unique_ptr<Turn, EndOfTurn> turn;  // among the threads of this process
    std::unique_ptr<LocalFile> file;
  };

  // The folder need not exist; the first lock creates it. No lock is waited for longer than
  // `timeout`.
  explicit FileLocks(std::filesystem::path folder,
                     std::chrono::milliseconds timeout = kDefaultLockTimeout)
      : folder_(std::move(folder)), timeouts_(timeout) {}

  // Waits for the lock of a key. A thread must not hold two locks. The file is not removed:
  // otherwise two processes could lock two files of the same name. Throws Error when it cannot be
  // created or locked, or is not released in time.
  Held lock(std::string_view key) const;

 private:
  std::filesystem::path folder_;
  mutable LockTimeouts timeouts_;
};

}  // namespace zarrcore
