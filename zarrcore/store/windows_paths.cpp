#include <cstring>
#include <memory>
#include <vector>

#include "zarrcore/base/error.h"
#include "zarrcore/store/local_files.h"
#include "zarrcore/store/windows_api.h"

namespace zarrcore {
namespace {

using windows::Handle;
using windows::last_error;
using windows::wide_path;

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

}  // namespace

std::optional<FolderId> folder_id(const std::string& path) {
  const Handle folder = windows::open_existing(wide_path(path), FILE_READ_ATTRIBUTES);
  BY_HANDLE_FILE_INFORMATION status;
  if (!folder || ::GetFileInformationByHandle(folder.get(), &status) == 0 ||
      (status.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) == 0) {
    return std::nullopt;
  }
  const windows::FileId id = windows::id_of(folder.get());
  return FolderId{id.volume, id.number};
}

bool has_lasting_ids(const std::string& /*path*/) {
  return true;
}

bool is_folder(const std::string& path) {
  try {
    const Handle entry = windows::open_existing(wide_path(path), FILE_READ_ATTRIBUTES);
    BY_HANDLE_FILE_INFORMATION status;
    return entry && ::GetFileInformationByHandle(entry.get(), &status) != 0 &&
           (status.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
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
    return is_folder ? ERROR_DIRECTORY_NOT_SUPPORTED : replace(source, target);
  });
  if (error == ERROR_DIRECTORY_NOT_SUPPORTED) throw Error("Is a directory");
  if (error != ERROR_SUCCESS) windows::fail(error);
}

void sync_folder(const std::string& path) {
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

bool exchange_folders(const std::string& /*first*/, const std::string& /*second*/) noexcept {
  return false;
}

}  // namespace zarrcore
