// Locks between processes that write the same chunks: a file for each key, in a folder that all of
// them can access, preferably outside of the store. The lock files are those of zarr-python's
// ProcessSynchronizer, so programs that use it on the same folder are locked out as well.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <string_view>

#include "zarrcore/base/api.h"
#include "zarrcore/store/local_file.h"

namespace zarrcore {

class ZARRCORE_API FileLocks {
 public:
  // A lock, held until this object is destroyed.
  struct Held {
    std::unique_lock<std::mutex> turn;  // among the threads of this process
    std::unique_ptr<LocalFile> file;
  };

  // The folder need not exist; the first lock creates it.
  explicit FileLocks(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // Waits for the lock of a key. A thread must not hold two locks. The file is not removed:
  // otherwise two processes could lock two files of the same name. Throws Error when it cannot be
  // created or locked.
  Held lock(std::string_view key) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace zarrcore
