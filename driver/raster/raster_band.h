// A band of the classic view of an array. Members stand in files by subject: raster_band.cpp,
// raster_band_values.cpp, raster_band_metadata.cpp, raster_io.cpp.
#pragma once

#include <cpl_string.h>
#include <gdal_rat.h>

#include <memory>
#include <optional>
#include <string>

#include "driver/conventions/cf/flags.h"
#include "driver/raster/raster_dataset.h"

namespace gdal_zarr {

// The attribute with the name of an array, or the names of its slices.
inline constexpr const char* kLongName = "long_name";

// The description of a slice of an array, from the metadata of its band:
// "time=2020-01-01T00:00, level=500 hPa" from the items DIM_name_INDEX, DIM_name_VALUE,
// DIM_name_UNIT and DIM_name_DATETIME. A dimension without a value is given by its index. Empty
// without such items.
std::string describe_slice(CSLConstList metadata);

class RasterBand final : public GDALPamRasterBand {
 public:
  RasterBand(RasterDataset* dataset, int band);

  double GetNoDataValue(int* success) override;
  int64_t GetNoDataValueAsInt64(int* success) override;
  uint64_t GetNoDataValueAsUInt64(int* success) override;
  CPLErr SetNoDataValue(double value) override;
  CPLErr SetNoDataValueAsInt64(int64_t value) override;
  CPLErr SetNoDataValueAsUInt64(uint64_t value) override;
  CPLErr DeleteNoDataValue() override;
  double GetOffset(int* success) override;
  CPLErr SetOffset(double offset) override;
  double GetScale(int* success) override;
  CPLErr SetScale(double scale) override;
  const char* GetUnitType() override;
  CPLErr SetUnitType(const char* unit) override;
  GDALColorInterp GetColorInterpretation() override;
  CPLErr SetColorInterpretation(GDALColorInterp interpretation) override;
  // A gray band, or one without colours, becomes one of palette indices.
  CPLErr SetColorTable(GDALColorTable* table) override;
  // The categories in the sidecar, else the meanings of the array's flags.
  char** GetCategoryNames() override;
  // As flags, by the CF convention, or if the array has flags, and each band is an array. In the
  // sidecar else, and if flags cannot express them.
  CPLErr SetCategoryNames(char** names) override;
  GDALRasterAttributeTable* GetDefaultRAT() override;
  CPLErr SetStatistics(double min, double max, double mean, double deviation) override;
  // Forgets the statistics and histograms in the sidecar, because pixels change.
  void drop_statistics();
  // The name in the sidecar. Else, for an array of more dimensions, the one in a list of names, or
  // the position of the band along them (describe_slice()); else the long_name of the array,
  // or, if each band is an array, its name.
  const char* GetDescription() const override;
  void SetDescription(const char* description) override;
  // The description in the sidecar; empty when it has none.
  std::string sidecar_name() const { return GDALPamRasterBand::GetDescription(); }
  void set_sidecar_name(const std::string& name) {
    if (name != sidecar_name()) GDALPamRasterBand::SetDescription(name.c_str());
  }
  // Stores the name of a slice in the list `long_name` of its array. Returns false if that is the
  // name of the whole array, or no list can be.
  bool set_name_in_list(const std::string& name);
  CPLErr AdviseRead(int x, int y, int columns, int rows, int buffer_columns, int buffer_rows,
                    GDALDataType type, OptionList options) override;
  CPLXMLNode* SerializeToXML(const char* path) override;
  GDALRasterBand* GetMaskBand() override;
  int GetMaskFlags() override;
  CPLErr CreateMaskBand(int flags) override;
  int GetOverviewCount() override;
  GDALRasterBand* GetOverview(int index) override;
  MetadataList GetMetadata(const char* domain) override;
  const char* GetMetadataItem(const char* name, const char* domain) override;

 protected:
  CPLErr IReadBlock(int block_x, int block_y, void* buffer) override;
  CPLErr IWriteBlock(int block_x, int block_y, void* buffer) override;
  // Pixels of missing chunks are no data.
  int IGetDataCoverageStatus(int x, int y, int columns, int rows, int stop_mask,
                             double* percentage) override;
  CPLErr IRasterIO(GDALRWFlag flag, int x, int y, int columns, int rows, void* buffer,
                   int buffer_columns, int buffer_rows, GDALDataType type, GSpacing pixel_space,
                   GSpacing line_space, GDALRasterIOExtraArg* extra) override;

 private:
  std::size_t color_place() const;
  friend class RasterDataset;

  const RasterView& view() const;
  Array& array() const;
  CPLErr transfer_block(GDALRWFlag flag, int block_x, int block_y, void* buffer);
  bool is_writable() const { return poDS->GetAccess() == GA_Update; }
  // The value of this band where the bands of the array differ, else null.
  const zarrcore::Json* own_value(BandItem item) const;
  std::optional<double> number(BandItem item) const;  // scale or offset
  void set_value(BandItem item, zarrcore::Json value);
  CPLErr set_number(BandItem item, double number, double default_number);
  RasterDataset& dataset() const { return *static_cast<RasterDataset*>(poDS); }
  // For each dimension that makes bands: DIM_name_INDEX, DIM_name_VALUE, DIM_name_UNIT and, for
  // times, DIM_name_DATETIME (ISO 8601). Computed on first use, because the values have to be read.
  void make_dimension_metadata();
  void read_flags();
  void load_image_structure();
  bool missing_is_nodata();
  // The channel of OME-Zarr that the band shows, and its dimension as an index in other_axes().
  struct ShownChannel {
    std::size_t axis;
    Channel channel;
  };
  std::optional<ShownChannel> channel() const;
  void load_dimension_metadata();  // a failure is a CE_Failure
  const char* make_description();
  // The name of this band in a list with one for each element of the dimension that makes bands, as
  // rioxarray writes them.
  std::string name_in_list(const zarrcore::Json& names) const;
  // The name of the array, if it distinguishes this band from the others.
  std::string name_among_bands() const;
  // Returns false when there is no nodata value, or none that is a real number.
  template <typename Number>
  bool read_nodata(Number& value) const;
  template <typename Number>
  CPLErr write_nodata(Number value);
  template <typename Number, typename Fallback>
  Number nodata_or(int* success, const Fallback& fallback) const;
  CPLErr set_nodata_of_pam(double value);
  CPLErr set_nodata_of_pam(std::int64_t value);
  CPLErr set_nodata_of_pam(std::uint64_t value);

  bool has_dimension_metadata_ = false;
  std::string slice_description_;  // set with the metadata
  std::string description_;        // the last that make_description() returned
  bool is_serialized_ = false;
  GDALColorInterp stated_color_ = GCI_Undefined;  // by the product
  cf::Flags flags_;
  CPLStringList categories_;                                     // of the flags
  std::unique_ptr<GDALDefaultRasterAttributeTable> flag_table_;  // null without flags
};

}  // namespace gdal_zarr
