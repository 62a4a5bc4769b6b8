#include "zarrcore/store/posix_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

#include "zarrcore/base/error.h"
#include "zarrcore/store/posix_file.h"

namespace zarrcore {
namespace {

#ifdef O_PATH
constexpr int kHoldFolder = O_PATH;  // of a folder that can be neither listed nor locked
#else
constexpr int kHoldFolder = O_SEARCH;
#endif

// How many threads may share one lock before exclusive ones have their turn.
constexpr unsigned kMaxSharers = 32;

std::string folder_problem(const std::string& path) {
  return path + ": " + std::generic_category().message(errno);
}

}  // namespace

std::shared_ptr<PosixFolder> PosixFolder::open(const std::string& path, std::error_code& error) {
  int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0 && errno == EACCES) {
    descriptor = ::open(path.c_str(), kHoldFolder | O_DIRECTORY | O_CLOEXEC);
  }
  if (descriptor >= 0) return std::shared_ptr<PosixFolder>(new PosixFolder(descriptor));
  error = std::error_code(errno, std::generic_category());
  return nullptr;
}

std::shared_ptr<PosixFolder> PosixFolder::open(const std::string& path) {
  std::error_code error;
  auto folder = open(path, error);
  if (!folder && error != std::errc::no_such_file_or_directory) {
    throw Error(path + ": " + error.message());
  }
  return folder;
}

PosixFolder::~PosixFolder() {
  ::close(descriptor_);
}

bool PosixFolder::is_at(const std::string& path) const {
  struct stat own;
  struct stat current;
  return ::fstat(descriptor_, &own) == 0 && ::stat(path.c_str(), &current) == 0 &&
         own.st_ino == current.st_ino && own.st_dev == current.st_dev;
}

ValueVersion PosixFolder::version(const char* name) const {
  return PosixFile::version(name, descriptor_);
}

void PosixFolder::rename(const char* from, const char* to) const {
  if (::renameat(descriptor_, from, descriptor_, to) == 0) return;
  throw Error(std::generic_category().message(errno));
}

bool PosixFolder::remove(const char* name) const noexcept {
  return ::unlinkat(descriptor_, name, 0) == 0;
}

PosixFolder::Lock::Lock(PosixFolder& folder, LockMode mode)
    : folder_(folder), is_held_(folder_.lock(mode)) {}

PosixFolder::Lock::~Lock() {
  folder_.unlock();
}

bool PosixFolder::lock(LockMode mode) {
  const bool is_shared = mode == LockMode::shared;
  std::unique_lock turn(mutex_);
  unlocked_.wait(turn, [&] {
    const bool is_joined = is_shared && sharers_ > 0 && sharers_ < kMaxSharers;
    return holders_ == 0 || is_joined;
  });
  if (holders_++ == 0) {
    sharers_ = 0;
    do {
      is_locked_ = ::flock(descriptor_, is_shared ? LOCK_SH : LOCK_EX) == 0;
    } while (!is_locked_ && errno == EINTR);
  }
  if (is_shared) ++sharers_;
  return is_locked_;
}

void PosixFolder::unlock() {
  const std::lock_guard turn(mutex_);
  if (--holders_ > 0) return;
  // To close the descriptor is not enough: a forked process has it as well.
  ::flock(descriptor_, LOCK_UN);
  unlocked_.notify_all();
}

void PosixFolder::sync(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) throw Error(folder_problem(path));
  // Some file systems cannot sync folders because they write their entries at once.
  const bool is_done = ::fsync(descriptor) == 0 || errno == EINVAL;
  const std::string problem = is_done ? std::string() : folder_problem(path);
  ::close(descriptor);
  if (!is_done) throw Error(problem);
}

}  // namespace zarrcore
