// The file that a value is written to before it is renamed: a hidden file in the folder of its
// target with a unique name, `.….zarr-partial`. A process that is killed leaves it behind. It is
// never listed and does no harm; later writers remove it.
#pragma once

#include <string>
#include <string_view>

#include "zarrcore/base/buffer.h"
#include "zarrcore/store/local_file.h"

namespace zarrcore {

class TemporaryFile {
 public:
  // Throws Error, except when the folder does not exist: see is_open().
  explicit TemporaryFile(const std::string& folder);
  // Removes the file unless it has been renamed.
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  bool is_open() const { return file_.is_open(); }
  void write(ByteSpan bytes) const { file_.write(bytes); }
  void sync() const { file_.sync(); }
  void close() { file_.close(); }
  // To a path in the same folder. Fails when the folder is no longer there, and also when another
  // one is.
  void rename(const std::string& path);

 private:
  std::string path_;
  LocalFile file_;
  bool is_renamed_ = false;
};

bool is_temporary_file(std::string_view name);

// Removes the file of a writer that has ended. A writer holds a lock on its file. If the writer may
// be on another machine, where the lock may not work, the file must be an hour old.
void remove_abandoned_file(const std::string& path) noexcept;

}  // namespace zarrcore
