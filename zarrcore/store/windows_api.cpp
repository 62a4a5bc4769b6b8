// What windows_api.h declares, and the locks of locks.h on Windows.
#include "zarrcore/store/windows_api.h"

#include <winternl.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <system_error>
#include <vector>

#include "zarrcore/base/error.h"
#include "zarrcore/store/locks.h"

// In ntdll.dll; not in winternl.h.
extern "C" __declspec(dllimport) NTSTATUS NTAPI RtlGetLastNtStatus();

namespace zarrcore::windows {
namespace {

constexpr std::size_t kMaxName = 255;  // UTF-16 units

std::wstring utf16_of(const std::string& text) {
  if (text.empty()) return {};
  const int size = static_cast<int>(std::min<std::size_t>(text.size(), 1 << 20));
  std::wstring wide(static_cast<std::size_t>(size), L'\0');
  const int count =
      ::MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text.data(), size, wide.data(), size);
  if (count == 0) throw Error("the path is not UTF-8");
  wide.resize(static_cast<std::size_t>(count));
  return wide;
}

// Returns true if Windows opens a device instead of a file of this name, also with an extension.
bool is_device(std::wstring_view name) {
  std::wstring base(name.substr(0, name.find(L'.')));
  while (base.ends_with(L' ')) base.pop_back();
  for (wchar_t& c : base) {
    if (c >= L'a' && c <= L'z') c = static_cast<wchar_t>(c - L'a' + L'A');
  }
  constexpr std::array<std::wstring_view, 6> kNames{L"CON", L"PRN",    L"AUX",
                                                    L"NUL", L"CONIN$", L"CONOUT$"};
  if (std::find(kNames.begin(), kNames.end(), base) != kNames.end()) return true;
  constexpr std::wstring_view kDigits = L"0123456789\u00b9\u00b2\u00b3";
  return base.size() == 4 && (base.starts_with(L"COM") || base.starts_with(L"LPT")) &&
         kDigits.find(base[3]) != std::wstring_view::npos;
}

[[noreturn]] void refuse(std::wstring_view name, const std::string& reason) {
  throw Error('"' + utf8_of(name) + "\" cannot be the name of a file on Windows: " + reason);
}

// Windows would change some of these names, such as "a." to "a", or open something else.
void check_name(std::wstring_view name) {
  if (name.empty() || name == L"." || name == L"..") return;
  for (const wchar_t c : name) {
    if (c < L' ' || std::wstring_view(L"<>:\"|?*").find(c) != std::wstring_view::npos) {
      refuse(name, c < L' ' ? "it has a control character"
                            : std::string("it has a '") + static_cast<char>(c) + "'");
    }
  }
  if (name.ends_with(L'.')) refuse(name, "it ends with a dot");
  if (name.ends_with(L' ')) refuse(name, "it ends with a space");
  if (is_device(name)) refuse(name, "it is the name of a device");
  if (name.size() > kMaxName) refuse(name, "File name too long");
}

void check_names(std::wstring_view path) {
  if (path.size() >= 2 && path[1] == L':') path.remove_prefix(2);  // a drive
  while (!path.empty()) {
    const auto end = std::min(path.find(L'\\'), path.size());
    check_name(path.substr(0, end));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
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

}  // namespace

std::wstring wide_path(const std::string& path) {
  std::wstring wide = utf16_of(path);
  std::replace(wide.begin(), wide.end(), L'/', L'\\');
  const bool is_marked = wide.starts_with(L"\\\\?\\") || wide.starts_with(L"\\\\.\\");
  check_names(std::wstring_view(wide).substr(is_marked ? 4 : 0));
  if (is_marked) return wide;
  if (wide.size() == 2 && wide[1] == L':') wide += L'\\';
  std::wstring full(wide.size() + MAX_PATH, L'\0');
  while (true) {
    const DWORD size =
        ::GetFullPathNameW(wide.c_str(), static_cast<DWORD>(full.size()), full.data(), nullptr);
    if (size == 0) fail();
    const bool is_complete = size < full.size();
    full.resize(size);
    if (is_complete) break;
  }
  return full.starts_with(L"\\\\") ? L"\\\\?\\UNC" + full.substr(1) : L"\\\\?\\" + full;
}

std::wstring wide_name(const std::string& name) {
  const std::wstring wide = utf16_of(name);
  check_name(wide);
  return wide;
}

std::wstring join(const std::wstring& folder, std::wstring_view name) {
  std::wstring path = folder;
  if (!path.ends_with(L'\\')) path += L'\\';
  return path.append(name);
}

std::string utf8_of(std::wstring_view text) {
  if (text.empty()) return {};
  const int size = static_cast<int>(text.size());
  std::string utf8(text.size() * 3, '\0');
  const int count = ::WideCharToMultiByte(CP_UTF8, 0, text.data(), size, utf8.data(),
                                          static_cast<int>(utf8.size()), nullptr, nullptr);
  utf8.resize(static_cast<std::size_t>(count));
  return utf8;
}

DWORD last_error() {
  constexpr auto kDeletePending = static_cast<NTSTATUS>(0xc0000056);
  const NTSTATUS status = ::RtlGetLastNtStatus();
  const DWORD error = ::GetLastError();
  return error == ERROR_ACCESS_DENIED && status == kDeletePending ? ERROR_DELETE_PENDING : error;
}

std::string problem(DWORD error) {
  std::array<wchar_t, 512> text{};
  const DWORD size =
      ::FormatMessageW(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, nullptr, error,
                       0, text.data(), static_cast<DWORD>(text.size()), nullptr);
  std::wstring_view message(text.data(), size);
  while (message.ends_with(L'\n') || message.ends_with(L'\r') || message.ends_with(L'.') ||
         message.ends_with(L' ')) {
    message.remove_suffix(1);
  }
  return message.empty() ? "error " + std::to_string(error) + " of Windows" : utf8_of(message);
}

void fail(DWORD error) {
  throw AccessFailure(problem(error));
}

bool is_absent(DWORD error) {
  return error == ERROR_FILE_NOT_FOUND || error == ERROR_PATH_NOT_FOUND ||
         error == ERROR_DELETE_PENDING;
}

bool is_transient(DWORD error) {
  return error == ERROR_SHARING_VIOLATION || error == ERROR_LOCK_VIOLATION ||
         error == ERROR_ACCESS_DENIED || error == ERROR_USER_MAPPED_FILE ||
         error == ERROR_DIR_NOT_EMPTY;
}

Handle open_existing(const std::wstring& path, DWORD access, DWORD flags) {
  Handle opened;
  const auto open = [&] {
    opened = Handle(::CreateFileW(path.c_str(), access, kShareAll, nullptr, OPEN_EXISTING,
                                  FILE_FLAG_BACKUP_SEMANTICS | flags, nullptr));
    return opened ? ERROR_SUCCESS : last_error();
  };
  // A file that may not be opened is not worth waiting for.
  DWORD error = open();
  for (DWORD pause = 1; error == ERROR_SHARING_VIOLATION && pause <= 512; pause *= 2) {
    ::Sleep(pause);
    error = open();
  }
  return opened;
}

std::uint64_t number_of(const BY_HANDLE_FILE_INFORMATION& status) {
  return std::uint64_t{status.nFileIndexHigh} << 32 | status.nFileIndexLow;
}

FileId id_of(HANDLE handle) {
  BY_HANDLE_FILE_INFORMATION status;
  if (::GetFileInformationByHandle(handle, &status) == 0) return {};
  return {status.dwVolumeSerialNumber, number_of(status)};
}

FileId id_at(const std::wstring& path) {
  const Handle handle = open_existing(path, FILE_READ_ATTRIBUTES);
  return handle ? id_of(handle.get()) : FileId();
}

bool is_link(DWORD attributes, DWORD reparse_tag) {
  return (attributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0 &&
         (reparse_tag == IO_REPARSE_TAG_SYMLINK || reparse_tag == IO_REPARSE_TAG_MOUNT_POINT);
}

DWORD dispose(HANDLE handle) {
  // FileDispositionInfoEx, since Windows 10: FILE_DISPOSITION_FLAG_DELETE, _POSIX_SEMANTICS and
  // _IGNORE_READONLY_ATTRIBUTE.
  DWORD flags = 0x1 | 0x2 | 0x10;
  constexpr auto kInfoEx = static_cast<FILE_INFO_BY_HANDLE_CLASS>(21);
  if (::SetFileInformationByHandle(handle, kInfoEx, &flags, sizeof flags) != 0) {
    return ERROR_SUCCESS;
  }
  FILE_DISPOSITION_INFO info{TRUE};
  if (::SetFileInformationByHandle(handle, FileDispositionInfo, &info, sizeof info) != 0) {
    return ERROR_SUCCESS;
  }
  return last_error();
}

DWORD replace(const std::wstring& source, const std::wstring& target) {
  Handle file = open_existing(source, DELETE | SYNCHRONIZE);
  if (!file) return last_error();
  const DWORD error = rename_open(file.get(), target);
  // Older systems, and file systems that cannot: these replace a file only if no program has it
  // open.
  const bool is_unknown = error == ERROR_INVALID_PARAMETER || error == ERROR_NOT_SUPPORTED ||
                          error == ERROR_INVALID_FUNCTION || error == ERROR_CALL_NOT_IMPLEMENTED;
  if (!is_unknown) return error;
  file.close();
  const bool is_done =
      ::MoveFileExW(source.c_str(), target.c_str(), MOVEFILE_REPLACE_EXISTING) != 0;
  return is_done ? ERROR_SUCCESS : last_error();
}

}  // namespace zarrcore::windows

namespace zarrcore {
namespace {

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
  windows::Handle lock;
};

SystemFolderLock::SystemFolderLock(const std::string& path, std::error_code& error)
    : folder_(std::make_unique<Folder>()) {
  folder_->path = windows::wide_path(path);
  const windows::Handle folder = windows::open_existing(folder_->path, FILE_READ_ATTRIBUTES);
  BY_HANDLE_FILE_INFORMATION status;
  if (!folder || ::GetFileInformationByHandle(folder.get(), &status) == 0) {
    error = code_of(windows::last_error());
  } else if ((status.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) == 0) {
    error = std::make_error_code(std::errc::not_a_directory);
  } else {
    folder_->id = windows::id_of(folder.get());
  }
}

SystemFolderLock::~SystemFolderLock() {
  const windows::Handle file = std::move(folder_->lock);
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
  windows::Handle file(::CreateFileW(path.c_str(), GENERIC_READ | GENERIC_WRITE | DELETE,
                                     windows::kShareAll, nullptr, OPEN_ALWAYS,
                                     FILE_ATTRIBUTE_HIDDEN, nullptr));
  if (!file) {
    const DWORD error = windows::last_error();
    const bool is_in_use = error == ERROR_DELETE_PENDING || error == ERROR_SHARING_VIOLATION;
    return is_in_use ? Attempt::busy : Attempt::impossible;
  }
  const DWORD exclusive = mode == LockMode::shared ? 0 : LOCKFILE_EXCLUSIVE_LOCK;
  if (!lock_file(file.get(), exclusive | LOCKFILE_FAIL_IMMEDIATELY)) {
    const DWORD error = windows::last_error();
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
