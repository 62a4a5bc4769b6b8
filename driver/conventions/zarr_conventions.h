// The conventions of https://github.com/zarr-conventions: the list in which a node declares the
// conventions that its attributes follow; `proj:`, a CRS; `spatial:`, the position of a grid. For
// `multiscales` see multiscales.h.
#pragma once

#include <ogr_spatialref.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "driver/conventions/geotransform.h"
#include "zarrcore/base/json.h"

namespace gdal_zarr {

// The attribute `zarr_conventions`, in which the specifications of conventions (see `spec_url`)
// want a node to declare those that its attributes follow.
//
//   "zarr_conventions": [{"uuid": "f17cb550-5864-4468-aeb7-f3180cfb622f", "name": "proj:",
//                         "spec_url": "…", "schema_url": "…", "description": "…"}]

enum class ZarrConvention : std::uint8_t { multiscales, proj, spatial };

// Adds the convention to the list in `attributes`, an object, or removes it. Other entries stay; an
// empty list is removed.
void declare_convention(zarrcore::Json& attributes, ZarrConvention convention, bool is_followed);

// The `proj:` convention (https://github.com/zarr-conventions/proj): the CRS of an array, or
// of all arrays of a group.
//
//   "proj:code": "EPSG:32633"
//   "proj:wkt2": "PROJCRS[…]", "proj:projjson": {…}
//
// Drafts of it, and STAC, from which it comes, have a transform as well:
//
//   "geo": {"proj": {"code": "EPSG:32633", "transform": [10, 0, 500000, 0, -10, 5000000]}}

// An affine matrix [a b c d e f], as of `spatial:transform`, or all nine of its numbers. Empty for
// anything else.
std::optional<GeoTransform> affine_transform(const zarrcore::Json& list);

// `proj:code`, else `proj:wkt2`, else `proj:projjson`, else the older `proj:epsg`. Null if none of
// them exists; warns, and returns null, if they are not understood.
std::shared_ptr<OGRSpatialReference> crs_from_proj(const zarrcore::Json& attributes);

// `proj:transform`; empty if it is absent or no matrix.
std::optional<GeoTransform> proj_transform(const zarrcore::Json& attributes);

// Returns true if attributes state that there is no CRS: a `proj:code` of null and no other member.
bool proj_denies_crs(const zarrcore::Json& attributes);

// Sets the members for `crs`: only its code if that identifies it, else WKT and PROJJSON.
// Throws zarrcore::Error when PROJ cannot express it.
void write_proj(zarrcore::Json& attributes, const OGRSpatialReference& crs);

// The `spatial:` convention (https://github.com/zarr-conventions/spatial): the affine transform of
// a grid, and which of its dimensions are Y and X.
//
//   "spatial:transform": [10, 0, 500000, 0, -10, 5000000]
//   "spatial:dimensions": ["y", "x"]

// `spatial:transform`: [a b c d e f] with x = a·column + b·row + c, y = d·column + e·row + f. For a
// grid of nodes (`spatial:registration`), the transform of the cells around them. Empty if there is
// no transform or it is not affine; warns when it is not understood.
std::optional<GeoTransform> spatial_transform(const zarrcore::Json& attributes);

// `spatial:registration`: what the points that the transform places are. Other values are none.
enum class Registration : std::uint8_t {
  pixel,  // corners of the cells
  node,   // their centres
};
std::optional<Registration> spatial_registration(const zarrcore::Json& attributes);

// GDAL's AREA_OR_POINT for attributes with `spatial:registration`, or that follow the convention:
// then absence means "Area". Empty for others.
std::string area_or_point(const zarrcore::Json& attributes);
// Its inverse, for "Area" and "Point"; empty for other words.
std::optional<Registration> registration_of(const std::string& area_or_point);
const char* registration_name(Registration registration);

struct SpatialDimensions {
  std::string y;
  std::string x;
};

// `spatial:dimensions`: [y, x].
std::optional<SpatialDimensions> spatial_dimensions(const zarrcore::Json& attributes);

// Sets the members for a grid of `columns` × `rows` cells along `dimensions`, if these are known.
// `transform` is GDAL's geotransform of the cells, whatever their registration.
void write_spatial(zarrcore::Json& attributes, const GeoTransform& transform, std::uint64_t columns,
                   std::uint64_t rows, const std::optional<SpatialDimensions>& dimensions,
                   Registration registration = Registration::pixel);

}  // namespace gdal_zarr
