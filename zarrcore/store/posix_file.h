// Files of the local file system, as POSIX has them: what else of the core needs POSIX goes through
// here. The functions throw Error, to which the caller adds the path.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "zarrcore/base/buffer.h"
#include "zarrcore/store/value_version.h"

namespace zarrcore {

enum class EntryKind : std::uint8_t { folder, link_to_folder, other };

// Calls `visit` with the name of each entry of a folder, in any order, as long as it returns true.
// Does nothing when there is no such folder. Throws Error when it cannot be read.
void visit_folder(const char* path,
                  const std::function<bool(std::string_view name, EntryKind kind)>& visit);

// An open file that closes itself.
class PosixFile {
 public:
  enum class Mode : std::uint8_t {
    read,    // a file that may be absent, or something else than a file
    create,  // a file that is not there yet, for writing; locked against remove_abandoned()
    lock,    // a file for lock(), made if it is absent
  };

  // Throws Error when the file cannot be opened, except that in Mode::read it may be absent, and in
  // Mode::create its folder: see is_open().
  // Without a leading '/', a path begins at an open folder if there is one.
  PosixFile(const char* path, Mode mode, int folder = kWorkingFolder);
  ~PosixFile();
  PosixFile(const PosixFile&) = delete;
  PosixFile& operator=(const PosixFile&) = delete;

  bool is_open() const { return descriptor_ >= 0; }

  // Whether there is something at this path that is no folder. Throws Error when that cannot be
  // told.
  static bool is_file(const char* path);

  // Its size in bytes, and its version; nothing when it is absent or a folder.
  std::optional<std::uint64_t> value_size(ValueVersion* version = nullptr) const;

  // The version of the file that is at a path now.
  static ValueVersion version(const char* path, int folder = kWorkingFolder);

  // All of these bytes must be there.
  Buffer read(std::uint64_t offset, std::uint64_t length) const;

  void write(ByteSpan bytes) const;
  // Waits until what has been written would outlive a loss of power.
  void sync() const;
  // Some file systems report a full disk only now.
  void close();

  // Waits until no other process and no other PosixFile holds the lock of the file, and holds it
  // until this object goes. It is a record lock (fcntl) on all of the file.
  void lock();

  // Removes a file that nobody has open in Mode::create and that has not been written to for so
  // many seconds. Whether it is gone.
  static bool remove_abandoned(const char* path, std::int64_t seconds) noexcept;

 private:
  static const int kWorkingFolder;

  int descriptor_;
};

}  // namespace zarrcore
