// The local file system of Windows: implements local_files.h.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>

#include "zarrcore/base/error.h"
#include "zarrcore/store/local_files.h"
#include "zarrcore/store/windows_api.h"

namespace zarrcore {
namespace {

using windows::fail;
using windows::Handle;
using windows::last_error;
using windows::wide_path;

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
  // Without FILE_SHARE_DELETE, is_abandoned() cannot open the file.
  const DWORD share = mode == LocalFile::Mode::scratch ? windows::kShareAll : FILE_SHARE_READ;
  return ::CreateFileW(path.c_str(), GENERIC_WRITE, share, nullptr, CREATE_NEW,
                       FILE_ATTRIBUTE_NORMAL, nullptr);
}

OVERLAPPED at(std::uint64_t offset) {
  OVERLAPPED place{};
  place.Offset = static_cast<DWORD>(offset);
  place.OffsetHigh = static_cast<DWORD>(offset >> 32);
  return place;
}

constexpr std::size_t kMaxTransfer = std::size_t{1} << 30;

void check(const std::string& path, DWORD error) {
  if (error != ERROR_SUCCESS) throw Error(path + ": " + windows::problem(error));
}

// Removes a file, a link or an empty folder. Returns the error.
DWORD remove_one(const std::wstring& path) {
  return windows::retry([&] {
    const Handle entry = windows::open_existing(path, DELETE, FILE_FLAG_OPEN_REPARSE_POINT);
    return entry ? windows::dispose(entry.get()) : last_error();
  });
}

// The entries of a folder that `visit` gets, until it returns false. Returns the error.
template <typename Visit>
DWORD visit_entries(const std::wstring& path, const Visit& visit) {
  WIN32_FIND_DATAW entry;
  const HANDLE search = ::FindFirstFileExW(windows::join(path, L"*").c_str(), FindExInfoBasic,
                                           &entry, FindExSearchNameMatch, nullptr, 0);
  if (search == INVALID_HANDLE_VALUE) return last_error();
  const std::unique_ptr<void, decltype(&::FindClose)> closer(search, &::FindClose);
  do {
    const std::wstring_view name = entry.cFileName;
    if (name != L"." && name != L".." && !visit(name, entry)) return ERROR_SUCCESS;
  } while (::FindNextFileW(search, &entry) != 0);
  const DWORD error = last_error();
  return error == ERROR_NO_MORE_FILES ? ERROR_SUCCESS : error;
}

bool is_folder_entry(const WIN32_FIND_DATAW& entry) {
  return (entry.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
}

bool is_link(const WIN32_FIND_DATAW& entry) {
  return windows::is_link(entry.dwFileAttributes, entry.dwReserved0);
}

DWORD remove_all(const std::wstring& path) {
  DWORD error = ERROR_SUCCESS;
  const DWORD listing = visit_entries(path, [&](std::wstring_view name, const auto& entry) {
    const std::wstring below = windows::join(path, name);
    error = is_folder_entry(entry) && !is_link(entry) ? remove_all(below) : remove_one(below);
    if (windows::is_absent(error)) error = ERROR_SUCCESS;
    return error == ERROR_SUCCESS;
  });
  if (error != ERROR_SUCCESS) return error;
  return listing != ERROR_SUCCESS ? listing : remove_one(path);
}

}  // namespace

LocalFile::LocalFile(const std::string& path, Mode mode) : handle_(kNoHandle) {
  const std::wstring wide = wide_path(path);
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
  const Handle file = windows::open_existing(wide_path(path), FILE_READ_ATTRIBUTES);
  if (!file) return windows::is_absent(last_error()) ? ValueVersion::absent() : ValueVersion();
  BY_HANDLE_FILE_INFORMATION status;
  if (::GetFileInformationByHandle(file.get(), &status) == 0) return {};
  return version_of(status);
}

bool LocalFile::is_file(const std::string& path) {
  const std::wstring wide = wide_path(path);
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
    const std::wstring wide = wide_path(path);
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

std::optional<FolderId> folder_id(const std::string& path) {
  const Handle folder = windows::open_existing(wide_path(path), FILE_READ_ATTRIBUTES);
  BY_HANDLE_FILE_INFORMATION status;
  if (!folder || ::GetFileInformationByHandle(folder.get(), &status) == 0 || !is_folder(status)) {
    return std::nullopt;
  }
  const windows::FileId id = windows::id_of(folder.get());
  return FolderId{id.volume, id.number};
}

bool is_folder(const std::string& path) {
  try {
    const Handle entry = windows::open_existing(wide_path(path), FILE_READ_ATTRIBUTES);
    BY_HANDLE_FILE_INFORMATION status;
    return entry && ::GetFileInformationByHandle(entry.get(), &status) != 0 && is_folder(status);
  } catch (const Error&) {
    return false;
  }
}

bool is_occupied(const std::string& path) {
  return ::GetFileAttributesW(wide_path(path).c_str()) != INVALID_FILE_ATTRIBUTES;
}

FolderCreation make_folder(const std::string& path) {
  if (::CreateDirectoryW(wide_path(path).c_str(), nullptr) != 0) return FolderCreation::created;
  const DWORD error = last_error();
  if (error == ERROR_PATH_NOT_FOUND) return FolderCreation::impossible;
  // The root of a drive exists, but its creation is an error of another kind.
  if (is_folder(path)) return FolderCreation::existing;
  check(path, error);
  return FolderCreation::existing;
}

void visit_folder(const std::string& path,
                  const std::function<bool(const FolderEntry& entry)>& visit) {
  const DWORD error =
      visit_entries(wide_path(path), [&](std::wstring_view name, const WIN32_FIND_DATAW& entry) {
        EntryKind kind = is_folder_entry(entry) ? EntryKind::folder : EntryKind::other;
        if (kind == EntryKind::folder && is_link(entry)) kind = EntryKind::link_to_folder;
        const std::string utf8 = windows::utf8_of(name);
        const auto size = [&]() -> std::optional<std::uint64_t> {
          std::error_code problem;
          const auto bytes = std::filesystem::file_size(path_of_utf8(path + '/' + utf8), problem);
          return problem ? std::nullopt : std::optional<std::uint64_t>(bytes);
        };
        return visit({utf8, kind, size});
      });
  // ERROR_DIRECTORY: it is a file.
  if (error == ERROR_SUCCESS || error == ERROR_DIRECTORY || windows::is_absent(error)) return;
  windows::fail(error);
}

void adopt_owner(const std::string& path, const std::string& from) {
  std::error_code error;
  const auto permissions = std::filesystem::status(path_of_utf8(from), error).permissions();
  if (!error) std::filesystem::permissions(path_of_utf8(path), permissions, error);
  if (error) throw Error(error.message());
}

void replace_file(const std::string& from, const std::string& to) {
  const std::wstring source = wide_path(from);
  const std::wstring target = wide_path(to);
  const DWORD error = windows::retry([&] {
    const DWORD attributes = ::GetFileAttributesW(target.c_str());
    const bool is_folder =
        attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
    return is_folder ? ERROR_DIRECTORY_NOT_SUPPORTED : windows::replace(source, target);
  });
  if (error == ERROR_DIRECTORY_NOT_SUPPORTED) throw Error("Is a directory");
  if (error != ERROR_SUCCESS) windows::fail(error);
}

void sync_folder(const std::string& path) {
  const Handle folder = windows::open_existing(wide_path(path), GENERIC_WRITE);
  DWORD error = folder ? ERROR_SUCCESS : last_error();
  if (folder && ::FlushFileBuffers(folder.get()) == 0) error = last_error();
  // Not all file systems can sync folders. NTFS has a journal of their entries.
  const bool is_impossible = error == ERROR_ACCESS_DENIED || error == ERROR_INVALID_FUNCTION ||
                             error == ERROR_NOT_SUPPORTED || error == ERROR_INVALID_HANDLE;
  if (error != ERROR_SUCCESS && !is_impossible) {
    throw Error(path + ": " + windows::problem(error));
  }
}

void sync_file_system(const std::string& folder) {
  sync_folder(folder);
}

bool remove_entry(const std::string& path) {
  const DWORD error = remove_one(wide_path(path));
  if (windows::is_absent(error)) return false;
  check(path, error);
  return true;
}

void remove_folder(const std::string& path) {
  const std::wstring wide = wide_path(path);
  WIN32_FIND_DATAW entry;
  const HANDLE search = ::FindFirstFileW(wide.c_str(), &entry);
  if (search != INVALID_HANDLE_VALUE) ::FindClose(search);
  const bool is_only_link = search != INVALID_HANDLE_VALUE && is_link(entry);
  const DWORD error = is_only_link ? remove_one(wide) : remove_all(wide);
  if (!windows::is_absent(error)) check(path, error);
}

void rename_folder(const std::string& from, const std::string& to) {
  const std::wstring source = wide_path(from);
  const std::wstring target = wide_path(to);
  const DWORD error = windows::retry([&] {
    return ::MoveFileExW(source.c_str(), target.c_str(), 0) != 0 ? ERROR_SUCCESS : last_error();
  });
  if (error != ERROR_SUCCESS) windows::fail(error);
}

}  // namespace zarrcore
