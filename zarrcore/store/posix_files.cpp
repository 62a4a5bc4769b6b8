// The local file system of POSIX systems: implements local_files.h and the locks of locks.h.
#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/sysmacros.h>
#endif

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <memory>
#include <string>
#include <system_error>
#include <thread>

#include "zarrcore/base/error.h"
#include "zarrcore/store/local_files.h"
#include "zarrcore/store/locks.h"

namespace zarrcore {
namespace {

namespace fs = std::filesystem;

#ifdef __APPLE__
constexpr auto kModified = &stat::st_mtimespec;
constexpr auto kChanged = &stat::st_ctimespec;
#else
constexpr auto kModified = &stat::st_mtim;
constexpr auto kChanged = &stat::st_ctim;
#endif

std::string problem() {
  return std::generic_category().message(errno);
}

[[noreturn]] void fail() {
  throw AccessFailure(problem());
}

void check(const std::string& path, const std::error_code& error) {
  if (error) throw Error(path + ": " + error.message());
}

// Calls `open`, which returns a descriptor, or a negative number and sets errno. If the process or
// the system has too many open files, some are closed, and it is called again.
template <typename Open>
int open_descriptor(const Open& open) {
  int descriptor = open();
  std::chrono::milliseconds pause(1);
  while (descriptor < 0 && (errno == EMFILE || errno == ENFILE) && pause.count() < 256) {
    // Other threads close their files soon.
    if (!OpenFile::close_oldest()) {
      std::this_thread::sleep_for(pause);
      pause *= 2;
    }
    descriptor = open();
  }
  return descriptor;
}

int open_folder(const std::string& path) {
  return open_descriptor([&] { return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
}

// Also of times that are too far away for it.
std::int64_t nanoseconds(const timespec& time) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
                                   static_cast<std::uint64_t>(time.tv_nsec));
}

ValueVersion version_of(const struct stat& status) {
  return file_version(status.st_ino, static_cast<std::uint64_t>(status.st_size),
                      nanoseconds(status.*kModified), nanoseconds(status.*kChanged));
}

int descriptor_of(std::intptr_t handle) {
  return static_cast<int>(handle);
}

int flags_of(LocalFile::Mode mode) {
  // Opening a pipe must not wait for its other end.
  if (mode == LocalFile::Mode::read) return O_RDONLY | O_NONBLOCK;
  return mode == LocalFile::Mode::lock ? O_RDWR | O_CREAT : O_WRONLY | O_CREAT | O_EXCL;
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

void sync(const std::string& folder, int (*function)(int descriptor)) {
  const int descriptor = open_folder(folder);
  // Some file systems cannot sync folders because they write their entries at once.
  const bool is_done = descriptor >= 0 && (function(descriptor) == 0 || errno == EINVAL);
  const std::string why = is_done ? std::string() : folder + ": " + problem();
  if (descriptor >= 0) ::close(descriptor);
  if (!is_done) throw Error(why);
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
                      std::time(nullptr) - (status.*kModified).tv_sec > seconds;
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
    : folder_(std::make_unique<Folder>(Folder{open_folder(path)})) {
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

std::optional<FolderId> folder_id(const std::string& path) {
#if defined(__linux__) && defined(STATX_BTIME)
  struct statx extended;
  if (::statx(AT_FDCWD, path.c_str(), 0, STATX_TYPE | STATX_INO | STATX_BTIME, &extended) == 0) {
    if (!S_ISDIR(extended.stx_mode)) return std::nullopt;
    FolderId id{makedev(extended.stx_dev_major, extended.stx_dev_minor), extended.stx_ino};
    if ((extended.stx_mask & STATX_BTIME) != 0) {
      id.created = extended.stx_btime.tv_sec * 1'000'000'000 + extended.stx_btime.tv_nsec;
    }
    return id;
  }
  if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
#endif
  struct stat status;
  if (::stat(path.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) return std::nullopt;
  return FolderId{static_cast<std::uint64_t>(status.st_dev),
                  static_cast<std::uint64_t>(status.st_ino)};
}

bool is_folder(const std::string& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

bool is_occupied(const std::string& path) {
  std::error_code ignored;
  return fs::exists(fs::symlink_status(path, ignored));
}

FolderCreation make_folder(const std::string& path) {
  std::error_code error;
  const bool is_new = fs::create_directory(path, error);
  if (error == std::errc::no_such_file_or_directory) return FolderCreation::impossible;
  check(path, error);
  return is_new ? FolderCreation::created : FolderCreation::existing;
}

// Does not use std::filesystem, whose iterators allocate memory in functions that cannot throw.
void visit_folder(const std::string& path,
                  const std::function<bool(const FolderEntry& entry)>& visit) {
  const int descriptor = open_folder(path);
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(
      descriptor < 0 ? nullptr : ::fdopendir(descriptor), &::closedir);
  if (!folder) {
    if (descriptor >= 0) ::close(descriptor);
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
    // Relative to the folder, the system does not look up its path for each entry.
    const auto size = [&]() -> std::optional<std::uint64_t> {
      struct stat status;
      const bool is_file = ::fstatat(::dirfd(folder.get()), entry->d_name, &status, 0) == 0 &&
                           S_ISREG(status.st_mode);
      return is_file ? std::optional(static_cast<std::uint64_t>(status.st_size)) : std::nullopt;
    };
    if (!visit({name, kind, size})) return;
  }
}

void replace_file(const std::string& from, const std::string& to) {
  if (std::rename(from.c_str(), to.c_str()) != 0) throw Error(problem());
}

void adopt_owner(const std::string& path, const std::string& from) {
  struct stat status;
  if (::stat(from.c_str(), &status) != 0) throw Error(problem());
  constexpr uid_t kSameOwner = static_cast<uid_t>(-1);
  if (::chown(path.c_str(), status.st_uid, status.st_gid) != 0 &&
      ::chown(path.c_str(), kSameOwner, status.st_gid) != 0 && errno != EPERM && errno != ENOSYS) {
    throw Error(problem());
  }
  constexpr mode_t kPermissions = 0777;
  if (::chmod(path.c_str(), status.st_mode & kPermissions) != 0) throw Error(problem());
}

void sync_folder(const std::string& path) {
  sync(path, ::fsync);
}

void sync_file_system(const std::string& folder) {
#ifdef __linux__
  sync(folder, ::syncfs);
#else
  sync_folder(folder);
#endif
}

bool remove_entry(const std::string& path) {
  std::error_code error;
  const bool removed = fs::remove(path, error);
  if (error == std::errc::not_a_directory) return false;
  check(path, error);
  return removed;
}

void remove_folder(const std::string& path) {
  std::error_code error;
  fs::remove_all(path, error);
  check(path, error);
}

void rename_folder(const std::string& from, const std::string& to) {
  std::error_code error;
  fs::rename(from, to, error);
  if (error) throw Error(error.message());
}

}  // namespace zarrcore
