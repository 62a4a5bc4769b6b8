// URL pipelines, in which zarr-python and Neuroglancer name stores in archives: a URL, then after
// each "|" how to open what is left of it (specification url-pipeline, version 0):
//
//   s3://bucket/x.zip|zip:folder/|zarr3: https://host/x.icechunk|icechunk://tag.v5/|zarr3:
//
// The formats zarr2:, zarr3: and n5: are accepted, and found out by the store's documents.
#pragma once

#include <string>

namespace gdal_zarr {

// Returns true if `name` has the form of a pipeline: with a known scheme at its start, or after its
// first "|".
bool is_url_pipeline(const std::string& name);

// The path of the store or node that a pipeline names. Throws zarrcore::Error, which names the part
// that cannot be opened.
std::string path_of_pipeline(const std::string& name);

}  // namespace gdal_zarr
