// References to chunks that have been put but not committed, in the order of the puts. A few dozen
// bytes each, or the chunk itself if it is small; beyond a bound they go to a temporary file. Safe
// to use from several threads at once.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "zarrcore/icechunk/manifest.h"

namespace zarrcore::icechunk {

class ReferenceLog {
 public:
  // Of memory, in bytes.
  explicit ReferenceLog(std::uint64_t max_memory);
  ~ReferenceLog();
  ReferenceLog(const ReferenceLog&) = delete;
  ReferenceLog& operator=(const ReferenceLog&) = delete;

  // Returns where the reference is: a number that no other one has.
  std::uint64_t add(const ChunkReference& reference);

  struct Entry {
    ChunkReference reference;
    std::shared_ptr<const Buffer> owner;  // of the bytes of an inlined chunk
  };
  Entry get(std::uint64_t place) const;
  // The bytes of the entry that a manifest stores for it, roughly.
  std::uint64_t size(std::uint64_t place) const;
  // The prefixes of the containers of all virtual chunks; see container_prefix().
  std::set<std::string> containers() const;

 private:
  class File;

  Buffer read(std::uint64_t place, std::uint64_t size) const;

  const std::uint64_t max_memory_;
  mutable std::mutex mutex_;
  std::vector<std::byte> memory_;  // the newest entries
  std::uint64_t file_size_ = 0;    // of the entries before them
  std::unique_ptr<File> file_;
  bool is_incomplete_ = false;  // the file, after a write that has failed
  std::set<std::string> containers_;
};

}  // namespace zarrcore::icechunk
