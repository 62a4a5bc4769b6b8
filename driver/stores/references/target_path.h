// Turns the name of a referenced file into a path for GDAL, and decides whether it may be opened:
// references from the network must not make a program read local files.
#pragma once

#include <string>

namespace gdal_zarr {

// Whether reading `path` may access the network.
bool is_network_path(const std::string& path);

class TargetPaths {
 public:
  // For the references in the file `document`. A document from the network may refer to local files
  // only if GDAL_ALLOW_REMOTE_RESOURCE_TO_ACCESS_LOCAL_FILE is set at this time.
  explicit TargetPaths(const std::string& document);

  // The path of `target`: a URL, an absolute path, or a path relative to the folder of the
  // document. Throws zarrcore::Error when GDAL cannot open it or it is not allowed.
  std::string resolve(const std::string& target) const;

 private:
  std::string folder_;
  bool is_in_archive_;  // whether the folder is in an archive
  bool allows_local_;
};

}  // namespace gdal_zarr
