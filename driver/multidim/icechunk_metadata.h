// The metadata domain ICECHUNK of datasets of an Icechunk repository:
//
//   FORMAT=2  SNAPSHOT=ID  BRANCH=main            the open version; TAG=… for a tag
//   BRANCH_1_NAME=main  BRANCH_1_SNAPSHOT=ID …    all branches of the repository
//   TAG_1_NAME=v1  TAG_1_SNAPSHOT=ID …            all tags
//   CHANGES={…}                                   if open for update: uncommitted changes; in no
//                                                 list, since it may be large
//
// Setting an item is a command; the dataset must be open for update. Without =ID, the snapshot is
// the one that the dataset started from, or has committed last.
//
//   COMMIT=message         commits now; empty for the usual message
//   ROLLBACK=YES           drops the changes; nothing can be committed any more
//   MERGE={…}              adds the CHANGES of a dataset of the same snapshot: text, or a file
//   CREATE_BRANCH=NAME=ID  RESET_BRANCH=NAME=ID  DELETE_BRANCH=NAME
//   CREATE_TAG=NAME=ID     DELETE_TAG=NAME
#pragma once

#include <gdal_priv.h>

#include "driver/gdal/compat.h"

namespace gdal_zarr {

class Session;

bool is_icechunk_domain(const char* domain);

// Sets the items that describe the open version; does nothing if the session's store is not a
// repository.
void set_icechunk_metadata(GDALDataset& dataset, const Session& session);

// When `domain` is this one: sets the open version, and all branches and tags, which takes requests
// in format 1. They are from when the dataset was opened, unless it is open for update. A failure
// is reported as CE_Failure.
void complete_icechunk_metadata(GDALDataset& dataset, const Session& session, const char* domain);

// True for the item CHANGES.
bool is_changes_item(const char* name, const char* domain);
// The value of the item CHANGES, valid until the next call; null unless the dataset is an Icechunk
// repository that is open for update. Pending writes must have been flushed.
const char* icechunk_changes(Session& session);

// Flushes, and carries out a command. A failure is reported as CE_Failure.
CPLErr run_icechunk_command(Session& session, const char* name, const char* value);
// The same for all items of a list but those that the domain has.
CPLErr run_icechunk_commands(GDALDataset& dataset, Session& session, CSLConstList items);

}  // namespace gdal_zarr
