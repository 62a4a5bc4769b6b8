// NCZarr (netCDF-C's Zarr): dimensions belong to groups, and arrays refer to them by path. Versions
// 4.8 to 4.9 keep that in `.zarray`, later ones among the attributes.
#pragma once

#include <string>
#include <vector>

#include "zarrcore/metadata/array_metadata.h"

namespace gdal_zarr {

// The path ("/group/x") of each dimension of an array; empty when it is not one of NCZarr's.
std::vector<std::string> nczarr_dimensions(const zarrcore::ArrayMetadata& array);

struct GroupDimension {
  std::string name;
  std::uint64_t size;
};

// The dimensions that a group defines, whether or not an array uses them.
std::vector<GroupDimension> nczarr_group_dimensions(const zarrcore::GroupMetadata& group);

// The attributes that are not netCDF-C's own, which are of no use to others.
zarrcore::Json without_nczarr(const zarrcore::Json& attributes);

}  // namespace gdal_zarr
