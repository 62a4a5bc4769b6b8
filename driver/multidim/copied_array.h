// Copies of arrays of Zarr stores, which keep what GDAL's API does not express: the stored type,
// the fill value, chunks, shards and codecs, and attributes with the types and spellings they have.
//
// GDAL's CopyFrom() creates the new array first, as GDAL's types and block sizes say, and fills it
// then. So Array::CopyFrom() replaces the layout of the array, of which no element is written yet.
#pragma once

#include <memory>
#include <vector>

#include "driver/multidim/array.h"

namespace gdal_zarr {

// The array of which `source` has all elements in the same places: itself, or one that another
// driver's array (VRT) reads. Null if there is none. Reads up to two elements of `source`.
std::shared_ptr<const Array> find_original(const GDALMDArray& source);

// Called by each read.
void note_read(const Array& array, const zarrcore::Selection& selection);

// Metadata for an array created by `creation`, without attributes: like the original as far as
// creation options leave that open. The first that the format can express is the best.
std::vector<zarrcore::ArrayMetadata> layouts_like(const Array& original,
                                                  const ArrayCreation& creation);

// The attributes of `copy`, which has those that GDAL has copied from `source`: where these are
// still the original's, and where GDAL shows none, as the original has them.
zarrcore::Json attributes_like(const Array& original, const GDALMDArray& source, const Array& copy);

// Returns true for equal nodata values, or none, of arrays of one type.
bool has_same_nodata(const GDALMDArray& a, const GDALMDArray& b);

// Returns true if the CRS comes with the copy: in these attributes, or in the grid mapping variable
// that they name, which `source_dataset` (may be null) has as well.
bool brings_crs(const zarrcore::Json& attributes, const GDALMDArray& source,
                GDALDataset* source_dataset);
// Returns true if it is in another variable of the source, which no attribute names as a grid
// mapping.
bool has_crs_beside(const Array& original, GDALDataset* source_dataset);

}  // namespace gdal_zarr
