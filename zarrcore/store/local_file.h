// Files of the local file system. Paths are in UTF-8. The functions throw Error without the path,
// which the caller adds. posix_file.cpp and windows_file.cpp implement them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "zarrcore/base/buffer.h"
#include "zarrcore/store/lock_wait.h"
#include "zarrcore/store/value_version.h"

namespace zarrcore {

// An open file that closes itself. Other programs can replace, rename and remove it meanwhile, on
// Windows if its file system can do so: NTFS can; network drives and memory cards often cannot.
class LocalFile {
 public:
  enum class Mode : std::uint8_t {
    read,    // a file that may be absent, or may turn out not to be a file
    create,  // a new file, for writing; locked against remove_abandoned()
    lock,    // a file for lock(), created if it is absent
  };

  // Throws Error when the file cannot be opened. In Mode::read the file may be absent, and in
  // Mode::create its folder: see is_open().
  LocalFile(const std::string& path, Mode mode);
  ~LocalFile();
  LocalFile(const LocalFile&) = delete;
  LocalFile& operator=(const LocalFile&) = delete;

  bool is_open() const { return handle_ != kNoHandle; }

  // How many files the system lets this process open.
  static std::size_t max_open_files();

  // Whether all file systems can replace an open file.
  static bool can_be_replaced();

  // Whether this path exists and is not a folder. Throws Error when that is unknown.
  static bool is_file(const std::string& path);

  // Its size in bytes, and its version; nullopt when it is absent or a folder.
  std::optional<std::uint64_t> value_size(ValueVersion* version = nullptr) const;

  // The version that the file at a path has now.
  static ValueVersion version(const std::string& path);

  // The file must have all of these bytes.
  Buffer read(std::uint64_t offset, std::uint64_t length) const;

  void write(ByteSpan bytes) const;
  // Waits until the written bytes would survive a loss of power.
  void sync() const;
  // Throws Error: some file systems report a full disk only now.
  void close();

  // Takes the lock of the file until this object is destroyed. If another process or LocalFile has
  // it, the thread waits. It is a lock on the whole file: with fcntl, or LockFileEx on Windows.
  // Throws LockTimeout.
  void lock(LockWait& wait);

  // Removes a file that no process has open in Mode::create and that has not been written to for
  // more than `seconds`. Returns whether it was removed.
  static bool remove_abandoned(const std::string& path, std::int64_t seconds) noexcept;

 private:
  // A descriptor, or a HANDLE of Windows.
  using SystemHandle = std::intptr_t;
  static constexpr SystemHandle kNoHandle = -1;

  // Returns false if another process or LocalFile has the lock.
  bool try_lock();
  // As lock_holder().
  std::string holder() const;

  SystemHandle handle_;
};

// The version of a file with these properties: a number that no other existing file has, its size
// in bytes, and, in nanoseconds since 1970, the time of its last change, which programs can set,
// and the time of the last change of any of its properties, which they cannot.
ValueVersion file_version(std::uint64_t number, std::uint64_t size, std::int64_t changed,
                          std::int64_t properties_changed);

}  // namespace zarrcore
