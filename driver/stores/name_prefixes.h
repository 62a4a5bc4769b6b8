// Names such as ICECHUNK:path and ZARR:"path" as GDAL's file functions see them.
#pragma once

namespace gdal_zarr {

// Makes GDAL see a folder behind every name with a prefix of this driver, without any request.
// Before GDAL creates a dataset, it deletes the one that has the name, unless the name is that of a
// folder: so it never asks for a repository to be deleted, unless a person does.
void install_name_prefixes();

}  // namespace gdal_zarr
