// Copying a dataset in Kerchunk references to references in Parquet files, without its data: the
// creation option CONVERT_TO_KERCHUNK_PARQUET_REFERENCE.
#pragma once

#include "driver/gdal/compat.h"

namespace gdal_zarr {

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

}  // namespace gdal_zarr
