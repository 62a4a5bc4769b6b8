#include "zarrcore/store/posix_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "zarrcore/base/error.h"

namespace zarrcore {
namespace {

[[noreturn]] void fail_with_folder(const char* path) {
  throw Error(std::string(path) + ": " + std::generic_category().message(errno));
}

#ifdef O_PATH
constexpr int kHoldFolder = O_PATH;  // also of a folder that may not be listed
#else
constexpr int kHoldFolder = O_RDONLY;
#endif

}  // namespace

PosixFolder::PosixFolder(const char* path)
    : descriptor_(::open(path, kHoldFolder | O_DIRECTORY | O_CLOEXEC)) {
  struct stat status;
  if (descriptor_ < 0) fail_with_folder(path);
  if (::fstat(descriptor_, &status) != 0) {
    ::close(descriptor_);
    fail_with_folder(path);
  }
  device_ = static_cast<std::uint64_t>(status.st_dev);
  inode_ = static_cast<std::uint64_t>(status.st_ino);
}

PosixFolder::~PosixFolder() {
  ::close(descriptor_);
}

bool PosixFolder::is_at(const char* path) const {
  struct stat status;
  return ::stat(path, &status) == 0 && static_cast<std::uint64_t>(status.st_dev) == device_ &&
         static_cast<std::uint64_t>(status.st_ino) == inode_;
}

void PosixFolder::sync(const char* path) {
  const int descriptor = ::open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) fail_with_folder(path);
  // Some file systems do not have it for folders, whose names they write at once.
  const bool is_done = ::fsync(descriptor) == 0 || errno == EINVAL;
  const int problem = errno;
  ::close(descriptor);
  errno = problem;
  if (!is_done) fail_with_folder(path);
}

}  // namespace zarrcore
