// GDAL types as the Zarr data types in which new arrays store them; type_mapping.h is the other way
// round.
#pragma once

#include "driver/gdal/compat.h"
#include "driver/new_array/creation_options.h"
#include "zarrcore/dtype/data_type.h"
#include "zarrcore/metadata/format.h"

namespace gdal_zarr {

// Strings are of variable length; where the format has them, and in the fields of structures, they
// are of fixed length when STRING_FORMAT asks for it and their greatest length is known. Compounds
// are structures without padding, whose strings always need that length.
//
// Throws zarrcore::Error when Zarr has no such type.
zarrcore::DataType stored_type(const GDALExtendedDataType& type,
                               const zarrcore::NewArrayRules& rules,
                               const CreationOptions& options);

}  // namespace gdal_zarr
