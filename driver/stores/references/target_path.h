// From the name of a referenced file to a path that GDAL opens, and whether it may be opened:
// references from the network must not make a program read the files of its own machine.
#pragma once

#include <string>

namespace gdal_zarr {

// Whether reading `path` asks the network.
bool is_network_path(const std::string& path);

class TargetPaths {
 public:
  // For references that stand in the file `document`. Whether those of a document from the network
  // may name local files is what GDAL_ALLOW_REMOTE_RESOURCE_TO_ACCESS_LOCAL_FILE says now; the
  // default is that they may not.
  explicit TargetPaths(const std::string& document);

  // The path of `target`: a URL, a path, or a path below the folder of the document. Throws
  // zarrcore::Error when it cannot be opened by GDAL or must not be.
  std::string resolve(const std::string& target) const;

 private:
  std::string folder_;
  bool is_in_archive_;  // the folder, wherever that is
  bool allows_local_;
};

}  // namespace gdal_zarr
