// Opens the store at a path: a folder, a ZIP archive, Kerchunk references, or an Icechunk
// repository.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "driver/gdal/compat.h"
#include "driver/stores/vsi/zarr_folder.h"
#include "zarrcore/hierarchy/hierarchy.h"

namespace gdal_zarr {

// `path` is one of
//
//   a folder
//   x.zip, x.ozx, /vsizip/x.zip                      an archive; see vsi/zarr_folder.h
//   x.sqlite                                         a database; see foreign_stores.h
//   x.json                                           references
//   a folder with Parquet files                      references
//   a folder with an Icechunk repository             its branch main
//   a folder with levels of xcube                    see foreign_stores.h
//   /vsiicechunk/{folder?branch=NAME}/group          a version of it; see icechunk/open_icechunk.h
//   /vsikerchunk_json_ref/{x.json}/group             references below a group; for other forms
//   /vsikerchunk_parquet_ref/{folder}/group          see references/reference_store.h
//
// With `lists_chunks`, folders and archives are listed instead of requesting chunks that may be
// missing; references are not listed, because they state their chunks. What is known of the folder
// is not requested again. Throws zarrcore::Error when there is no Zarr.
std::unique_ptr<zarrcore::Hierarchy> open_hierarchy(
    const std::string& path, bool lists_chunks, const zarrcore::HierarchyOptions& options,
    const std::optional<ProbedFolder>& folder = std::nullopt);

// The store for a new Zarr at a path, where nothing exists: a folder, or an archive.
std::shared_ptr<zarrcore::Store> make_new_store(const std::string& path);

// Returns true if a new store of this name is a folder in the file system of this computer.
bool is_new_folder(const std::string& name);

// Returns true if `path` is a JSON document of references, as far as that shows without reading all
// of it.
bool is_json_references(const std::string& path);

// The path through which a JSON document of references is read in a cache folder; `path` itself for
// anything else.
std::string path_of_cached_references(const std::string& path);

// The name for an array at the root of the store `path`: the file name without extensions.
std::string store_name(const std::string& path);

// Returns true if the file that is being opened is an archive, a database or a document of
// references.
bool is_packed_store(GDALOpenInfo* info);

}  // namespace gdal_zarr
