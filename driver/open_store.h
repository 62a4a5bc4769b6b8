// From the path of a store to the store: a folder, a ZIP archive, or Kerchunk references.
#pragma once

#include <memory>
#include <string>

#include "driver/gdal_compat.h"
#include "zarrcore/store/store.h"

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
// absent; references know them anyway. Throws zarrcore::Error when what is there cannot be used;
// that nothing is there shows later.
std::shared_ptr<zarrcore::Store> open_store(const std::string& path, bool lists_chunks);

// The name for an array at the root of the store `path`: that of the file without its extensions.
std::string store_name(const std::string& path);

// Whether `path` has the form of the last two.
bool has_reference_prefix(const std::string& path);

// Whether the folder `path` holds the metadata of a Zarr.
bool is_zarr_folder(const std::string& path);

// Whether the file that is being opened is an archive or a document of references.
bool is_packed_store(GDALOpenInfo* info);

}  // namespace gdal_zarr
