#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "zarrcore/store/folder_lock.h"
#include "zarrcore/store/lock_wait.h"
#include "zarrcore/store/posix_descriptor.h"

namespace zarrcore {

struct SystemFolderLock::Folder {
  int descriptor;
};

SystemFolderLock::SystemFolderLock(const std::string& path, std::error_code& error)
    : folder_(std::make_unique<Folder>(Folder{open_descriptor(
          [&] { return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); })})) {
  if (folder_->descriptor < 0) error = std::error_code(errno, std::generic_category());
}

SystemFolderLock::~SystemFolderLock() {
  if (folder_->descriptor < 0) return;
  // To close the descriptor is not enough: a forked process has it as well.
  ::flock(folder_->descriptor, LOCK_UN);
  ::close(folder_->descriptor);
}

SystemFolderLock::Attempt SystemFolderLock::try_lock(LockMode mode) {
  const int operation = mode == LockMode::shared ? LOCK_SH : LOCK_EX;
  while (::flock(folder_->descriptor, operation | LOCK_NB) != 0) {
    if (errno != EINTR) return errno == EWOULDBLOCK ? Attempt::busy : Attempt::impossible;
  }
  return Attempt::held;
}

std::string SystemFolderLock::holder() const {
  return lock_holder(folder_->descriptor);
}

bool SystemFolderLock::is_at(const std::string& path) const {
  struct stat own;
  struct stat current;
  return ::fstat(folder_->descriptor, &own) == 0 && ::stat(path.c_str(), &current) == 0 &&
         own.st_ino == current.st_ino && own.st_dev == current.st_dev;
}

}  // namespace zarrcore
