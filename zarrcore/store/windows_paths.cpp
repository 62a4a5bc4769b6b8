#include <memory>

#include "zarrcore/base/error.h"
#include "zarrcore/store/local_paths.h"
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

}  // namespace

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

Made make_folder(const std::string& path) {
  if (::CreateDirectoryW(wide_path(path).c_str(), nullptr) != 0) return Made::now;
  const DWORD error = last_error();
  if (error == ERROR_PATH_NOT_FOUND) return Made::impossible;
  // The root of a drive exists, but its creation is an error of another kind.
  if (is_folder(path)) return Made::before;
  check(path, error);
  return Made::before;
}

void visit_folder(const std::string& path,
                  const std::function<bool(std::string_view name, EntryKind kind)>& visit) {
  const DWORD error =
      visit_entries(wide_path(path), [&](std::wstring_view name, const WIN32_FIND_DATAW& entry) {
        EntryKind kind = is_folder_entry(entry) ? EntryKind::folder : EntryKind::other;
        if (kind == EntryKind::folder && is_link(entry)) kind = EntryKind::link_to_folder;
        return visit(windows::utf8_of(name), kind);
      });
  // ERROR_DIRECTORY: it is a file.
  if (error == ERROR_SUCCESS || error == ERROR_DIRECTORY || windows::is_absent(error)) return;
  windows::fail(error);
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
