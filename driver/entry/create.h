// Creating stores: an empty one or a copy, by the classic or the multidimensional API.
#pragma once

#include <cpl_port.h>
#include <gdal.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "driver/conventions/geotransform.h"
#include "driver/gdal/compat.h"
#include "driver/multidim/session.h"
#include "driver/new_array/creation_options.h"
#include "driver/raster/raster_dataset.h"

namespace gdal_zarr {

// GDAL's entry points; see GDALDriver::pfnCreate and pfnCreateCopy. A
// failure is reported and leaves nothing behind. When create_copy returns, the copy is in the
// store.
GDALDataset* create(const char* name, int columns, int rows, int bands, GDALDataType type,
                    OptionList options);
GDALDataset* create_copy(const char* name, GDALDataset* source, int is_strict, OptionList options,
                         GDALProgressFunc progress, void* progress_data);

// GDAL's entry point; see GDALDriver::pfnCreateMultiDimensional. A failure is reported and leaves
// nothing behind.
GDALDataset* create_multidimensional(const char* name, CSLConstList group_options,
                                     CSLConstList options);

struct NewRaster {
  int columns;
  int rows;
  std::vector<GDALDataType> types;  // of the bands
  // The future geotransform, if it is known and coordinates along X and Y can express it.
  std::optional<GeoTransform> transform;
  // Whether bands differ in type, scale, offset, unit or nodata, of which an array has one each.
  bool bands_differ = false;
  // Of pixels of one bit, which GDAL has as bytes.
  bool has_one_bit = false;
  // Whether it is an error if bands of different types must share an array. Otherwise the array
  // gets a type that holds the values of all bands, with a warning.
  bool keeps_types = false;
};

class RasterCreation {
 public:
  // Throws zarrcore::Error for invalid options.
  RasterCreation(const char* name, CSLConstList option_list);

  // Creates the store, unless a subdataset is appended to one, and an array for all bands or one
  // for each. Throws zarrcore::Error; nothing is left behind then.
  std::unique_ptr<RasterDataset> run(const NewRaster& raster);

  // Removes what run() created. Pending writes of the dataset, if there is one, are dropped, and
  // errors are not reported: the caller reports the one that led here.
  void undo(std::unique_ptr<RasterDataset> dataset);

  // The dataset of run() is what was wanted.
  void accept() const;

  const CreationOptions& options() const { return options_; }
  // Whether run() has begun a new archive.
  bool is_on_network() const { return session_->is_slow(); }
  bool makes_archive() const { return session_->is_new_archive(); }

 private:
  // Throws for an ARRAY_NAME that no new array can have.
  void check_array_name() const;
  std::unique_ptr<RasterDataset> make_dataset(const NewRaster& raster);
  // Creates the groups that do not exist yet on the way to `group`.
  void make_groups(const std::string& group);
  // Whether options imply one array for all bands.
  bool asks_for_one_array() const;
  // Stores which arrays are the bands of the raster.
  void name_bands(const std::vector<std::shared_ptr<Array>>& arrays);
  // Of one band (counted from 0), or of all.
  std::shared_ptr<Array> make_array(const std::string& name, const NewRaster& raster,
                                    std::optional<std::size_t> band);
  GDALDataType common_type(const NewRaster& raster) const;
  // Whether a new array can have an existing dimension of this name: its length and coordinates
  // must be those of the array.
  bool can_share(const std::string& name, std::uint64_t length, const NewRaster& raster) const;

  CSLConstList option_list_;
  CreationOptions options_;
  std::string path_;
  bool is_appended_;
  std::string array_name_;
  std::shared_ptr<Session> session_;
  std::string group_;  // to which an array is appended
  std::shared_ptr<const zarrcore::Json> old_attributes_;
};

// What a copy of `source` is created as. Throws zarrcore::Error when its bands cannot share a type
// and `is_strict`.
NewRaster new_raster_like(GDALDataset& source, bool is_strict);

// Copies all that GDAL knows of a raster: georeferencing, nodata, metadata, colours, then pixels,
// in an order that completes chunks and shards one after the other, then masks. With
// `has_overviews`, builds overviews at the end. Returns false after a CE_Failure, which is also
// reported when the user stops the copy; when it returns true, the copy is in the store. Throws
// zarrcore::Error.
bool copy_raster(GDALDataset& source, RasterDataset& destination, bool is_strict,
                 bool has_overviews, GDALProgressFunc progress, void* progress_data);

}  // namespace gdal_zarr
