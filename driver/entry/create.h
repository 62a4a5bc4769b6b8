// Creating stores: an empty one or a copy, by the classic or the multidimensional API.
#pragma once

#include <gdal.h>

#include <optional>
#include <vector>

#include "driver/conventions/geotransform.h"
#include "driver/gdal/compat.h"
#include "driver/raster/raster_dataset.h"
#include "driver/virtual/raster_blocks.h"

namespace gdal_zarr {

// GDAL's entry points; see GDALDriver::pfnCreate, pfnCreateCopy and pfnCreateMultiDimensional. On
// failure, an error is reported and everything created is removed. When create_copy returns, the
// copy has been written to the store.
GDALDataset* create(const char* name, int columns, int rows, int bands, GDALDataType type,
                    OptionList options);
GDALDataset* create_copy(const char* name, GDALDataset* source, int is_strict, OptionList options,
                         GDALProgressFunc progress, void* progress_data);
GDALDataset* create_multidimensional(const char* name, CSLConstList group_options,
                                     CSLConstList options);

// Creates a store under `name` with everything in `source`, which has a root group. Options whose
// names begin with "ARRAY:" are for its arrays. When it returns a dataset, the copy has been
// written to the store. On failure, or when the user stops the copy, reports a CE_Failure, removes
// everything created and returns null.
GDALDataset* copy_hierarchy(const char* name, GDALDataset& source, bool is_strict,
                            OptionList options, GDALProgressFunc progress, void* progress_data);

struct NewRaster {
  int columns;
  int rows;
  std::vector<GDALDataType> types;  // of the bands
  // The future geotransform, if it is known and coordinates along X and Y can express it.
  std::optional<GeoTransform> transform;
  // True if bands differ in type, scale, offset, unit or nodata, of which an array has one each.
  bool bands_differ = false;
  // True for pixels of one bit, which GDAL stores as bytes.
  bool has_one_bit = false;
  // In a virtual store, the source's blocks that become the chunks.
  std::optional<RasterBlocks> blocks = {};
  // True if it is an error that bands of different types must share an array. Otherwise the array
  // gets a type that can hold the values of all bands, with a warning.
  bool keeps_types = false;
};

// The raster to create for a copy of `source`. Throws zarrcore::Error when its bands cannot share a
// type and `is_strict`.
NewRaster new_raster_like(GDALDataset& source, bool is_strict);

// Copies the pixels in a window of bands, rows and columns. `buffer` is reused. Returns false after
// a CE_Failure.
bool copy_window(GDALDataset& source, RasterDataset& destination, const zarrcore::Box& window,
                 GDALDataType type, zarrcore::Buffer& buffer);

// Copies all that GDAL knows of a raster, whose pixels may stay where they are (`blocks`):
// georeferencing, nodata, metadata, colours, then pixels, in an order that completes chunks and
// shards one after the other, then masks. With `has_overviews`, builds overviews at the end.
// Returns false after a CE_Failure, which is also reported when the user stops the copy; when it
// returns true, the copy is in the store. Throws zarrcore::Error.
bool copy_raster(GDALDataset& source, RasterDataset& destination, const RasterBlocks* blocks,
                 bool is_strict, bool has_overviews, GDALProgressFunc progress,
                 void* progress_data);

}  // namespace gdal_zarr
