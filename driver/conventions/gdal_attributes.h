// Attributes of nodes that are not for users: GDAL's own, and netCDF-C's internal ones (NCZarr).
// Which attributes users see, and how writers of conventions change them.
#pragma once

#include <ogr_spatialref.h>

#include <cstdint>
#include <string>
#include <vector>

#include "zarrcore/base/json.h"
#include "zarrcore/metadata/array_metadata.h"

namespace gdal_zarr {

// A change of a node's attributes. The writers of conventions return it; the owner of the node
// applies it, and all other attributes stay.
struct AttributeChange {
  zarrcore::Json set = zarrcore::Json::object();
  std::vector<std::string> remove;

  bool empty() const { return set.empty() && remove.empty(); }
};

// The smallest change that turns `before` into `after`, both objects.
AttributeChange difference(const zarrcore::Json& before, const zarrcore::Json& after);

// `attributes`, an object, after the change. Other attributes keep their order.
zarrcore::Json apply_change(zarrcore::Json attributes, const AttributeChange& change);

// GDAL's attribute `_CRS`, and the attribute `crs` that is written with it.
//
//   "_CRS": {"url": "http://www.opengis.net/def/crs/EPSG/0/32633", "wkt": "…", "projjson": {…}}
//   "crs": "EPSG:32633"
//
// A CRS with a coordinate epoch has no url, but a member "epoch", which only this driver reads.
// Other conventions cannot express an epoch, so arrays have it as the attribute
// "gdal:coordinate_epoch". GDAL reads `_CRS`; all versions of rioxarray and odc-geo find `crs` in
// arrays without a grid mapping. A grid mapping is not written, because it would be an array, which
// GDAL's built-in driver lists as another raster, and because an array at the root of a store
// cannot have one beside it.

// Sets both attributes. `crs` becomes an EPSG code, or WKT if the CRS has none. Throws
// zarrcore::Error when PROJ cannot express the CRS.
void write_gdal_crs(zarrcore::Json& attributes, const OGRSpatialReference& crs);

// The attribute of an array with the coordinate epoch of a CRS that is stored by another
// convention.
inline constexpr const char* kCoordinateEpoch = "gdal:coordinate_epoch";
// Sets the coordinate epoch that `attributes` state, if the CRS has none.
void adopt_epoch(OGRSpatialReference& crs, const zarrcore::Json& attributes);

// Returns true if `attributes` have both, and `crs` is equivalent to `_CRS`, as written by
// write_gdal_crs().
bool crs_repeats_gdals(const zarrcore::Json& attributes);

// An attribute of a raster's arrays: a list of metadata items, "NAME=value", whose names have
// another meaning as attributes.
inline constexpr const char* kPlainMetadata = "gdal:metadata";

// GDAL's own attribute: one name, or one for each band.
inline constexpr const char* kColorInterpretation = "COLOR_INTERPRETATION";
// An attribute of arrays with the values in which their bands differ (raster/raster_dataset.h); of
// a group that holds an array for each band of a raster, the list of their names.
inline constexpr const char* kBandsAttribute = "gdal:bands";

// The attributes that users see: without those that GDAL's objects express in other ways, and that
// would be wrong in a copy of a part of the array: of CRS, geotransform and overviews (`_CRS` and a
// `crs` that repeats it, `proj:…`, `spatial:…` except `spatial:registration`, `multiscales`, the
// list of conventions, plain metadata), and without netCDF-C's own.
zarrcore::Json shown_attributes(const zarrcore::Json& attributes);

// NCZarr, netCDF-C's Zarr (https://docs.unidata.ucar.edu/nug/current/nczarr_head.html): dimensions
// belong to groups, and arrays refer to them by path. Versions 4.8 and 4.9 store that in `.zarray`
// and `.zgroup`, later ones in attributes.
//
//   "_nczarr_group": {"dimensions": {"x": 20}, "groups": ["below"]}
//   "_nczarr_array": {"dimension_references": ["/group/x"]}

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
