// The classic view of an array: a dataset and its bands. Members stand in files by subject:
// raster_dataset.cpp, raster_io.cpp, raster_metadata.cpp, raster_sidecar.cpp,
// raster_georeferencing.cpp, raster_overviews.cpp; some that concern bands are in raster_band.cpp.
#pragma once

#include <gdal_pam.h>
#include <gdal_priv.h>

#include <array>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "driver/conventions/gdal_attributes.h"
#include "driver/conventions/geotransform.h"
#include "driver/gdal/messages.h"
#include "driver/multidim/array.h"
#include "driver/multidim/raster_view.h"
#include "driver/raster/overview_levels.h"

namespace gdal_zarr {

class RasterBand;

// GDAL's domain of metadata about how pixels are stored.
inline constexpr const char* kImageStructure = "IMAGE_STRUCTURE";
// The metadata domain that lists the stored chunks. It is in no list of domains, or copies of a
// dataset would contain it.
inline constexpr const char* kStoredChunks = "STORED_CHUNKS";
// The metadata domain that states the sources of CRS and position.
inline constexpr const char* kGeoreferencingSource = "GEOREFERENCING_SOURCE";

// Scale, offset, unit and nodata of the bands of one array, where bands differ in them.
//
// An item that all bands share is stored in the metadata of the array (conventions/packing.h),
// where every program finds it. An item in which they differ is stored only in the array's
// attribute `gdal:bands`, so that no program applies the value of one band to another. The
// attribute has a list for each such item, with a value or null for each band:
//
//   {"scale": [0.1, 0.5], "unit": ["K", null]}
enum class BandItem : std::uint8_t { scale, offset, unit, nodata };

// Values are JSON: numbers, a string, or a fill value; null where a band has none.
class BandValues {
 public:
  // Beyond this number, all bands have the values of the array.
  static constexpr std::size_t kMaxBands = 65536;

  BandValues(Array& array, std::size_t band_count);

  // The value of a band, or a null pointer if all bands have the array's value.
  const zarrcore::Json* find(BandItem item, std::size_t band) const;
  // Once all bands have the same value, it becomes the array's; until then it is pending.
  // Throws zarrcore::Error.
  void set(BandItem item, std::size_t band, zarrcore::Json value);
  bool has_changed() const { return has_changed_; }
  // Writes pending values to the metadata of the array. Values that other programs have changed for
  // other bands are preserved. Throws zarrcore::Error.
  void store();

 private:
  static constexpr std::size_t kItems = 4;
  using List = zarrcore::Json::array_t;  // empty where the bands agree

  std::array<List, kItems> read_lists() const;
  bool is_same_everywhere(const List& list, std::size_t band) const;
  void set_of_array(BandItem item, const zarrcore::Json& value);

  Array& array_;
  std::size_t band_count_;
  std::array<List, kItems> lists_;
  std::array<std::set<std::size_t>, kItems> changed_bands_;
  bool has_changed_ = false;
};

// The value of an item that an array has for all its bands.
zarrcore::Json value_of_array(const Array& array, BandItem item);

class RasterDataset final : public GDALPamDataset {
 public:
  // `name` is the name that was opened; `subdataset` the array when the store has several. At most
  // `metadata_seconds` are spent on reading the values of dimensions for the metadata of bands.
  // With `turns_north_up`, the rows of a raster that has the south at its top are shown in the
  // opposite order; for reading. `known_sidecars` are files that need not be read; null if all must
  // be.
  RasterDataset(RasterView view, const std::string& name, const std::string& subdataset,
                double metadata_seconds = kDefaultMetadataSeconds, bool turns_north_up = false,
                const SidecarTexts* known_sidecars = nullptr);
  // Opens arrays that have just been created. They have no sidecar, even if an older version left
  // one for arrays of the same names.
  static std::unique_ptr<RasterDataset> of_new_arrays(RasterView view, const std::string& name,
                                                      const std::string& subdataset);
  static constexpr double kDefaultMetadataSeconds = 5;

  // Flushes pending changes; a failure is reported as CE_Failure.
  ~RasterDataset() override;

