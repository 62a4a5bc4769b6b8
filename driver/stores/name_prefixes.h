// Names such as ICECHUNK:path as GDAL's file functions see them.
#pragma once

namespace gdal_zarr {

// Makes GDAL see a folder behind every such name, without any request. Before older versions of
// GDAL create a dataset, they delete the one that has the name unless it is a folder: so they never
// ask for a repository to be deleted, unless a person does.
void install_name_prefixes();

}  // namespace gdal_zarr
