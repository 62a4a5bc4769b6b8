#include "zarrcore/store/folder_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "zarrcore/base/error.h"

namespace zarrcore {
namespace {

class FolderLock final : public StoreLock {
 public:
  explicit FolderLock(int descriptor) : descriptor_(descriptor) {}
  // A process that was forked meanwhile has the descriptor, too: to close it would not be enough.
  ~FolderLock() override {
    if (is_locked_) ::flock(descriptor_, LOCK_UN);
    ::close(descriptor_);
  }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

  // False where there are no such locks.
  bool lock() {
    while (::flock(descriptor_, LOCK_EX) != 0) {
      if (errno != EINTR) return false;
    }
    is_locked_ = true;
    return true;
  }

  // Whether it is still the folder at `path`, which may have been replaced while others were
  // waited for.
  bool is_at(const char* path) const {
    struct stat own;
    struct stat current;
    return ::fstat(descriptor_, &own) == 0 && ::stat(path, &current) == 0 &&
           own.st_ino == current.st_ino && own.st_dev == current.st_dev;
  }

 private:
  int descriptor_;
  bool is_locked_ = false;
};

}  // namespace

std::unique_ptr<StoreLock> lock_folder(const char* path) {
  while (true) {
    const int descriptor = ::open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) {
      // A folder that nobody may list can be written to all the same.
      if (errno == ENOENT || errno == ENOTDIR || errno == EACCES) return nullptr;
      throw Error(std::string(path) + ": " + std::generic_category().message(errno));
    }
    auto lock = std::make_unique<FolderLock>(descriptor);
    if (!lock->lock()) return nullptr;
    if (lock->is_at(path)) return lock;
  }
}

}  // namespace zarrcore
