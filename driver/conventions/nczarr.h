// NCZarr, netCDF-C's Zarr (https://docs.unidata.ucar.edu/nug/current/nczarr_head.html): dimensions
// belong to groups, and arrays refer to them by path. Versions 4.8 and 4.9 store that in `.zarray`
// and
// `.zgroup`, later ones in attributes.
//
//   "_nczarr_group": {"dimensions": {"x": 20}, "groups": ["below"]}
//   "_nczarr_array": {"dimension_references": ["/group/x"]}
#pragma once

#include <string>
#include <vector>

#include "zarrcore/metadata/array_metadata.h"

namespace gdal_zarr {

// The path ("/group/x") of each dimension of an array; empty if it is not an NCZarr array.
std::vector<std::string> nczarr_dimensions(const zarrcore::ArrayMetadata& array);

struct GroupDimension {
  std::string name;
  std::uint64_t size;
};

// The dimensions that a group defines, whether or not an array uses them.
std::vector<GroupDimension> nczarr_group_dimensions(const zarrcore::GroupMetadata& group);

bool is_nczarr_group(const zarrcore::GroupMetadata& group);

// The names of the groups below a group, as it states them; none if it is not of NCZarr.
std::vector<std::string> nczarr_group_names(const zarrcore::GroupMetadata& group);

// Returns true for the names of netCDF-C's internal attributes.
bool is_nczarr_name(const std::string& name);

// The attributes without netCDF-C's internal ones.
zarrcore::Json without_nczarr(const zarrcore::Json& attributes);

}  // namespace gdal_zarr
