// The files of virtual chunks, read through GDAL's virtual file systems.
#pragma once

#include <mutex>
#include <set>
#include <string>

#include "driver/stores/references/target_path.h"
#include "driver/stores/vsi/vsi_file.h"
#include "zarrcore/icechunk/icechunk_store.h"

namespace gdal_zarr {

// Safe to use from several threads at once.
class VsiVirtualFiles final : public zarrcore::icechunk::VirtualFiles {
 public:
  // For virtual chunks of the repository at the path `repository`: one from the network may not
  // name local files; see TargetPaths. If `ignores_changes`, files may have changed since they were
  // referenced.
  VsiVirtualFiles(const std::string& repository, bool ignores_changes);

  std::vector<zarrcore::Buffer> get_ranges(const zarrcore::icechunk::VirtualFile& file,
                                           std::span<const zarrcore::ByteRange> ranges) override;
  std::size_t parallel_requests() const override { return parallel_requests_; }

  // The path of a file for GDAL. Throws zarrcore::Error, which names the file, when GDAL cannot
  // open it, it is not allowed, or it has changed. A file is asked once for its time and ETag.
  std::string resolve(const zarrcore::icechunk::VirtualFile& file);

 private:
  void check_is_unchanged(const std::string& path, const zarrcore::icechunk::VirtualFile& file);

  TargetPaths targets_;
  bool ignores_changes_;
  std::size_t parallel_requests_;
  VsiFilePool files_;
  std::mutex mutex_;
  std::set<std::string> unchanged_;  // files, with the time and ETag that they have had
};

}  // namespace gdal_zarr
