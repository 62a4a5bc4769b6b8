// From the path of a store to what it holds: a folder, a ZIP archive, or Kerchunk references.
#pragma once

#include <memory>
#include <string>

#include "driver/gdal/compat.h"
#include "zarrcore/hierarchy/hierarchy.h"

namespace gdal_zarr {

// `path` is one of
//
//   a folder
//   x.zip, /vsizip/x.zip                             an archive; see zip_archive.h
//   x.json                                           references
//   a folder with Parquet files                      references
//   /vsikerchunk_json_ref/{x.json}/group             references, from a group on
//   /vsikerchunk_parquet_ref/{folder}/group          references, from a group on
//
// With `lists_chunks`, folders and archives are listed rather than asked for chunks that may be
// absent; references know them anyway. Throws zarrcore::Error when there is no Zarr.
std::unique_ptr<zarrcore::Hierarchy> open_hierarchy(const std::string& path, bool lists_chunks,
                                                    const zarrcore::HierarchyOptions& options);

// The name for an array at the root of the store `path`: that of the file without its extensions.
std::string store_name(const std::string& path);

// Whether `path` has the form of the last two.
bool has_reference_prefix(const std::string& path);

// Whether the file that is being opened is an archive or a document of references.
bool is_packed_store(GDALOpenInfo* info);

}  // namespace gdal_zarr
