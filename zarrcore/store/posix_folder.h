// A folder of the local file system that is still the same one: it is held open, so that no other
// can get its inode while it is.
#pragma once

#include <cstdint>

namespace zarrcore {

class PosixFolder {
 public:
  // Throws Error when there is no folder.
  explicit PosixFolder(const char* path);
  ~PosixFolder();
  PosixFolder(const PosixFolder&) = delete;
  PosixFolder& operator=(const PosixFolder&) = delete;

  // Whether `path` leads to this folder.
  bool is_at(const char* path) const;

  // Waits until the names in a folder would outlive a loss of power. Throws Error.
  static void sync(const char* path);

 private:
  int descriptor_;
  std::uint64_t device_ = 0;
  std::uint64_t inode_ = 0;
};

}  // namespace zarrcore
