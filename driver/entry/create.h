// Stores as a whole: creating an empty one or a copy, by the classic or the multidimensional API;
// deleting, renaming and copying them, as `gdalmanage` does.
//
// A new store begins with new_store_path() and create_session(). A raster's arrays are then created
// by the classic API (create.cpp) and filled by copy_raster(), or, if it is virtual, by
// refer_to_blocks(); a hierarchy is filled by copy_hierarchy(). On failure, remove_new_store()
// removes what exists.
#pragma once

#include <gdal.h>
#include <gdal_priv.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "driver/conventions/geotransform.h"
#include "driver/gdal/compat.h"
#include "driver/gdal/messages.h"
#include "driver/multidim/session.h"
#include "driver/new_array/creation_options.h"
#include "driver/raster/raster_dataset.h"
#include "driver/virtual/raster_blocks.h"

namespace gdal_zarr {

// GDAL's entry points; see GDALDriver::pfnCreate, pfnCreateCopy and pfnCreateMultiDimensional. On
// failure, an error is reported and everything created is removed. When create_copy returns, the
// copy has been written to the store.
GDALDataset* create(const char* name, int columns, int rows, int bands, GDALDataType type,
                    OptionList options);
GDALDataset* create_copy(const char* name, GDALDataset* source, int is_strict, OptionList options,
                         GDALProgressFunc progress, void* progress_data);
GDALDataset* create_multidimensional(const char* name, CSLConstList group_options,
                                     CSLConstList options);

// Creates a store under `name` with everything in `source`, which has a root group. Options whose
// names begin with "ARRAY:" are for its arrays. When it returns a dataset, the copy has been
// written to the store. On failure, or when the user stops the copy, reports a CE_Failure, removes
// everything created and returns null.
GDALDataset* copy_hierarchy(const char* name, GDALDataset& source, bool is_strict,
                            OptionList options, GDALProgressFunc progress, void* progress_data);

struct NewRaster {
  int columns;
  int rows;
  std::vector<GDALDataType> types;  // of the bands
  // The future geotransform, if it is known and coordinates along X and Y can express it.
  std::optional<GeoTransform> transform;
  // True if bands differ in type, scale, offset, unit or nodata, of which an array has one each.
  bool bands_differ = false;
  // True for pixels of one bit, which GDAL stores as bytes.
  bool has_one_bit = false;
  // In a virtual store, the source's blocks that become the chunks.
  std::optional<RasterBlocks> blocks = {};
  // True if it is an error that bands of different types must share an array. Otherwise the array
  // gets a type that can hold the values of all bands, with a warning.
  bool keeps_types = false;
};

// The raster to create for a copy of `source`. Throws zarrcore::Error when its bands cannot share a
// type and `is_strict`.
NewRaster new_raster_like(GDALDataset& source, bool is_strict);

// Copies the pixels in a window of bands, rows and columns. `buffer` is reused. Returns false after
// a CE_Failure.
bool copy_window(GDALDataset& source, RasterDataset& destination, const zarrcore::Box& window,
                 GDALDataType type, zarrcore::Buffer& buffer);

// Copies all that GDAL knows of a raster, whose pixels may stay where they are (`blocks`):
// georeferencing, nodata, metadata, colours, then pixels, in an order that completes chunks and
// shards one after the other, then masks. With `has_overviews`, builds overviews at the end.
// Returns false after a CE_Failure, which is also reported when the user stops the copy; when it
// returns true, the copy is in the store. Throws zarrcore::Error.
bool copy_raster(GDALDataset& source, RasterDataset& destination, const RasterBlocks* blocks,
                 bool is_strict, bool has_overviews, GDALProgressFunc progress,
                 void* progress_data);

// Copies to virtual stores (creation option VIRTUAL): metadata are copied, chunks are references to
// the blocks of the source's files.

// Throws zarrcore::Error if options ask for a virtual store: only copies have a source, and only
// new stores of references and repositories hold places in it.
void check_is_not_virtual(CSLConstList options);

// The blocks of a raster that become the chunks of its copy. Throws zarrcore::Error, which says
// why, if they cannot: in an Icechunk repository, if their file has no URL. With `copies_others`,
// some may be copied.
RasterBlocks find_blocks(GDALDataset& source, bool is_in_repository, bool copies_others);

// Makes the blocks chunks of the copy, which was created for them, and those of the source's
// overviews levels of a pyramid. Returns false after a CE_Failure; throws zarrcore::Error, also if
// missing chunks would not read as the missing blocks.
bool refer_to_blocks(const RasterBlocks& blocks, GDALDataset& source, RasterDataset& destination,
                     PartialProgress& progress);

// Copying a dataset in Kerchunk references to references in Parquet files, without its data: the
// creation option CONVERT_TO_KERCHUNK_PARQUET_REFERENCE.

// gdal_translate opens x.json as ZARR_DUMMY:x.json for such a copy: only the document itself need
// be readable.
bool is_reference_source(const char* name);

// A dataset of such a name without bands.
GDALDataset* open_reference_source();

// Returns true if the options of a copy ask for this.
bool copies_references(CSLConstList options);

// Throws zarrcore::Error if options ask for it where nothing is copied.
void check_copies_no_references(CSLConstList options);

// The copy, opened; null after the user has stopped it. Throws zarrcore::Error unless `source` is
// of a JSON document of references.
GDALDataset* copy_references(const char* name, GDALDataset& source, CSLConstList options,
                             GDALProgressFunc progress, void* progress_data);

// Removes an array with its overviews, its masks, and the coordinates that no other array of its
// group uses. Throws zarrcore::Error.
void erase_raster(Session& session, const std::string& node_path);

// Whole stores.

// GDAL's entry points; see GDALDriver::pfnDelete, pfnRename and pfnCopyFiles. They act on the path
// of a store, a folder or a file, never on an array in one (ZARR:"path":/array) or a file in its
// folder, and include the files beside a store.
CPLErr delete_store(const char* name);
CPLErr rename_store(const char* new_name, const char* old_name);
CPLErr copy_store(const char* new_name, const char* old_name);

// Throws zarrcore::Error when the folder at a path is a group or array of the store around it.
void check_is_whole(const std::string& path);

// The path of the store that a name means; for an Icechunk repository, with the branch that the
// options choose. Throws zarrcore::Error when it names an array.
std::string new_store_path(const char* name, const CreationOptions& options);

// Throws zarrcore::Error when a store cannot be created at `path`; if one exists there, the message
// ends with `advice`. In object stores, returns the store, which has just been listed; else null.
std::shared_ptr<zarrcore::Store> check_can_be_created(const std::string& path, const char* advice);

// Removes as much as exists of a store that was created at `path` but failed. Files beside it stay.
void remove_new_store(const std::string& path);

// Called for a new store at a local path, once it has been created: removes a sidecar beside it,
// which belongs to an older store at the same path.
void remove_older_sidecar(const std::string& path);

// Creates a store at a path for which check_can_be_created() succeeds, or opens an Icechunk
// repository, which may exist. The caller ends the session's opening by Session::end_opening().
std::shared_ptr<Session> create_session(const std::string& path, const CreationOptions& options,
                                        const char* advice);

}  // namespace gdal_zarr
