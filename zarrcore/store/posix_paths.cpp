#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#endif

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <span>
#include <system_error>

#include "zarrcore/base/error.h"
#include "zarrcore/store/local_files.h"
#include "zarrcore/store/open_file.h"

namespace zarrcore {
namespace {

namespace fs = std::filesystem;

void check(const std::string& path, const std::error_code& error) {
  if (error) throw Error(path + ": " + error.message());
}

std::string problem() {
  return std::generic_category().message(errno);
}

}  // namespace

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

#ifdef __linux__
namespace {

// The magic numbers of file systems with lasting ids; the first are changed by this system alone.
constexpr std::array<std::uint32_t, 11> kFileSystems{0xef53 /* ext2 to ext4 */,
                                                     0x58465342 /* XFS */,
                                                     0x9123683e /* Btrfs */,
                                                     0xf2f52010 /* F2FS */,
                                                     0x2fc12fc1 /* ZFS */,
                                                     0x01021994 /* tmpfs */,
                                                     0x794c7630 /* overlayfs */,
                                                     0x6969 /* NFS */,
                                                     0x0bd00bd0 /* Lustre */,
                                                     0x00c36400 /* CephFS */,
                                                     0x47504653 /* GPFS */};
constexpr std::size_t kLocalFileSystems = 6;

bool is_one_of_first(std::size_t count, const std::string& path) {
  const std::span first(kFileSystems.data(), count);
  struct statfs status;
  return ::statfs(path.c_str(), &status) == 0 &&
         std::ranges::find(first, static_cast<std::uint32_t>(status.f_type)) != first.end();
}

}  // namespace

bool has_lasting_ids(const std::string& path) {
  return is_one_of_first(kFileSystems.size(), path);
}

bool is_changed_here_alone(const std::string& path) {
  return is_one_of_first(kLocalFileSystems, path);
}
#else
bool has_lasting_ids(const std::string& /*path*/) {
  return true;
}
#endif

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
  const int descriptor =
      open_descriptor([&] { return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(
      descriptor < 0 ? nullptr : ::fdopendir(descriptor), &::closedir);
  if (!folder) {
    if (descriptor >= 0) ::close(descriptor);
    if (errno == ENOENT || errno == ENOTDIR) return;
    throw AccessFailure(problem());
  }
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(folder.get());
    if (entry == nullptr && errno != 0) throw AccessFailure(problem());
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

namespace {

void sync(const std::string& folder, int (*function)(int descriptor)) {
  const int descriptor =
      open_descriptor([&] { return ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
  // Some file systems cannot sync folders because they write their entries at once.
  const bool is_done = descriptor >= 0 && (function(descriptor) == 0 || errno == EINVAL);
  const std::string why = is_done ? std::string() : folder + ": " + problem();
  if (descriptor >= 0) ::close(descriptor);
  if (!is_done) throw Error(why);
}

}  // namespace

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

bool exchange_folders([[maybe_unused]] const std::string& first,
                      [[maybe_unused]] const std::string& second) noexcept {
#ifdef RENAME_EXCHANGE
  return ::renameat2(AT_FDCWD, first.c_str(), AT_FDCWD, second.c_str(), RENAME_EXCHANGE) == 0;
#else
  return false;
#endif
}

}  // namespace zarrcore
