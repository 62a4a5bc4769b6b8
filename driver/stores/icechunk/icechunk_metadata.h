// The metadata domain ICECHUNK of datasets that are a snapshot of an Icechunk repository:
//
//   FORMAT=2  SNAPSHOT=ID  BRANCH=main            what is open; TAG=… for a tag
//   BRANCH_1_NAME=main  BRANCH_1_SNAPSHOT=ID …    all branches of the repository
//   TAG_1_NAME=v1  TAG_1_SNAPSHOT=ID …            all tags
#pragma once

#include <gdal_priv.h>

#include "driver/gdal/compat.h"
#include "zarrcore/store/store.h"

namespace gdal_zarr {

// What is open; does nothing if `store` is not a repository.
void set_icechunk_metadata(GDALDataset& dataset, const zarrcore::Store& store);

// Adds branches and tags when `domain` is this one, the first time: in format 1, listing them takes
// requests. A failure is reported as CE_Failure.
void complete_icechunk_metadata(GDALDataset& dataset, const char* domain,
                                const zarrcore::Store& store);

}  // namespace gdal_zarr
