// The attribute `zarr_conventions`, in which the specifications of conventions (see `spec_url`)
// want a node to declare those that its attributes follow.
//
//   "zarr_conventions": [{"uuid": "f17cb550-5864-4468-aeb7-f3180cfb622f", "name": "proj:",
//                         "spec_url": "…", "schema_url": "…", "description": "…"}]
#pragma once

#include "zarrcore/base/json.h"

namespace gdal_zarr {

enum class ZarrConvention : std::uint8_t { multiscales, proj, spatial };

// Whether the list in `attributes` has the convention, by its uuid.
bool declares_convention(const zarrcore::Json& attributes, ZarrConvention convention);

// Adds the convention to the list in `attributes`, an object, or removes it. Other entries are
// kept; an empty list is removed.
void declare_convention(zarrcore::Json& attributes, ZarrConvention convention, bool is_followed);

}  // namespace gdal_zarr
