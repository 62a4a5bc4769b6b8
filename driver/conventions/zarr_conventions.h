// The attribute `zarr_conventions`: the list in which a node declares the conventions that its
// attributes follow, each by a UUID.
#pragma once

#include "zarrcore/base/json.h"

namespace gdal_zarr {

enum class ZarrConvention : std::uint8_t { multiscales, proj, spatial };

// Lists the convention in `attributes`, an object, or takes it off the list. Declarations of others
// stay; a list that becomes empty goes.
void declare_convention(zarrcore::Json& attributes, ZarrConvention convention, bool is_followed);

}  // namespace gdal_zarr
