// Files of the local file system, by means of POSIX. The functions throw Error without the path,
// which the caller adds.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "zarrcore/base/buffer.h"
#include "zarrcore/store/value_version.h"

namespace zarrcore {

enum class EntryKind : std::uint8_t { folder, link_to_folder, other };

// Calls `visit` with the name of each entry of a folder, in any order, until it returns false. Does
// nothing when the folder does not exist. Throws Error when it cannot be read.
void visit_folder(const char* path,
                  const std::function<bool(std::string_view name, EntryKind kind)>& visit);

// An open file that closes itself.
class PosixFile {
 public:
  enum class Mode : std::uint8_t {
    read,    // a file that may be absent, or may turn out not to be a file
    create,  // a new file, for writing; locked against remove_abandoned()
    lock,    // a file for lock(), created if it is absent
  };

  // A path without a leading '/' is relative to `folder`, an open folder. Throws Error when the
  // file cannot be opened. In Mode::read the file may be absent, and in Mode::create its folder:
  // see is_open().
  PosixFile(const char* path, Mode mode, int folder = kWorkingFolder);
  ~PosixFile();
  PosixFile(const PosixFile&) = delete;
  PosixFile& operator=(const PosixFile&) = delete;

  bool is_open() const { return descriptor_ >= 0; }

  // Whether this path exists and is not a folder. Throws Error when that is unknown.
  static bool is_file(const char* path);

  // Its size in bytes, and its version; nullopt when it is absent or a folder.
  std::optional<std::uint64_t> value_size(ValueVersion* version = nullptr) const;

  // The version that the file at a path has now.
  static ValueVersion version(const char* path, int folder = kWorkingFolder);

  // The file must have all of these bytes.
  Buffer read(std::uint64_t offset, std::uint64_t length) const;

  void write(ByteSpan bytes) const;
  // Waits until the written bytes would survive a loss of power.
  void sync() const;
  // Throws Error: some file systems report a full disk only now.
  void close();

  // Waits until no other process or PosixFile has the lock of the file, and takes it until this
  // object is destroyed. It is a record lock (fcntl) on the whole file.
  void lock();

  // Removes a file that no process has open in Mode::create and that has not been written to for
  // more than `seconds`. Returns whether it was removed.
  static bool remove_abandoned(const char* path, std::int64_t seconds) noexcept;

 private:
  static const int kWorkingFolder;

  int descriptor_;
};

}  // namespace zarrcore
