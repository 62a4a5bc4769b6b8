// Renaming a dimension: in Zarr, a change of every array that has it.
#pragma once

#include <string>

namespace gdal_zarr {

class Dimension;
class Session;

// Throws zarrcore::Error when the store is read-only, when the group of the dimension already has
// one called `name`, or when `name` cannot be the name of an array.
void rename_dimension(Session& session, Dimension& dimension, const std::string& name);

}  // namespace gdal_zarr
