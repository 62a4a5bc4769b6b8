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

long process_id();

// Calls `visit` with the name of each entry of a folder, in any order; a link to a folder counts as
// one. Does nothing when there is no such folder. Throws Error when it cannot be read.
void visit_folder(const char* path,
                  const std::function<void(std::string_view name, bool is_folder)>& visit);

// An open file that closes itself.
class PosixFile {
 public:
  enum class Mode : std::uint8_t {
    read,    // a file that may be absent, or something else than a file
    create,  // a file that is not there yet, for writing
    lock,    // a file for lock(), made if it is absent
  };

  // Throws Error when the file cannot be opened, except that in Mode::read it may be absent.
  PosixFile(const char* path, Mode mode);
  ~PosixFile();
  PosixFile(const PosixFile&) = delete;
  PosixFile& operator=(const PosixFile&) = delete;

  // Whether there is something at this path that is no folder. Throws Error when that cannot be
  // told.
  static bool is_file(const char* path);

  // Its size in bytes, and its version; nothing when it is absent or a folder.
  std::optional<std::uint64_t> value_size(ValueVersion* version = nullptr) const;

  // The version of the file that is at a path now.
  static ValueVersion version(const char* path);

  // All of these bytes must be there.
  Buffer read(std::uint64_t offset, std::uint64_t length) const;

  void write(ByteSpan bytes) const;
  // Some file systems report a full disk only now.
  void close();

  // Waits until no other process and no other PosixFile holds the lock of the file, and holds it
  // until this object goes. It is a record lock (fcntl) on all of the file.
  void lock();

 private:
  int descriptor_;
};

}  // namespace zarrcore
