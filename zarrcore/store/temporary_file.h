// The file that a value is written to before it is renamed: in the folder of its target, hidden,
// under a name that no other writer makes, `.….zarr-partial`. A process that is killed leaves it
// behind. It is never listed and does no harm; later writers remove it.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "zarrcore/base/buffer.h"
#include "zarrcore/store/posix_file.h"
#include "zarrcore/store/posix_folder.h"

namespace zarrcore {

class TemporaryFile {
 public:
  // Throws Error, but not when the folder has been removed; see is_open().
  explicit TemporaryFile(std::shared_ptr<const PosixFolder> folder);
  // Removes it, unless it has been renamed.
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  bool is_open() const { return file_.is_open(); }
  void write(ByteSpan bytes) const { file_.write(bytes); }
  void sync() const { file_.sync(); }
  void close() { file_.close(); }
  void rename(const char* name);

 private:
  std::shared_ptr<const PosixFolder> folder_;
  std::string name_;
  PosixFile file_;
  bool is_renamed_ = false;
};

bool is_temporary_file(std::string_view name);

// Removes the file of a writer that lives no more. Who writes holds a lock on the file; of a writer
// that may be on another machine, which the lock does not reach, it is an hour old.
void remove_abandoned_file(const std::string& path) noexcept;

}  // namespace zarrcore
