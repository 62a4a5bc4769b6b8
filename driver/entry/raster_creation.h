// Creating the arrays of a new raster, in a new store or an existing one.
#pragma once

#include <cpl_port.h>
#include <gdal.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "driver/conventions/geotransform.h"
#include "driver/multidim/session.h"
#include "driver/new_array/creation_options.h"
#include "driver/raster/raster_dataset.h"

namespace gdal_zarr {

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

}  // namespace gdal_zarr
