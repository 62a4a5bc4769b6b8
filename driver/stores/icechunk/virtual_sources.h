// The files that new virtual chunks are parts of: how a repository names them, and what tells later
// that they have changed.
#pragma once

#include <cpl_vsi.h>

#include <map>
#include <mutex>
#include <string>

#include "driver/stores/references/reference.h"
#include "zarrcore/icechunk/manifest.h"

namespace gdal_zarr {

// The URL of a file, given by a path for GDAL. Throws zarrcore::Error if Icechunk has no URL for
// it.
std::string virtual_chunk_url(const std::string& path);

// The last second in which a file was changed. That of a local file is rounded up: Icechunk takes
// parts of a second for a later time.
std::uint32_t time_of(const VSIStatBufL& status, bool is_local);

// The ETag of a file on the network as the server sends it; empty if it sends none.
std::string etag_of(const std::string& path);

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

}  // namespace gdal_zarr
