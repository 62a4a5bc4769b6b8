#include "zarrcore/store/folder_lock.h"

#include "zarrcore/base/error.h"
#include "zarrcore/store/lock_wait.h"

namespace zarrcore {

std::unique_ptr<StoreLock> lock_folder(const std::string& path, LockMode mode,
                                       std::chrono::milliseconds limit) {
  using Attempt = SystemFolderLock::Attempt;
  LockWait wait(limit);
  while (true) {
    std::error_code error;
    auto lock = std::make_unique<SystemFolderLock>(path, error);
    if (error) {
      // A folder without permission to list it can still be written to.
      if (error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory ||
          error == std::errc::permission_denied) {
        return nullptr;
      }
      throw Error(path + ": " + error.message());
    }
    Attempt attempt = lock->try_lock(mode);
    bool has_waited = false;
    while (attempt == Attempt::busy) {
      has_waited = true;
      if (!wait.pause()) throw LockTimeout(lock->holder());
      attempt = lock->try_lock(mode);
    }
    if (attempt == Attempt::impossible) return nullptr;
    // While this thread waited for the lock, another folder may have replaced this one.
    if (!has_waited || lock->is_at(path)) return lock;
  }
}

}  // namespace zarrcore
