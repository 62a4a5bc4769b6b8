// The names of Icechunk repositories and of what is in them:
//
//   ICECHUNK:path                           the branch main
//   ICECHUNK:path?branch=NAME               another branch
//   ICECHUNK:path?tag=NAME                  a tag
//   ICECHUNK:path?snapshot=ID               a snapshot
//   /vsiicechunk/{path?branch=NAME}/key     a file system of the store's values
//
// Another parameter, ignore-timestamp-etag=yes, follows after "&" or "?": virtual chunks are then
// read although their files have changed. Values may be percent-encoded. The path is any that GDAL
// opens, also with the query of a URL in front of these parameters.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "zarrcore/icechunk/repository.h"

namespace zarrcore::icechunk {
class IcechunkStore;
}

namespace gdal_zarr {

inline constexpr std::string_view kIcechunkPrefix = "/vsiicechunk/";

struct IcechunkPath {
  std::string repository;
  zarrcore::icechunk::VersionName version = {};
  bool has_version = false;  // whether the name says which
  bool ignores_changes = false;
  std::string key = {};  // of a value or a folder of values; empty for all of them
};

// "ICECHUNK:".
bool has_icechunk_scheme(const std::string& name);
// "/vsiicechunk/", which the paths of opened stores have.
bool has_icechunk_prefix(std::string_view name);
// Either of them.
bool is_icechunk_name(const std::string& name);

// Both forms. Throws zarrcore::Error when `name` is neither.
IcechunkPath parse_icechunk_path(const std::string& name);

// The form with braces.
std::string format_icechunk_path(const IcechunkPath& path);

// Opening, as stores, and as GDAL's file system of their values.

// Returns true if the folder `path` holds a repository, judging by the start of one file.
bool is_icechunk_folder(const std::string& path);

// Returns true if it holds one and is not itself a Zarr store.
bool is_only_icechunk(const std::string& path);

// `path`, or if it is that of a repository or of something in one, its form with /vsiicechunk/ and
// the version that options choose, if they do. Folders on the network count as repositories only
// if options say something that is for repositories. Throws zarrcore::Error if the name chooses a
// version as well.
std::string find_icechunk_path(const std::string& path,
                               const std::optional<zarrcore::icechunk::VersionName>& version,
                               bool ignores_changes = false);

// The snapshot that `path` names now, from its key on. Throws zarrcore::Error, which names the
// repository.
std::shared_ptr<zarrcore::icechunk::IcechunkStore> open_icechunk(const IcechunkPath& path);

// Installs /vsiicechunk/. A name without a snapshot's id means what its branch or tag is at the
// time.
void install_icechunk_file_system();

}  // namespace gdal_zarr
