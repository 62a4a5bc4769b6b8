// What the implementations of the local file system and its locks on Windows share.
#pragma once

#include <windows.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace zarrcore::windows {

// A path as Windows wants it: absolute, with backslashes, and marked by `\\?\` so that it may have
// more than 260 characters. Throws Error when it is not UTF-8, or has a name that Windows forbids.
std::wstring wide_path(const std::string& path);
// The same for a name in a folder.
std::wstring wide_name(const std::string& name);
// The path of a name in a folder.
std::wstring join(const std::wstring& folder, std::wstring_view name);
std::string utf8_of(std::wstring_view text);

// GetLastError(), with ERROR_DELETE_PENDING for a file that has been removed and is still open.
DWORD last_error();
// The message of an error.
std::string problem(DWORD error);
[[noreturn]] void fail(DWORD error = last_error());
// Returns true if the error means that a path does not exist.
bool is_absent(DWORD error);

// Returns true if another program may end the cause soon: virus scanners and indexers open new
// files.
bool is_transient(DWORD error);
// Calls `attempt` until it returns something other than a transient error, for up to a second.
template <typename Attempt>
DWORD retry(const Attempt& attempt) {
  DWORD error = attempt();
  for (DWORD pause = 1; is_transient(error) && pause <= 512; pause *= 2) {
    ::Sleep(pause);
    error = attempt();
  }
  return error;
}

class Handle {
 public:
  Handle() = default;
  explicit Handle(HANDLE handle) : handle_(handle) {}
  Handle(Handle&& other) noexcept : handle_(other.release()) {}
  Handle& operator=(Handle&& other) noexcept {
    close();
    handle_ = other.release();
    return *this;
  }
  ~Handle() { close(); }

  explicit operator bool() const { return handle_ != INVALID_HANDLE_VALUE; }
  HANDLE get() const { return handle_; }
  HANDLE release() { return std::exchange(handle_, INVALID_HANDLE_VALUE); }
  void close() {
    if (*this) ::CloseHandle(release());
  }

 private:
  HANDLE handle_ = INVALID_HANDLE_VALUE;
};

inline constexpr DWORD kShareAll = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;

// A file or folder, or an invalid handle; then last_error() is the reason. Waits briefly while
// other programs have it open exclusively.
Handle open_existing(const std::wstring& path, DWORD access, DWORD flags = 0);

// Identifies a file or folder on this machine.
struct FileId {
  DWORD volume = 0;
  std::uint64_t number = 0;  // 0 if unknown

  bool operator==(const FileId&) const = default;
};
FileId id_of(HANDLE handle);
FileId id_at(const std::wstring& path);
std::uint64_t number_of(const BY_HANDLE_FILE_INFORMATION& status);

// Returns true if the file at a path is a symbolic link, or a folder mounted elsewhere.
bool is_link(DWORD attributes, DWORD reparse_tag);

// Removes the file or empty folder of a handle with DELETE access: where the system can, at once,
// although other programs have it open. Returns the error.
DWORD dispose(HANDLE handle);
// Renames a file at once, also if other programs have the file open that is replaced: where the
// system can. Returns the error.
DWORD replace(const std::wstring& source, const std::wstring& target);

}  // namespace zarrcore::windows
