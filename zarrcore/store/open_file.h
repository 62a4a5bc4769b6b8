// A file of a store that is read as one version: it stays open, so replacing it does not affect
// reads. A process has a limited number of open files, so only some of them stay open, those that
// were opened last. The others are opened again for their next read, and then must have the version
// that they had.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "zarrcore/store/local_file.h"
#include "zarrcore/store/store.h"
#include "zarrcore/store/store_folders.h"

namespace zarrcore {

// Opened by the first read.
class OpenFile final : public OpenValue {
 public:
  // If `folders` is not null, a file is only absent where its folder exists.
  OpenFile(std::string path, const StoreFolders* folders)
      : path_(std::move(path)), folders_(folders) {}
  ~OpenFile() override;
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  std::optional<Buffer> get(std::uint64_t max_size) override;
  std::optional<std::vector<Buffer>> get_ranges(std::span<const ByteRange> ranges) override;
  ValueVersion version() const override;
  void release() override;

  // Closes the file that has been open for the longest time; false when none is. Reads of it that
  // have begun end first.
  static bool give_back();

 private:
  class Held;

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
  std::optional<std::list<OpenFile*>::iterator> place_;  // in Held, which guards it
};

}  // namespace zarrcore
