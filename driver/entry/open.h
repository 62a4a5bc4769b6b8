// Recognizing and opening stores: from a connection string to a dataset.
#pragma once

#include <cpl_string.h>
#include <gdal_priv.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "driver/gdal/compat.h"
#include "driver/gdal/options.h"
#include "driver/multidim/raster_view.h"
#include "driver/raster/candidates.h"
#include "driver/stores/connection_string.h"
#include "driver/stores/vsi/zarr_folder.h"

namespace gdal_zarr {

class Array;

// GDAL's entry point; see GDALDriver::pfnOpen.
GDALDataset* open(GDALOpenInfo* info);

// The classic dataset of an array; a ClassicDatasetFactory (multidim/session.h).
GDALDataset* make_classic_dataset(const std::shared_ptr<Array>& array, std::size_t x,
                                  std::optional<std::size_t> y);

// GDAL's entry point; see GDALDriver::pfnIdentify.
int identify(GDALOpenInfo* info);

// Returns true if a path names a Zarr: a folder, a document of one, a packed store, or a connection
// string. Folders on the network are only examined when their name ends with .zarr, and `folder` is
// then what has been found.
bool is_zarr(GDALOpenInfo* info, std::optional<ProbedFolder>& folder);

// Returns the result of identify() for this call of GDALOpenEx() in this thread, which opens the
// dataset that it has identified; empty if there is none.
std::optional<ProbedFolder> take_identified(const GDALOpenInfo* info);

// What the last call of identify() or open() in this thread was made for, if it was for this name:
// GDAL identifies what it is about to replace, and rasterio opens that.
enum class Purpose : std::uint8_t { unknown, reading, replacing };
Purpose last_purpose(const std::string& name);
void note_opened(const std::string& name);

// Returns true if a path names a metadata document in an archive that would be opened as a raster.
bool is_zipped_document(const GDALOpenInfo* info);

// The raster that is opened for the metadata document `path` in an archive. Each raster has one
// such document; otherwise programs that list files would offer all documents. It is the main
// document of a store with one raster, and the documents of the arrays in a store with several.
std::optional<ConnectionString> find_zipped_raster(const std::string& path);

// The open options of a call. For an unknown name that is similar to an option, a warning suggests
// that option. Throws zarrcore::Error for a value that is not allowed.
OptionValues open_options(CSLConstList list);

// The XML of GDAL_DMD_OPENOPTIONLIST.
std::string open_option_list();

// A subdataset for each array. `name` is the name that was opened. The caller owns the dataset.
GDALDataset* list_arrays(Session& session, const std::vector<Candidate>& candidates,
                         const std::string& name);

// The items of the metadata domain SUBDATASETS for these arrays.
CPLStringList subdataset_items(const Session& session, const std::vector<Candidate>& candidates);

// A subdataset for as many slices of an array at a time as a raster can have bands; the first
// thousand.
GDALDataset* list_ranges(const Array& array, std::uint64_t slices, const std::string& name);

// A subdataset for each 2D slice of the array of a view, whose other dimensions make bands.
GDALDataset* list_slices(const RasterView& view, const std::string& name);

}  // namespace gdal_zarr
