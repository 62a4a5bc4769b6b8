// The files that references name: which path of GDAL a name means, whether it may be opened, as
// references from the network must not make a program read local files, and reading parts of it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "driver/stores/references/reference.h"
#include "driver/stores/vsi/vsi_file.h"
#include "zarrcore/store/store.h"

namespace gdal_zarr {

// Returns true if reading `path` may access the network.
bool is_network_path(const std::string& path);

// The path from the root: of a local file, or unchanged for GDAL's file systems.
std::string absolute_path(const std::string& path);

// How to name an absolute path from an absolute folder; empty if they are on different servers, in
// different buckets or on different drives.
std::string relative_path(const std::string& path, const std::string& folder);

// GDAL's path of a URL; other texts unchanged. Throws zarrcore::Error for unknown protocols.
std::string path_of_url(const std::string& url);

// The URL of a path in one of GDAL's network file systems; other paths unchanged.
std::string url_of_path(const std::string& path);

// The bytes of `file` to which `reference` refers. Throws zarrcore::Error if they are not inside
// it.
zarrcore::ByteRange find_value(VSILFILE* file, const Reference& reference);

// Safe to use from several threads at once.
class TargetFiles {
 public:
  // For the references in the file `document`. A document from the network may refer to local files
  // only if GDAL_ALLOW_REMOTE_RESOURCE_TO_ACCESS_LOCAL_FILE is set at this time. An empty name is
  // for files that GDAL has open as well: they are read through its cache.
  explicit TargetFiles(const std::string& document);

  // The path of `target`: a URL, an absolute path, or a path relative to the folder of the
  // document. Throws zarrcore::Error when GDAL cannot open it or it is not allowed.
  std::string resolve(const std::string& target) const;

  // The bytes to which `reference` refers, or ranges of them. Its target is a path. Throws
  // zarrcore::Error, which names the file, also when it does not exist.
  zarrcore::Buffer get(const Reference& reference, std::uint64_t max_size);
  std::vector<zarrcore::Buffer> get_ranges(const Reference& reference,
                                           std::span<const zarrcore::ByteRange> ranges);

 private:
  template <typename Read>
  auto read(const Reference& reference, const Read& read);
  std::optional<zarrcore::Buffer> get_by_request(const Reference& reference,
                                                 std::uint64_t max_size);

  std::string folder_;
  bool has_document_;
  bool is_in_archive_;  // whether the folder is in an archive
  bool allows_local_;
  VsiFilePool files_;
  std::mutex mutex_;
  std::set<std::string> seen_;  // files of which something has been read
  std::map<std::string, std::shared_ptr<zarrcore::Store>> web_folders_;
};

}  // namespace gdal_zarr
