// Which files and folders are a Zarr, as far as file names show it.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "zarrcore/base/directory_listing.h"
#include "zarrcore/store/document_requests.h"
#include "zarrcore/store/store.h"

namespace gdal_zarr {

// A folder on the network that is a Zarr, and what has been requested to find that out.
struct ProbedFolder {
  std::string path;  // without a trailing slash
  std::shared_ptr<zarrcore::Store> store;
  // As HierarchyOptions has them.
  std::map<std::string, zarrcore::DocumentText> documents;
  std::optional<zarrcore::DirectoryListing> listing;
};

// Whether a file of this name is a metadata document: the folder that holds it is a node. The
// documents of v1 ("meta", "attrs") do not count: other files have these names as well.
bool is_metadata_file(std::string_view file_name);

// Whether the existing file `path` has the name of v1's metadata document.
bool is_v1_document(const std::string& path);

// The name of the document that makes the folder `path` a Zarr; null when it is none.
const char* find_main_document(const std::string& path);

// Whether the folder `path` holds the metadata of a Zarr.
bool is_zarr_folder(const std::string& path);
// The same for a folder on the network, which may be opened for update. Empty when it is none, or
// cannot be read.
std::optional<ProbedFolder> probe_folder(std::string path, bool is_for_update = false);
// Whether that is what a folder needs: requests for it wait, and several can wait at once.
bool is_probed(const std::string& path);

}  // namespace gdal_zarr
