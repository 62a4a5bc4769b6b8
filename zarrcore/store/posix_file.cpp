#include "zarrcore/store/posix_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string>
#include <system_error>

#include "zarrcore/base/error.h"

namespace zarrcore {
namespace {

[[noreturn]] void fail() {
  throw Error(std::generic_category().message(errno));
}

// Whether a file that is written now could get the same time: file systems count time in ticks of
// some milliseconds, or in seconds, and reuse inodes at once.
bool is_too_young(const timespec& time) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  const std::int64_t tick = time.tv_nsec == 0 ? 2 * kSecond : kSecond / 40;
  timespec now = {};
  ::clock_gettime(CLOCK_REALTIME, &now);
  const std::int64_t seconds = static_cast<std::int64_t>(now.tv_sec) - time.tv_sec;
  if (seconds < -4 || seconds > 4) return false;
  const std::int64_t age = seconds * kSecond + now.tv_nsec - time.tv_nsec;
  return age > -tick && age < tick;
}

const timespec& modification_time(const struct stat& status) {
#ifdef __APPLE__
  return status.st_mtimespec;
#else
  return status.st_mtim;
#endif
}

ValueVersion version_of(const struct stat& status) {
  const timespec& time = modification_time(status);
  return ValueVersion(
      {static_cast<std::uint64_t>(status.st_ino), static_cast<std::uint64_t>(status.st_size),
       static_cast<std::uint64_t>(time.tv_sec), static_cast<std::uint64_t>(time.tv_nsec)},
      !is_too_young(time));
}

int flags_of(PosixFile::Mode mode) {
  switch (mode) {
    case PosixFile::Mode::create:
      return O_WRONLY | O_CREAT | O_EXCL;
    case PosixFile::Mode::lock:
      return O_RDWR | O_CREAT;
    default:
      // Opening a pipe must not wait for its other end.
      return O_RDONLY | O_NONBLOCK;
  }
}

// Whether errno says that a path does not exist. A broken symbolic link in the path counts as
// existing but unreadable: its target may be on a disk that is not mounted.
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
    throw Error("the symbolic link " + path + " leads to nothing that exists");
  }
  return true;
}

}  // namespace

// Without std::filesystem, whose iterators allocate memory in functions that cannot throw.
void visit_folder(const char* path,
                  const std::function<bool(std::string_view name, EntryKind kind)>& visit) {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(path), &::closedir);
  if (!folder) {
    if (errno == ENOENT || errno == ENOTDIR) return;
    fail();
  }
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(folder.get());
    if (entry == nullptr && errno != 0) fail();
    if (entry == nullptr) return;
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    EntryKind kind = entry->d_type == DT_DIR ? EntryKind::folder : EntryKind::other;
    if (entry->d_type == DT_LNK || entry->d_type == DT_UNKNOWN) {
      struct stat status;
      const auto is_folder = [&](int flags) {
        return ::fstatat(::dirfd(folder.get()), entry->d_name, &status, flags) == 0 &&
               S_ISDIR(status.st_mode);
      };
      if (is_folder(0)) {
        kind = is_folder(AT_SYMLINK_NOFOLLOW) ? EntryKind::folder : EntryKind::link_to_folder;
      }
    }
    if (!visit(name, kind)) return;
  }
}

const int PosixFile::kWorkingFolder = AT_FDCWD;

PosixFile::PosixFile(const char* path, Mode mode, int folder)
    : descriptor_(::openat(folder, path, flags_of(mode) | O_CLOEXEC, 0666)) {
  if (descriptor_ >= 0) {
    if (mode == Mode::create) ::flock(descriptor_, LOCK_EX | LOCK_NB);
    return;
  }
  if (mode == Mode::create && errno == ENOENT) return;
  if (mode != Mode::read || !is_absent(path)) fail();
}

PosixFile::~PosixFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

ValueVersion PosixFile::version(const char* path, int folder) {
  struct stat status;
  if (::fstatat(folder, path, &status, 0) == 0) return version_of(status);
  return errno == ENOENT || errno == ENOTDIR ? ValueVersion::absent() : ValueVersion();
}

bool PosixFile::is_file(const char* path) {
  struct stat status;
  if (::stat(path, &status) == 0) return !S_ISDIR(status.st_mode);
  if (!is_absent(path)) fail();
  return false;
}

std::optional<std::uint64_t> PosixFile::value_size(ValueVersion* version) const {
  if (version != nullptr) *version = ValueVersion::absent();
  if (descriptor_ < 0) return std::nullopt;
  struct stat status;
  if (::fstat(descriptor_, &status) != 0) fail();
  if (S_ISDIR(status.st_mode)) return std::nullopt;
  if (!S_ISREG(status.st_mode)) throw Error("it is not a file");
  if (version != nullptr) *version = version_of(status);
  return static_cast<std::uint64_t>(status.st_size);
}

Buffer PosixFile::read(std::uint64_t offset, std::uint64_t length) const {
  Buffer buffer(length);
  std::size_t done = 0;
  while (done < length) {
    const ssize_t count = ::pread(descriptor_, buffer.data() + done, length - done,
                                  static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail();
    if (count == 0) throw Error("the file became shorter while it was read");
    done += static_cast<std::size_t>(count);
  }
  return buffer;
}

void PosixFile::write(ByteSpan bytes) const {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail();
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

void PosixFile::sync() const {
  if (::fsync(descriptor_) != 0) fail();
}

bool PosixFile::remove_abandoned(const char* path, std::int64_t seconds) noexcept {
  const int descriptor = ::open(path, O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
  if (descriptor < 0) return false;
  struct stat status;
  timespec now = {};
  ::clock_gettime(CLOCK_REALTIME, &now);
  const bool is_old = ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) &&
                      now.tv_sec - modification_time(status).tv_sec > seconds;
  const bool is_abandoned =
      is_old && (::flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK);
  const bool is_removed = is_abandoned && ::unlink(path) == 0;
  ::close(descriptor);
  return is_removed;
}

void PosixFile::close() {
  const int result = ::close(descriptor_);
  descriptor_ = -1;
  if (result != 0) fail();
}

void PosixFile::lock() {
  struct flock all = {};
  all.l_type = F_WRLCK;
  all.l_whence = SEEK_SET;
#ifdef F_OFD_SETLKW
  // This lock belongs to the open file, so it also excludes other threads of this process.
  constexpr int kLock = F_OFD_SETLKW;
#else
  constexpr int kLock = F_SETLKW;
#endif
  while (::fcntl(descriptor_, kLock, &all) != 0) {
    if (errno != EINTR) fail();
  }
}

}  // namespace zarrcore
