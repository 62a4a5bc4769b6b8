#include "zarrcore/store/windows_folder.h"

#include <cstring>
#include <vector>

#include "zarrcore/base/error.h"
#include "zarrcore/store/store.h"

namespace zarrcore {
namespace {

using windows::fail;
using windows::Handle;
using windows::last_error;

std::error_code code_of(DWORD error) {
  if (windows::is_absent(error)) return std::make_error_code(std::errc::no_such_file_or_directory);
  if (error == ERROR_ACCESS_DENIED) return std::make_error_code(std::errc::permission_denied);
  return {static_cast<int>(error), std::system_category()};
}

// Renames the file of a handle with DELETE access at once, also if other programs have the file
// open that is replaced. Returns the error.
DWORD rename_open(HANDLE file, const std::wstring& target) {
  // FILE_RENAME_INFO as FileRenameInfoEx has it, since Windows 10.
  struct Request {
    DWORD flags;
    HANDLE root;
    DWORD size;
    wchar_t name[1];
  };
  const std::size_t size = target.size() * sizeof(wchar_t);
  std::vector<std::byte> bytes(sizeof(Request) + size);
  auto* request = reinterpret_cast<Request*>(bytes.data());
  // FILE_RENAME_FLAG_REPLACE_IF_EXISTS, _POSIX_SEMANTICS and _IGNORE_READONLY_ATTRIBUTE.
  request->flags = 0x1 | 0x2 | 0x40;
  request->root = nullptr;
  request->size = static_cast<DWORD>(size);
  std::memcpy(request->name, target.data(), size);
  constexpr auto kInfoEx = static_cast<FILE_INFO_BY_HANDLE_CLASS>(22);
  const bool is_done =
      ::SetFileInformationByHandle(file, kInfoEx, request, static_cast<DWORD>(bytes.size())) != 0;
  return is_done ? ERROR_SUCCESS : last_error();
}

DWORD replace(const std::wstring& source, const std::wstring& target) {
  Handle file = windows::open_existing(source, DELETE | SYNCHRONIZE);
  if (!file) return last_error();
  const DWORD error = rename_open(file.get(), target);
  // Older systems, and file systems that cannot: these replace a file only if nobody has it open.
  const bool is_unknown = error == ERROR_INVALID_PARAMETER || error == ERROR_NOT_SUPPORTED ||
                          error == ERROR_INVALID_FUNCTION || error == ERROR_CALL_NOT_IMPLEMENTED;
  if (!is_unknown) return error;
  file.close();
  const bool is_done =
      ::MoveFileExW(source.c_str(), target.c_str(), MOVEFILE_REPLACE_EXISTING) != 0;
  return is_done ? ERROR_SUCCESS : last_error();
}

bool lock_file(HANDLE file, DWORD flags) {
  OVERLAPPED start{};
  return ::LockFileEx(file, flags, 0, MAXDWORD, MAXDWORD, &start) != 0;
}

}  // namespace

LocalFolder::LocalFolder(std::unique_ptr<System> system) : system_(std::move(system)) {}

LocalFolder::~LocalFolder() = default;

std::shared_ptr<LocalFolder> LocalFolder::open(const std::string& path, std::error_code& error) {
  auto system = std::make_unique<System>();
  system->path = windows::wide_path(path);
  const Handle folder = windows::open_existing(system->path, FILE_READ_ATTRIBUTES);
  BY_HANDLE_FILE_INFORMATION status;
  if (!folder || ::GetFileInformationByHandle(folder.get(), &status) == 0) {
    error = code_of(last_error());
    return nullptr;
  }
  if ((status.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) == 0) {
    error = std::make_error_code(std::errc::not_a_directory);
    return nullptr;
  }
  system->id = windows::id_of(folder.get());
  return std::shared_ptr<LocalFolder>(new LocalFolder(std::move(system)));
}

bool LocalFolder::is_at(const std::string& path) const {
  return windows::id_at(windows::wide_path(path)) == system_->id;
}

ValueVersion LocalFolder::version(const std::string& name) const {
  return windows::version_at(system_->path_of(name));
}

void LocalFolder::rename(const std::string& from, const std::string& to) const {
  const std::wstring source = system_->path_of(from);
  const std::wstring target = system_->path_of(to);
  if (!system_->exists()) throw Error("its folder has been removed");
  const DWORD error = windows::retry([&] {
    const DWORD attributes = ::GetFileAttributesW(target.c_str());
    const bool is_folder =
        attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
    return is_folder ? ERROR_DIRECTORY_NOT_SUPPORTED : replace(source, target);
  });
  if (error == ERROR_DIRECTORY_NOT_SUPPORTED) throw Error("Is a directory");
  if (error != ERROR_SUCCESS) fail(error);
}

bool LocalFolder::remove(const std::string& name) const noexcept {
  try {
    const Handle file =
        windows::open_existing(system_->path_of(name), DELETE, FILE_FLAG_OPEN_REPARSE_POINT);
    return file && windows::dispose(file.get()) == ERROR_SUCCESS;
  } catch (const std::exception&) {
    return false;
  }
}

// Folders cannot be locked: the lock is on a file in it, which its last holder removes. The file is
// never listed, and unlike temporary files it is not removed by others.
LocalFolder::Attempt LocalFolder::try_lock_system(LockMode mode) {
  const std::wstring path = system_->path_of("lock" + std::string(kTemporarySuffix));
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
  system_->lock = std::move(file);
  return Attempt::held;
}

std::string LocalFolder::system_lock_holder() const {
  return {};
}

void LocalFolder::unlock_system() {
  Handle file = std::move(system_->lock);
  if (!file) return;
  OVERLAPPED start{};
  ::UnlockFileEx(file.get(), 0, MAXDWORD, MAXDWORD, &start);
  if (lock_file(file.get(), LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY)) {
    windows::dispose(file.get());
  }
}

void LocalFolder::sync(const std::string& path) {
  const Handle folder = windows::open_existing(windows::wide_path(path), GENERIC_WRITE);
  DWORD error = folder ? ERROR_SUCCESS : last_error();
  if (folder && ::FlushFileBuffers(folder.get()) == 0) error = last_error();
  // Not all file systems can sync folders. NTFS has a journal of their entries.
  const bool is_impossible = error == ERROR_ACCESS_DENIED || error == ERROR_INVALID_FUNCTION ||
                             error == ERROR_NOT_SUPPORTED || error == ERROR_INVALID_HANDLE;
  if (error != ERROR_SUCCESS && !is_impossible) {
    throw Error(path + ": " + windows::problem(error));
  }
}

}  // namespace zarrcore
