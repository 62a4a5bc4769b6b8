#include <algorithm>
#include <cstdint>

#include "zarrcore/base/error.h"
#include "zarrcore/store/local_files.h"
#include "zarrcore/store/locks.h"
#include "zarrcore/store/windows_api.h"

namespace zarrcore {
namespace {

using windows::fail;
using windows::Handle;
using windows::last_error;

HANDLE handle_of(std::intptr_t handle) {
  return reinterpret_cast<HANDLE>(handle);  // NOLINT(performance-no-int-to-ptr)
}

// A time of Windows, in 100 ns since 1601, in those since 1970.
std::int64_t ticks_since_1970(const FILETIME& time) {
  constexpr std::int64_t k1970 = 116'444'736'000'000'000;
  return static_cast<std::int64_t>(std::uint64_t{time.dwHighDateTime} << 32 | time.dwLowDateTime) -
         k1970;
}

constexpr std::int64_t kTicksPerSecond = 10'000'000;

std::uint64_t size_of(const BY_HANDLE_FILE_INFORMATION& status) {
  return std::uint64_t{status.nFileSizeHigh} << 32 | status.nFileSizeLow;
}

bool is_folder(const BY_HANDLE_FILE_INFORMATION& status) {
  return (status.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
}

ValueVersion version_of(const BY_HANDLE_FILE_INFORMATION& status) {
  const std::int64_t time = ticks_since_1970(status.ftLastWriteTime) * 100;
  return file_version(windows::number_of(status), size_of(status), time, time);
}

// Returns true if a path does not exist, after this error. A broken symbolic link in the path
// counts as existing but unreadable: its target may be on a disk that is not mounted.
bool is_absent(DWORD error, std::wstring path) {
  if (!windows::is_absent(error)) return false;
  if (error == ERROR_DELETE_PENDING) return true;
  DWORD attributes = ::GetFileAttributesW(path.c_str());
  while (attributes == INVALID_FILE_ATTRIBUTES) {
    const auto slash = path.find_last_of(L'\\');
    if (slash == std::wstring::npos || slash < 4) return true;
    path.resize(slash);
    attributes = ::GetFileAttributesW(path.c_str());
  }
  if ((attributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0 &&
      !windows::open_existing(path, FILE_READ_ATTRIBUTES)) {
    throw AccessFailure("the symbolic link " + windows::utf8_of(path) +
                        " leads to nothing that exists");
  }
  return true;
}

HANDLE create_or_lock(const std::wstring& path, LocalFile::Mode mode) {
  if (mode == LocalFile::Mode::lock) {
    return ::CreateFileW(path.c_str(), GENERIC_READ | GENERIC_WRITE, windows::kShareAll, nullptr,
                         OPEN_ALWAYS, FILE_ATTRIBUTE_NORMAL, nullptr);
  }
  // FILE_SHARE_DELETE is not set, so that is_abandoned() cannot open the file.
  return ::CreateFileW(path.c_str(), GENERIC_WRITE, FILE_SHARE_READ, nullptr, CREATE_NEW,
                       FILE_ATTRIBUTE_NORMAL, nullptr);
}

OVERLAPPED at(std::uint64_t offset) {
  OVERLAPPED place{};
  place.Offset = static_cast<DWORD>(offset);
  place.OffsetHigh = static_cast<DWORD>(offset >> 32);
  return place;
}

constexpr std::size_t kMaxTransfer = std::size_t{1} << 30;

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

LocalFile::LocalFile(const std::string& path, Mode mode) : handle_(kNoHandle) {
  const std::wstring wide = windows::wide_path(path);
  Handle opened = mode == Mode::read ? windows::open_existing(wide, GENERIC_READ)
                                     : Handle(create_or_lock(wide, mode));
  if (opened) {
    handle_ = reinterpret_cast<SystemHandle>(opened.release());
    return;
  }
  const DWORD error = last_error();
  if (mode == Mode::create && error == ERROR_PATH_NOT_FOUND) return;
  if (mode != Mode::read || !is_absent(error, wide)) fail(error);
}

LocalFile::~LocalFile() {
  if (is_open()) ::CloseHandle(handle_of(handle_));
}

std::size_t LocalFile::max_open_files() {
  return SIZE_MAX;
}

bool LocalFile::can_be_replaced() {
  return false;
}

ValueVersion LocalFile::version(const std::string& path) {
  const Handle file = windows::open_existing(windows::wide_path(path), FILE_READ_ATTRIBUTES);
  if (!file) return windows::is_absent(last_error()) ? ValueVersion::absent() : ValueVersion();
  BY_HANDLE_FILE_INFORMATION status;
  if (::GetFileInformationByHandle(file.get(), &status) == 0) return {};
  return version_of(status);
}

bool LocalFile::is_file(const std::string& path) {
  const std::wstring wide = windows::wide_path(path);
  const Handle file = windows::open_existing(wide, FILE_READ_ATTRIBUTES);
  if (!file) {
    const DWORD error = last_error();
    if (!is_absent(error, wide)) fail(error);
    return false;
  }
  BY_HANDLE_FILE_INFORMATION status;
  if (::GetFileInformationByHandle(file.get(), &status) == 0) fail();
  return !is_folder(status);
}

std::optional<std::uint64_t> LocalFile::value_size(ValueVersion* version) const {
  if (version != nullptr) *version = ValueVersion::absent();
  if (!is_open()) return std::nullopt;
  if (::GetFileType(handle_of(handle_)) != FILE_TYPE_DISK) throw Error("it is not a file");
  BY_HANDLE_FILE_INFORMATION status;
  if (::GetFileInformationByHandle(handle_of(handle_), &status) == 0) fail();
  if (is_folder(status)) return std::nullopt;
  if (version != nullptr) *version = version_of(status);
  return size_of(status);
}

Buffer LocalFile::read(std::uint64_t offset, std::uint64_t length) const {
  Buffer buffer(length);
  for (std::size_t done = 0; done < buffer.size();) {
    const auto wanted = static_cast<DWORD>(std::min(buffer.size() - done, kMaxTransfer));
    OVERLAPPED place = at(offset + done);
    DWORD count = 0;
    if (::ReadFile(handle_of(handle_), buffer.data() + done, wanted, &count, &place) == 0 &&
        ::GetLastError() != ERROR_HANDLE_EOF) {
      fail();
    }
    if (count == 0) throw Error("the file became shorter while it was read");
    done += count;
  }
  return buffer;
}

void LocalFile::write(ByteSpan bytes) const {
  while (!bytes.empty()) {
    const auto wanted = static_cast<DWORD>(std::min(bytes.size(), kMaxTransfer));
    DWORD count = 0;
    if (::WriteFile(handle_of(handle_), bytes.data(), wanted, &count, nullptr) == 0) fail();
    bytes = bytes.subspan(count);
  }
}

void LocalFile::sync() const {
  if (::FlushFileBuffers(handle_of(handle_)) == 0) fail();
}

bool LocalFile::is_abandoned(const std::string& path, std::int64_t seconds, bool removes) noexcept {
  try {
    const std::wstring wide = windows::wide_path(path);
    const Handle file(::CreateFileW(wide.c_str(), DELETE | FILE_READ_ATTRIBUTES, windows::kShareAll,
                                    nullptr, OPEN_EXISTING, FILE_FLAG_OPEN_REPARSE_POINT, nullptr));
    BY_HANDLE_FILE_INFORMATION status;
    if (!file || ::GetFileInformationByHandle(file.get(), &status) == 0) return false;
    FILETIME now;
    ::GetSystemTimeAsFileTime(&now);
    const std::int64_t age =
        (ticks_since_1970(now) - ticks_since_1970(status.ftLastWriteTime)) / kTicksPerSecond;
    return age > seconds && (!removes || windows::dispose(file.get()) == ERROR_SUCCESS);
  } catch (const std::exception&) {
    return false;
  }
}

void LocalFile::close() {
  const bool is_closed = ::CloseHandle(handle_of(handle_)) != 0;
  handle_ = kNoHandle;
  if (!is_closed) fail();
}

bool LocalFile::try_lock() {
  OVERLAPPED start{};
  constexpr DWORD kFlags = LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY;
  if (::LockFileEx(handle_of(handle_), kFlags, 0, MAXDWORD, MAXDWORD, &start) != 0) return true;
  const DWORD error = ::GetLastError();
  if (error != ERROR_LOCK_VIOLATION && error != ERROR_IO_PENDING) fail();
  return false;
}

std::string LocalFile::holder() const {
  return {};
}

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
