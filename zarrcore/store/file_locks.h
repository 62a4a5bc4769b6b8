// Locks between processes that write the same chunks: a file for each key, in a folder that all of
// them can access, preferably outside of the store. The lock files are those of zarr-python's
// ProcessSynchronizer, so programs that use it on the same folder are locked out as well.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string_view>

#include "zarrcore/base/api.h"
#include "zarrcore/store/local_file.h"
#include "zarrcore/store/lock_wait.h"

namespace zarrcore {

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
      : folder_(std::move(folder)), patience_(timeout) {}

  // Waits for the lock of a key. A thread must not hold two locks. The file is not removed:
  // otherwise two processes could lock two files of the same name. Throws Error when it cannot be
  // created or locked, or is not released in time.
  Held lock(std::string_view key) const;

 private:
  std::filesystem::path folder_;
  mutable LockPatience patience_;
};

}  // namespace zarrcore
