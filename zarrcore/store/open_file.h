// A file of a store that is read as one version: it stays open, so replacing it does not affect
// reads. A process has a limited number of open files, so only some of them stay open, those that
// were opened last. The others are opened again for their next read, and then must have the version
// that they had.
#pragma once

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "zarrcore/store/local_files.h"
#include "zarrcore/store/store.h"
#include "zarrcore/store/store_folders.h"

namespace zarrcore {

// Opened by the first read.
class OpenFile final : public OpenValue {
 public:
  // If `folders` is not null, a file is only absent where its folder exists.
  OpenFile(std::string path, const StoreFolders* folders);
  ~OpenFile() override;
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  std::optional<Buffer> get(std::uint64_t max_size) override;
  std::optional<std::vector<Buffer>> get_ranges(std::span<const ByteRange> ranges) override;
  ValueVersion version() const override;
  void release() override;

  // Closes the file that has been open for the longest time, after reads of it that have begun.
  // Returns false if no file is open.
  static bool close_oldest();

 private:
  class OpenFiles;

  // Null when the file is absent.
  std::shared_ptr<const LocalFile> file();

  std::string path_;
  const StoreFolders* folders_;
  mutable std::mutex mutex_;  // guards the opening
  std::shared_ptr<const LocalFile> file_;
  bool has_been_open_ = false;
  bool is_released_ = false;
  std::optional<std::uint64_t> size_;
  ValueVersion version_;
  std::optional<std::list<OpenFile*>::iterator> place_;  // in OpenFiles, which guards it
};

// On POSIX systems: calls `open`, which returns a descriptor, or a negative number and sets errno.
// If the process or the system has too many open files, some are closed, and it is called
// again.
template <typename Open>
int open_descriptor(const Open& open) {
  int descriptor = open();
  std::chrono::milliseconds pause(1);
  while (descriptor < 0 && (errno == EMFILE || errno == ENFILE) && pause.count() < 256) {
    // Other threads close their files soon.
    if (!OpenFile::close_oldest()) {
      std::this_thread::sleep_for(pause);
      pause *= 2;
    }
    descriptor = open();
  }
  return descriptor;
}

}  // namespace zarrcore
