// The Zarr data types in which new arrays store GDAL types: the inverse of types/type_mapping.h.
#pragma once

#include "driver/gdal/compat.h"
#include "driver/new_array/creation_options.h"
#include "zarrcore/dtype/data_type.h"
#include "zarrcore/metadata/format.h"

namespace gdal_zarr {

// Strings of a known maximum length have fixed length where the format prefers that, unless
// STRING_FORMAT says otherwise; as fields of structures they always have. A compound becomes a
// structure without padding.
//
// Throws zarrcore::Error when Zarr has no such type, and on strings of unknown length in a
// compound.
zarrcore::DataType stored_type(const GDALExtendedDataType& type,
                               const zarrcore::NewArrayRules& rules,
                               const CreationOptions& options);

}  // namespace gdal_zarr