  const RasterView& view() const { return view_; }
  // Returns true if an attribute `long_name` is a list with a name for each slice of the array.
  bool names_slices(const zarrcore::Json& long_name) const;
  // Ends the changes of the session when the dataset is closed; see Session::end_changes().
  void end_session_when_closed() { ends_session_ = true; }
  // Creates levels without pixels. Throws zarrcore::Error.
  void make_empty_overviews(std::span<const OverviewSize> sizes);
  // Calls build_default_overviews() when the dataset is closed.
  void build_overviews_when_closed() { builds_overviews_when_closed_ = true; }
  // Levels at a half, a quarter… until one fits into a tile of 256 × 256. By average, or by nearest
  // neighbour where pixels are indexes into a colour table.
  bool build_default_overviews(GDALProgressFunc progress, void* progress_data);
  // Computes what the levels have of a window again. Returns false after a CE_Failure.
  bool refresh_overviews(const std::string& resampling, const PixelWindow& changed,
                         GDALProgressFunc progress, void* progress_data);
  // For a raster of several arrays: takes over the sidecar of each.
  void load_sidecars_of_arrays();
  // Other threads may use the dataset's arrays: values derived from their attributes are not
  // updated any more.
  void share_arrays() { shares_arrays_ = true; }
  // Writes everything pending, as FlushCache() does.
  CPLErr flush(bool at_closing);
  // The same without GDAL's files beside the store, which must not remain after a failed copy.
  CPLErr flush_to_store();
  // For a dataset whose arrays are removed: nothing is written any more, not even a sidecar.
  void discard();

  const OGRSpatialReference* GetSpatialRef() const override;
#if GDAL_ZARR_AT_LEAST(3, 12)
  CPLErr GetGeoTransform(GDALGeoTransform& transform) const override;
  CPLErr SetGeoTransform(const GDALGeoTransform& transform) override;
#else
  CPLErr GetGeoTransform(double* transform) override;
  CPLErr SetGeoTransform(double* transform) override;
#endif
  CPLErr SetSpatialRef(const OGRSpatialReference* crs) override;
  int GetGCPCount() override;
  const GDAL_GCP* GetGCPs() override;
  const OGRSpatialReference* GetGCPSpatialRef() const override;
  // In the grid mapping, by the CF convention, if they are all that places the raster; else in the
  // sidecar.
  CPLErr SetGCPs(int count, const GDAL_GCP* points, const OGRSpatialReference* crs) override;
  using GDALPamDataset::SetGCPs;
  // From now on, metadata items of this name are stored apart from the attributes of the arrays.
  void keep_plain(const std::string& name) { plain_names_.insert(name); }
  // Items of the default domain are attributes of the array.
  MetadataList GetMetadata(const char* domain) override;
  const char* GetMetadataItem(const char* name, const char* domain) override;
  CPLErr SetMetadata(MetadataList metadata, const char* domain) override;
  CPLErr SetMetadataItem(const char* name, const char* value, const char* domain) override;

  FlushResult FlushCache(bool at_closing) override;
#if GDAL_ZARR_AT_LEAST(3, 7)
  CPLErr Close(GDAL_ZARR_CLOSE_PARAMETERS) override;
#endif

  // Loads the chunks of a window, for later reads; the size of the buffer does not matter. Options
  // for each band: see Array::advise().
  CPLErr AdviseRead(int x, int y, int columns, int rows, int buffer_columns, int buffer_rows,
                    GDALDataType type, int band_count, int* bands, OptionList options) override;

  // The metadata documents of the raster; chunks are not listed.
  char** GetFileList() override;

  CPLErr CreateMaskBand(int flags) override;
  // The mask of a band (counted from 1) in the store, or null.
  GDALRasterBand* mask_of(int band);
  // Creates a mask for the dataset, or for one band. In a store that cannot have the array, it is a
  // file beside it.
  CPLErr create_mask(int flags, int band);

  // The coarser levels of the pyramid whose finest level this is, the finer first.
  const std::vector<std::unique_ptr<RasterDataset>>& overviews();
  // The overview that suits a request at a lower resolution; the window is changed to the one of
  // the overview. Null when no overview suits.
  RasterDataset* best_overview(int& x, int& y, int& columns, int& rows, int buffer_columns,
                               int buffer_rows, GDALRasterIOExtraArg* extra);

