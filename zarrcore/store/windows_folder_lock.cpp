#include "zarrcore/store/folder_lock.h"
#include "zarrcore/store/windows_api.h"

namespace zarrcore {
namespace {

using windows::Handle;
using windows::last_error;

std::error_code code_of(DWORD error) {
  if (windows::is_absent(error)) return std::make_error_code(std::errc::no_such_file_or_directory);
  if (error == ERROR_ACCESS_DENIED) return std::make_error_code(std::errc::permission_denied);
  return {static_cast<int>(error), std::system_category()};
}

bool lock_file(HANDLE file, DWORD flags) {
  OVERLAPPED start{};
  return ::LockFileEx(file, flags, 0, MAXDWORD, MAXDWORD, &start) != 0;
}

}  // namespace

// The folder is not kept open: programs could not rename the folders around it.
struct SystemFolderLock::Folder {
  std::wstring path;
  windows::FileId id;
  Handle lock;
};

SystemFolderLock::SystemFolderLock(const std::string& path, std::error_code& error)
    : folder_(std::make_unique<Folder>()) {
  folder_->path = windows::wide_path(path);
  const Handle folder = windows::open_existing(folder_->path, FILE_READ_ATTRIBUTES);
  BY_HANDLE_FILE_INFORMATION status;
  if (!folder || ::GetFileInformationByHandle(folder.get(), &status) == 0) {
    error = code_of(last_error());
  } else if ((status.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) == 0) {
    error = std::make_error_code(std::errc::not_a_directory);
  } else {
    folder_->id = windows::id_of(folder.get());
  }
}

SystemFolderLock::~SystemFolderLock() {
  const Handle file = std::move(folder_->lock);
  if (!file) return;
  OVERLAPPED start{};
  ::UnlockFileEx(file.get(), 0, MAXDWORD, MAXDWORD, &start);
  if (lock_file(file.get(), LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY)) {
    windows::dispose(file.get());
  }
}

// Folders cannot be locked: the lock is on a file in it, which its last holder removes. The file is
// never listed, and unlike temporary files it is not removed by others.
SystemFolderLock::Attempt SystemFolderLock::try_lock(LockMode mode) {
  const std::wstring path =
      windows::join(folder_->path, windows::wide_name("lock" + std::string(kTemporarySuffix)));
  Handle file(::CreateFileW(path.c_str(), GENERIC_READ | GENERIC_WRITE | DELETE, windows::kShareAll,
                            nullptr, OPEN_ALWAYS, FILE_ATTRIBUTE_HIDDEN, nullptr));
  if (!file) {
    const DWORD error = last_error();
    const bool is_in_use = error == ERROR_DELETE_PENDING || error == ERROR_SHARING_VIOLATION;
    return is_in_use ? Attempt::busy : Attempt::impossible;
  }
  const DWORD exclusive = mode == LockMode::shared ? 0 : LOCKFILE_EXCLUSIVE_LOCK;
  if (!lock_file(file.get(), exclusive | LOCKFILE_FAIL_IMMEDIATELY)) {
    const DWORD error = last_error();
    const bool is_locked = error == ERROR_LOCK_VIOLATION || error == ERROR_IO_PENDING;
    return is_locked ? Attempt::busy : Attempt::impossible;
  }
  // Since it was opened, the file may have been removed.
  if (windows::id_at(path) != windows::id_of(file.get())) return Attempt::busy;
  folder_->lock = std::move(file);
  return Attempt::held;
}

std::string SystemFolderLock::holder() const {
  return {};
}

bool SystemFolderLock::is_at(const std::string& path) const {
  return windows::id_at(windows::wide_path(path)) == folder_->id;
}

}  // namespace zarrcore
