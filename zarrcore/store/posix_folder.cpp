#include "zarrcore/store/posix_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

#include "zarrcore/base/error.h"

namespace zarrcore {
namespace {

#ifdef O_PATH
constexpr int kHoldFolder = O_PATH;  // of a folder that can be neither listed nor locked
#else
constexpr int kHoldFolder = O_SEARCH;
#endif

std::string folder_problem(const std::string& path) {
  return path + ": " + std::generic_category().message(errno);
}

}  // namespace

LocalFolder::System::~System() {
  ::close(descriptor);
}

LocalFolder::LocalFolder(std::unique_ptr<System> system) : system_(std::move(system)) {}

LocalFolder::~LocalFolder() = default;

std::shared_ptr<LocalFolder> LocalFolder::open(const std::string& path, std::error_code& error) {
  int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0 && errno == EACCES) {
    descriptor = ::open(path.c_str(), kHoldFolder | O_DIRECTORY | O_CLOEXEC);
  }
  if (descriptor >= 0) {
    return std::shared_ptr<LocalFolder>(new LocalFolder(std::make_unique<System>(descriptor)));
  }
  error = std::error_code(errno, std::generic_category());
  return nullptr;
}

bool LocalFolder::is_at(const std::string& path) const {
  struct stat own;
  struct stat current;
  return ::fstat(system_->descriptor, &own) == 0 && ::stat(path.c_str(), &current) == 0 &&
         own.st_ino == current.st_ino && own.st_dev == current.st_dev;
}

ValueVersion LocalFolder::version(const std::string& name) const {
  return version_at(system_->descriptor, name.c_str());
}

void LocalFolder::rename(const std::string& from, const std::string& to) const {
  const int folder = system_->descriptor;
  if (::renameat(folder, from.c_str(), folder, to.c_str()) == 0) return;
  throw Error(std::generic_category().message(errno));
}

bool LocalFolder::remove(const std::string& name) const noexcept {
  return ::unlinkat(system_->descriptor, name.c_str(), 0) == 0;
}

LocalFolder::Attempt LocalFolder::try_lock_system(LockMode mode) {
  const int operation = mode == LockMode::shared ? LOCK_SH : LOCK_EX;
  while (::flock(system_->descriptor, operation | LOCK_NB) != 0) {
    if (errno != EINTR) return errno == EWOULDBLOCK ? Attempt::busy : Attempt::impossible;
  }
  return Attempt::held;
}

std::string LocalFolder::system_lock_holder() const {
  return lock_holder(system_->descriptor);
}

void LocalFolder::unlock_system() {
  // To close the descriptor is not enough: a forked process has it as well.
  ::flock(system_->descriptor, LOCK_UN);
}

void LocalFolder::sync(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) throw Error(folder_problem(path));
  // Some file systems cannot sync folders because they write their entries at once.
  const bool is_done = ::fsync(descriptor) == 0 || errno == EINVAL;
  const std::string problem = is_done ? std::string() : folder_problem(path);
  ::close(descriptor);
  if (!is_done) throw Error(problem);
}

}  // namespace zarrcore
