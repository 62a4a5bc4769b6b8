#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <string>
#include <system_error>

#include "zarrcore/base/error.h"
#include "zarrcore/store/local_files.h"
#include "zarrcore/store/locks.h"
#include "zarrcore/store/open_file.h"

namespace zarrcore {
namespace {

[[noreturn]] void fail() {
  throw AccessFailure(std::generic_category().message(errno));
}

const timespec& modification_time(const struct stat& status) {
#ifdef __APPLE__
  return status.st_mtimespec;
#else
  return status.st_mtim;
#endif
}

const timespec& change_time(const struct stat& status) {
#ifdef __APPLE__
  return status.st_ctimespec;
#else
  return status.st_ctim;
#endif
}

// Also of times that are too far away for it.
std::int64_t nanoseconds(const timespec& time) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
                                   static_cast<std::uint64_t>(time.tv_nsec));
}

ValueVersion version_of(const struct stat& status) {
  return file_version(status.st_ino, static_cast<std::uint64_t>(status.st_size),
                      nanoseconds(modification_time(status)), nanoseconds(change_time(status)));
}

int descriptor_of(std::intptr_t handle) {
  return static_cast<int>(handle);
}

int flags_of(LocalFile::Mode mode) {
  switch (mode) {
    case LocalFile::Mode::create:
      return O_WRONLY | O_CREAT | O_EXCL;
    case LocalFile::Mode::lock:
      return O_RDWR | O_CREAT;
    default:
      // Opening a pipe must not wait for its other end.
      return O_RDONLY | O_NONBLOCK;
  }
}

// Returns true if errno means that a path does not exist. A broken symbolic link in the path counts
// as existing but unreadable: its target may be on a disk that is not mounted.
bool is_absent(std::string path) {
  if (errno == ENOTDIR) return true;
  if (errno != ENOENT) return false;
  struct stat status;
  while (::lstat(path.c_str(), &status) != 0) {
    const auto slash = path.find_last_of('/');
    if (errno != ENOENT || slash == std::string::npos || slash == 0) return true;
    path.resize(slash);
  }
  if (S_ISLNK(status.st_mode) && ::stat(path.c_str(), &status) != 0) {
    throw AccessFailure("the symbolic link " + path + " leads to nothing that exists");
  }
  return true;
}

}  // namespace

LocalFile::LocalFile(const std::string& path, Mode mode)
    : handle_(
          open_descriptor([&] { return ::open(path.c_str(), flags_of(mode) | O_CLOEXEC, 0666); })) {
  if (is_open()) {
    if (mode == Mode::create) ::flock(descriptor_of(handle_), LOCK_EX | LOCK_NB);
    return;
  }
  if (mode == Mode::create && errno == ENOENT) return;
  if (mode != Mode::read || !is_absent(path)) fail();
}

LocalFile::~LocalFile() {
  if (is_open()) ::close(descriptor_of(handle_));
}

std::size_t LocalFile::max_open_files() {
  struct rlimit limit;
  return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? static_cast<std::size_t>(limit.rlim_cur) : 64;
}

bool LocalFile::can_be_replaced() {
  return true;
}

ValueVersion LocalFile::version(const std::string& path) {
  struct stat status;
  if (::stat(path.c_str(), &status) == 0) return version_of(status);
  return errno == ENOENT || errno == ENOTDIR ? ValueVersion::absent() : ValueVersion();
}

bool LocalFile::is_file(const std::string& path) {
  struct stat status;
  if (::stat(path.c_str(), &status) == 0) return !S_ISDIR(status.st_mode);
  if (!is_absent(path)) fail();
  return false;
}

std::optional<std::uint64_t> LocalFile::value_size(ValueVersion* version) const {
  if (version != nullptr) *version = ValueVersion::absent();
  if (!is_open()) return std::nullopt;
  struct stat status;
  if (::fstat(descriptor_of(handle_), &status) != 0) fail();
  if (S_ISDIR(status.st_mode)) return std::nullopt;
  if (!S_ISREG(status.st_mode)) throw Error("it is not a file");
  if (version != nullptr) *version = version_of(status);
  return static_cast<std::uint64_t>(status.st_size);
}

Buffer LocalFile::read(std::uint64_t offset, std::uint64_t length) const {
  Buffer buffer(length);
  std::size_t done = 0;
  while (done < buffer.size()) {
    const ssize_t count = ::pread(descriptor_of(handle_), buffer.data() + done,
                                  buffer.size() - done, static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail();
    if (count == 0) throw Error("the file became shorter while it was read");
    done += static_cast<std::size_t>(count);
  }
  return buffer;
}

void LocalFile::write(ByteSpan bytes) const {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor_of(handle_), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail();
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

void LocalFile::sync() const {
  if (::fsync(descriptor_of(handle_)) != 0) fail();
}

bool LocalFile::is_abandoned(const std::string& path, std::int64_t seconds, bool removes) noexcept {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
  if (descriptor < 0) return false;
  struct stat status;
  const bool is_old = ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) &&
                      std::time(nullptr) - modification_time(status).tv_sec > seconds;
  bool result = is_old && (::flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK);
  if (result && removes) result = ::unlink(path.c_str()) == 0;
  ::close(descriptor);
  return result;
}

void LocalFile::close() {
  const int result = ::close(descriptor_of(handle_));
  handle_ = kNoHandle;
  if (result != 0) fail();
}

bool LocalFile::try_lock() {
  struct flock all = {};
  all.l_type = F_WRLCK;
  all.l_whence = SEEK_SET;
#ifdef F_OFD_SETLK
  // This lock belongs to the open file, so it also excludes other threads of this process.
  constexpr int kLock = F_OFD_SETLK;
#else
  constexpr int kLock = F_SETLK;
#endif
  while (::fcntl(descriptor_of(handle_), kLock, &all) != 0) {
    if (errno == EAGAIN || errno == EACCES) return false;
    if (errno != EINTR) fail();
  }
  return true;
}

std::string LocalFile::holder() const {
  return lock_holder(descriptor_of(handle_));
}

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
  // Closing the descriptor is not enough: a forked process may have it as well.
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
