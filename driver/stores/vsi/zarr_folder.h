// Which files, folders and ZIP archives are a Zarr, as far as file names show it.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "zarrcore/base/path.h"
#include "zarrcore/store/requests.h"
#include "zarrcore/store/store.h"

namespace gdal_zarr {

// The prefix of GDAL's file system for ZIP archives.
inline constexpr std::string_view kVsiZip = "/vsizip/";

// A folder on the network that is a Zarr, and what has been requested to find that out.
struct ProbedFolder {
  std::string path;  // without a trailing slash
  std::shared_ptr<zarrcore::Store> store;
  // See HierarchyOptions.
  std::map<std::string, zarrcore::DocumentText> documents;
  std::optional<zarrcore::DirectoryListing> listing;
};

// Returns true if the existing file `path` has the name of v1's metadata document, or is the
// document of an N5 container or array.
bool is_other_document(const std::string& path);

// The name of the document that makes the folder `path` a Zarr store; null if it is not a store.
const char* find_main_document(const std::string& path);

// Returns true if the folder `path` holds the metadata of a Zarr.
bool is_zarr_folder(const std::string& path);
// The same for a folder on the network, which may be opened for update. Empty if it is not a store,
// or cannot be read.
std::optional<ProbedFolder> probe_folder(std::string path, bool is_for_update = false);
// Returns true if a folder needs probe_folder(): requests for it wait, and several can wait at
// once.
bool is_probed(const std::string& path);

// Returns true if the name means a ZIP archive: x.zip, /vsizip/x.zip or /vsizip/{x.zip}; or a
// zipped OME-Zarr (RFC 9), with .ozx.
bool is_zip_name(const std::string& path);

// The place of a store in an archive, which may not exist yet.
struct ZipTarget {
  std::string archive;  // the path of the archive itself
  std::string prefix;   // of the store's keys: "a/b", or empty
};

// Parses "x.zip", "/vsizip/x.zip/a/b" and "/vsizip/{x.any}/a/b"; empty for other paths, and for a
// folder that is called x.zip.
std::optional<ZipTarget> parse_zip_target(const std::string& path);

// The /vsizip/ path of the Zarr in the archive `path`: its root, or the one folder at its top that
// holds a Zarr. Empty when `path` is not such an archive. Throws zarrcore::Error when several
// folders hold one.
std::optional<std::string> find_zipped_store(const std::string& path);

// The topmost folder that holds a Zarr on the path from the top of an archive to `path`, the folder
// of a Zarr in it.
std::string find_root_in_archive(const std::string& path);

}  // namespace gdal_zarr
