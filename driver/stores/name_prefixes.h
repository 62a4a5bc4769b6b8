// Names such as ICECHUNK:path as GDAL's file functions see them.
#pragma once

namespace gdal_zarr {

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
