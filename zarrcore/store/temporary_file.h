// The file that a value is written to before it is renamed: a hidden file in the folder of its
// target with a unique name, `.….zarr-partial`. A process that is killed leaves it behind. It is
// never listed and does no harm; later writers remove it.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "zarrcore/base/buffer.h"
#include "zarrcore/store/local_file.h"
#include "zarrcore/store/local_folder.h"

namespace zarrcore {

class TemporaryFile {
 public:
  // Throws Error, except when the folder has been removed: see is_open().
  explicit TemporaryFile(std::shared_ptr<const LocalFolder> folder);
  // Removes the file unless it has been renamed.
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  bool is_open() const { return file_.is_open(); }
  void write(ByteSpan bytes) const { file_.write(bytes); }
  void sync() const { file_.sync(); }
  void close() { file_.close(); }
  void rename(const std::string& name);

 private:
  std::shared_ptr<const LocalFolder> folder_;
  std::string name_;
  LocalFile file_;
  bool is_renamed_ = false;
};

bool is_temporary_file(std::string_view name);

// Removes the file of a writer that has ended. A writer holds a lock on its file. If the writer may
// be on another machine, where the lock may not work, the file must be an hour old.
void remove_abandoned_file(const std::string& path) noexcept;

}  // namespace zarrcore
