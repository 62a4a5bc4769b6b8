// The names by which a Zarr can be opened:
//
//   path                                a folder that holds a Zarr, or one of its metadata files
//   x.json, x.zip, x.ozx, x.sqlite      references, archives and databases; see open_store.h
//   file:///path                        the same as a URL
//   URL|zip:path|zarr3:                 a URL pipeline; see is_url_pipeline()
//   ICECHUNK:path?branch=NAME           an Icechunk repository; see icechunk/open_icechunk.h
//   ZARR:"path"                         any path, also one that cannot be examined beforehand, and
//                                       the names above
//   ZARR:"path":/group/array            one array; the first slash is optional
//   ZARR:"path":/group/array:3:0        one 2D slice of an array of more dimensions
//   ZARR:"path":/group/array:bands=1-9  some of its slices as bands, counted from 1
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gdal_zarr {

// Slices of an array in the order of bands, from `first` to `last`, counted from 1.
struct BandRange {
  std::uint64_t first;
  std::uint64_t last;
};

struct ConnectionString {
  std::string store_path;            // without a trailing slash
  std::optional<std::string> array;  // as given, with its leading slash
  std::vector<std::uint64_t> slice;  // an index for each dimension that is not X or Y
  std::optional<BandRange> range = {};
};

bool has_prefix(const std::string& name);

// file:// URLs, and the paths that they name; other names stay as they are. Throws zarrcore::Error
// for files of other computers.
bool has_file_scheme(const std::string& name);
std::string without_file_scheme(const std::string& name);

// Throws zarrcore::Error when `name` cannot be understood.
ConnectionString parse_connection_string(const std::string& name);

// "1:9", for a separator ':'; nullopt when it is not a range.
std::optional<BandRange> parse_band_range(std::string_view text, char separator);

// The name of an array of a store.
std::string format_connection_string(const std::string& store_path, const std::string& array);

// URL pipelines, in which zarr-python and Neuroglancer name stores in archives: a URL, then after
// each "|" how to open the result so far (specification url-pipeline, version 0):
//
//   s3://bucket/x.zip|zip:folder/|zarr3:
//   https://host/x.icechunk|icechunk://tag.v5/|zarr3:
//
// The formats zarr2:, zarr3: and n5: are accepted, but the store's documents decide the format.
//
// Returns true if `name` has the form of a pipeline: with a known scheme at its start, or after its
// first "|".
bool is_url_pipeline(const std::string& name);

// The path of the store or node that a pipeline names. Throws zarrcore::Error, which names the part
// that cannot be opened.
std::string path_of_pipeline(const std::string& name);

// Makes the name of a repository that exists look like a folder to GDAL. Older versions of GDAL
// delete an existing dataset before they create one of the same name, unless it is a folder: thus
// they delete a repository only if the user asks for it. Newer ones ask before they write to what
// exists.
void install_name_prefixes();

// Returns false if `name`, which has such a prefix, is of a local path where nothing is. The answer
// for a URL or a path on the network is true, since it must not take a request; so it is for a name
// that is wrong, about which opening says more.
bool repository_may_exist(const char* name);

}  // namespace gdal_zarr