  // Reads or writes without the block cache. Empty for a read that needs more resampling than
  // steps. Writes never use the cache: it would write a partly changed block back as a whole, over
  // pixels that others have written meanwhile.
  std::optional<CPLErr> transfer_directly(GDALRWFlag flag, int x, int y, int columns, int rows,
                                          void* buffer, int buffer_columns, int buffer_rows,
                                          GDALDataType type, std::span<const int> bands,
                                          GSpacing pixel_space, GSpacing line_space,
                                          GSpacing band_space, const GDALRasterIOExtraArg* extra);

 protected:
  CPLErr IRasterIO(GDALRWFlag flag, int x, int y, int columns, int rows, void* buffer,
                   int buffer_columns, int buffer_rows, GDALDataType type, int band_count,
                   BandMap band_map, GSpacing pixel_space, GSpacing line_space, GSpacing band_space,
                   GDALRasterIOExtraArg* extra) override;
  // Into the sidecar of the array.
  CPLErr TrySaveXML() override;
  // In a writable store, overviews are built in the store.
  CPLErr IBuildOverviews(const char* resampling, int count, const int* factors, int band_count,
                         const int* bands, GDALProgressFunc progress, void* progress_data,
                         CSLConstList options) override;

 private:
  friend class RasterBand;

  std::optional<CPLErr> read_decimated(int x, int y, int columns, int rows,
                                       const RasterRequest& request, std::span<const int> bands);

  // An overview of `fine`.
  RasterDataset(RasterView view, const RasterDataset& fine);
  // The indexing variables of the dimensions that make bands, or null. The dataset holds them so
  // that their chunks stay cached.
  const std::vector<std::shared_ptr<GDALMDArray>>& variables_of_bands();
  // The values of the array that a band (counted from 0) belongs to.
  BandValues& values_of_bands(int band);
  void store_values_of_bands();
  void make_bands();
  // Shows the attributes that other programs have changed since the last time; items that were set
  // beside the store stay.
  void refresh_metadata();
  bool shares_arrays_ = false;
  void set_image_structure();
  // The items of the domain STORED_CHUNKS; see Array::stored_chunks().
  MetadataList stored_chunks();
  // A raster of several arrays has no sidecar for itself: its parts are in the sidecars of the
  // arrays.
  void set_sidecar_place();
  // The files that load_sidecars_of_arrays() and load_sidecar() need.
  std::set<std::string> sidecars_to_read() const;
  void load_sidecar();
  void save_sidecar();
  // The sidecar files that exist.
  std::vector<std::string> sidecar_files();
  CPLErr flush_sidecar(bool at_closing);
  CPLErr finish();
  void place(const GeoTransform& transform);
  void store_georeferencing();
  void turn_north_up();
  // Sets colours and wavelengths of the bands as the product states them.
  void set_spectral_bands();
  // Returns true if all bands have the same nodata value, or none.
  bool shares_nodata();
  void forget_nodata() { shares_nodata_.reset(); }
  bool is_writable() const { return eAccess == GA_Update; }
  // Writes and drops the blocks of a window from the block cache.
  void flush_blocks(std::span<const int> bands, int x, int y, int columns, int rows);
  // The shown attributes that all arrays have in common: others are about one band.
  zarrcore::Json shared_attributes() const;
  // The attributes of the array's group, and the root's attributes that the group does not have;
  // empty without a group.
  zarrcore::Json group_attributes() const;
  // Updates an item of the metadata after a change of the attribute of a band.
  void show_attribute(const char* name);
  // The items that are stored apart from other attributes, by name; see kPlainMetadata.
  zarrcore::Json plain_metadata() const;
  // All items of the default domain that the store states, by name.
  zarrcore::Json stored_items() const;
  void change_metadata(CPLStringList metadata, const char* only);
  std::unique_ptr<RasterDataset> dataset_of_array(std::size_t index) const;
  SidecarPlace place_of_array(std::size_t index) const;
  static void copy_band_to_sidecar(RasterBand& from, RasterBand& to);
  RasterBand& band(int number);  // counted from 1
  void save_sidecars_of_arrays();
  void forget_overviews();
  const std::vector<std::unique_ptr<RasterDataset>>& masks();
  // Datasets of overviews and masks, which are flushed with this one.
  std::vector<RasterDataset*> parts() const;
  // Builds levels for all bands at these factors. Other levels stay, unless all are replaced.
  bool make_overviews(const char* resampling, const std::set<int>& factors, bool replaces_all,
                      GDALProgressFunc progress, void* progress_data);
  // Fills existing levels, for some bands.
  bool refill_overviews(const char* resampling, const std::set<int>& factors,
                        std::span<const int> bands, GDALProgressFunc progress, void* progress_data);
  // With a window, only what depends on it.
  bool fill_overviews(const char* resampling, std::span<RasterDataset* const> levels,
                      std::span<const int> bands, GDALProgressFunc progress, void* progress_data,
                      std::optional<PixelWindow> changed = {});

