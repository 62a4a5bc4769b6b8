// The files that virtual chunks are parts of: how a repository names them, what tells that they
// have changed, and reading them through GDAL's virtual file systems.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "driver/stores/icechunk/open_icechunk.h"
#include "driver/stores/references/reference.h"
#include "driver/stores/references/target_files.h"
#include "zarrcore/icechunk/icechunk_store.h"

namespace gdal_zarr {

// The URL of a file, given by a path for GDAL. Throws zarrcore::Error if Icechunk has no URL for
// it.
std::string virtual_chunk_url(const std::string& path);

// Safe to use from several threads at once.
class VirtualSources {
 public:
  // The place of a chunk, whose target is a path for GDAL. Throws zarrcore::Error, which names the
  // file, when it has no URL or does not contain the chunk. Files are asked once for their size,
  // time and ETag.
  zarrcore::icechunk::ChunkReference place_of(const Reference& reference);

 private:
  struct Source {
    zarrcore::icechunk::ChunkReference start;  // without a length
    std::uint64_t size = 0;
  };
  static Source find_source(const std::string& path);

  std::mutex mutex_;
  std::map<std::string, Source> sources_;  // by path
};

// Reads the files of virtual chunks. Safe to use from several threads at once.
class VsiVirtualFiles final : public zarrcore::icechunk::VirtualFiles {
 public:
  // A repository from the network may not name local files; see TargetFiles. If the path says so,
  // files may have changed since they were referenced.
  explicit VsiVirtualFiles(const IcechunkPath& path);

  std::vector<zarrcore::Buffer> get_ranges(const zarrcore::icechunk::VirtualFile& file,
                                           std::span<const zarrcore::ByteRange> ranges) override;
  std::shared_ptr<void> expect(std::span<const Part> parts) override;
  std::size_t parallel_requests() const override { return parallel_requests_; }

  // The path of a file for GDAL. Throws zarrcore::Error, which names the file, when GDAL cannot
  // open it, it is not allowed, or it has changed. The time and ETag of a file are requested once.
  std::string resolve(const zarrcore::icechunk::VirtualFile& file);

 private:
  void check_is_unchanged(const std::string& path, const zarrcore::icechunk::VirtualFile& file);

  TargetFiles targets_;
  bool ignores_changes_;
  std::size_t parallel_requests_;
  std::mutex mutex_;
  std::condition_variable checked_;
  // Files, with the time and ETag that they have had: true if they are unchanged, false while this
  // is checked.
  std::map<std::string, bool> unchanged_;
};

}  // namespace gdal_zarr
