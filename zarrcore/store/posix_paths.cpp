#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <memory>
#include <system_error>

#include "zarrcore/base/error.h"
#include "zarrcore/store/local_paths.h"

namespace zarrcore {
namespace {

namespace fs = std::filesystem;

void check(const std::string& path, const std::error_code& error) {
  if (error) throw Error(path + ": " + error.message());
}

}  // namespace

bool is_folder(const std::string& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

bool is_occupied(const std::string& path) {
  std::error_code ignored;
  return fs::exists(fs::symlink_status(path, ignored));
}

Made make_folder(const std::string& path) {
  std::error_code error;
  const bool is_new = fs::create_directory(path, error);
  if (error == std::errc::no_such_file_or_directory) return Made::impossible;
  check(path, error);
  return is_new ? Made::now : Made::before;
}

// Without std::filesystem, whose iterators allocate memory in functions that cannot throw.
void visit_folder(const std::string& path,
                  const std::function<bool(std::string_view name, EntryKind kind)>& visit) {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(path.c_str()), &::closedir);
  if (!folder) {
    if (errno == ENOENT || errno == ENOTDIR) return;
    throw Error(std::generic_category().message(errno));
  }
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(folder.get());
    if (entry == nullptr && errno != 0) throw Error(std::generic_category().message(errno));
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
