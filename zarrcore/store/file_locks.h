// Locks between processes that write the same chunks: one file for each key, in a folder that all
// of them see and that is better not the store's. These are the lock files of zarr-python's
// ProcessSynchronizer: programs that use it on the same folder and we exclude each other.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <string_view>

#include "zarrcore/store/posix_file.h"

namespace zarrcore {

class FileLocks {
 public:
  // What is held until it goes.
  struct Held {
    std::unique_lock<std::mutex> turn;  // of this process's threads
    std::unique_ptr<PosixFile> file;
  };

  // The folder need not exist; the first lock makes it.
  explicit FileLocks(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // Waits until nobody else holds the lock of a key. A thread must not hold two. The file stays:
  // if it were removed, two could hold locks of two files of one name. Throws Error when it cannot
  // be made or locked.
  Held lock(std::string_view key) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace zarrcore
