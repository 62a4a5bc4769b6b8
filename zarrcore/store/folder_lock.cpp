#include "zarrcore/store/folder_lock.h"

#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include "zarrcore/base/error.h"
#include "zarrcore/store/local_folder.h"

namespace zarrcore {
namespace {

class FolderLock final : public StoreLock {
 public:
  FolderLock(std::shared_ptr<LocalFolder> folder, std::chrono::milliseconds limit)
      : folder_(std::move(folder)), lock_(*folder_, LocalFolder::LockMode::exclusive, limit) {}

  // False if the file system has no such locks.
  bool is_held() const { return lock_.is_held(); }
  bool is_at(const std::string& path) const { return folder_->is_at(path); }

 private:
  std::shared_ptr<LocalFolder> folder_;
  LocalFolder::Lock lock_;
};

}  // namespace

std::unique_ptr<StoreLock> lock_folder(const std::string& path, std::chrono::milliseconds limit) {
  while (true) {
    std::error_code error;
    auto folder = LocalFolder::open(path, error);
    if (!folder) {
      // A folder without permission to list it can still be written to.
      if (error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory ||
          error == std::errc::permission_denied) {
        return nullptr;
      }
      throw Error(path + ": " + error.message());
    }
    auto lock = std::make_unique<FolderLock>(std::move(folder), limit);
    if (!lock->is_held()) return nullptr;
    // While this thread waited for the lock, another folder may have replaced this one.
    if (lock->is_at(path)) return lock;
  }
}

}  // namespace zarrcore
