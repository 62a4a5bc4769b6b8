// Whole stores: creating, deleting, renaming and copying them, the last three as `gdalmanage` does.
#pragma once

#include <memory>
#include <string>

#include "driver/gdal/compat.h"
#include "driver/multidim/session.h"
#include "driver/new_array/creation_options.h"

namespace gdal_zarr {

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