  // Set by the destructor. The first member, so that it covers the destructors of the others.
  std::optional<FirstFailure> closing_;
  RasterView view_;
  std::shared_ptr<OGRSpatialReference> crs_;
  bool crs_is_of_points_ = false;  // of ground control points alone
  std::optional<GeoTransform> geotransform_;
  // The ground control points of the store, read on first use.
  struct ControlPoints {
    std::vector<GroundControlPoint> stored;
    std::vector<GDAL_GCP> list;  // its texts belong to `stored`
    std::shared_ptr<OGRSpatialReference> crs;
    bool are_read = false;
    bool are_of_product = false;  // not the array's own
  };
  ControlPoints& control_points();
  bool stores_gcps(const OGRSpatialReference* crs) const;
  ControlPoints control_points_;
  std::set<std::string> plain_names_;
  std::deque<CPLStringList> stored_chunks_;  // that callers may still be using
  zarrcore::Json read_items_;                // what the store stated when the metadata were set
  // The attributes that state the geotransform; null if none do.
  std::shared_ptr<const zarrcore::Json> placing_;
  std::optional<bool> shares_nodata_;
  std::string subdataset_;
  SidecarPlace sidecar_place_;
  SidecarTexts sidecar_texts_;  // until they are loaded
  std::string loaded_sidecar_;  // the file; empty for none
  bool has_new_arrays_ = false;
  // True if the sidecar of an older version must no longer be used.
  bool hides_older_sidecar_ = false;
  bool georeferencing_has_changed_ = false;
  bool builds_overviews_when_closed_ = false;
  bool ends_session_ = false;
  bool is_finished_ = false;
  bool is_discarded_ = false;
  bool is_overview_ = false;
  std::optional<std::vector<std::unique_ptr<RasterDataset>>> overviews_;
  std::uint64_t overviews_generation_ = 0;                     // of the pyramids they are from
  std::vector<std::unique_ptr<RasterDataset>> old_overviews_;  // that no longer are
  std::optional<std::vector<std::unique_ptr<RasterDataset>>> masks_;
  std::optional<std::vector<std::shared_ptr<GDALMDArray>>> variables_of_bands_;
  std::vector<BandValues> band_values_;                // of each array, created on first use
  double metadata_seconds_ = kDefaultMetadataSeconds;  // that are left
};

// An array of cells of a HEALPix grid, shown as a raster of longitude and latitude: each pixel has
// the value of the cell that contains its centre. For programs that draw rasters.
// A pixel has 22.5/2^level degrees, so that no cell is left out. `slice` has an index for each
// dimension except the one of the cells; if it is empty, these dimensions become bands. `name` and
// `subdataset` are as for RasterDataset. Throws zarrcore::Error if the array has no such grid, or
// is too large. The caller owns the dataset.
GDALDataset* open_on_the_sphere(const std::shared_ptr<Array>& array,
                                const std::vector<std::uint64_t>& slice, const std::string& name,
                                const std::string& subdataset);

// The place of the sidecar of a raster of one array. `subdataset` is the name of its part in older
// versions; empty if it was outside of all parts.
SidecarPlace sidecar_place(const RasterView& view, const std::string& subdataset);

// Copies the sidecar of the array at `from_path`, if it has one, to the array at `to_path`. Both
// stores are folders. Throws zarrcore::Error.
void copy_sidecar(zarrcore::Store& from, const std::string& from_path, zarrcore::Store& to,
                  const std::string& to_path);

// Copies what Zarr cannot express, and GDAL stores in the sidecar: ground control points, and
// metadata of other domains than the default one.
void copy_unstored(GDALDataset& source, GDALDataset& destination);

// The same of a band: metadata, colour table, names of categories, attribute table, and a stored
// histogram.
void copy_unstored(GDALRasterBand& source, GDALRasterBand& destination);

}  // namespace gdal_zarr
