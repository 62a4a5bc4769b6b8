// A band of the classic view of an array.
#pragma once

#include "driver/raster/raster_dataset.h"

namespace gdal_zarr {

// GDAL's own attribute: one name, or one for each band.
inline constexpr const char* kColorInterpretation = "COLOR_INTERPRETATION";

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
  // The name beside the store. Else, of an array of more dimensions, the one in a list of names, or
  // the place of the band along them (see slice_description.h); of any other array the long_name or
  // the name.
  const char* GetDescription() const override;
  void SetDescription(const char* description) override;
  // What is said of the band in the file beside the store; empty when nothing is.
  std::string name_beside_store() const { return GDALPamRasterBand::GetDescription(); }
  void set_name_beside_store(const std::string& name) {
    if (name != name_beside_store()) GDALPamRasterBand::SetDescription(name.c_str());
  }
  CPLXMLNode* SerializeToXML(const char* path) override;
  int GetOverviewCount() override;
  GDALRasterBand* GetOverview(int index) override;
  MetadataList GetMetadata(const char* domain) override;
  const char* GetMetadataItem(const char* name, const char* domain) override;

 protected:
  CPLErr IReadBlock(int block_x, int block_y, void* buffer) override;
  CPLErr IWriteBlock(int block_x, int block_y, void* buffer) override;
  CPLErr IRasterIO(GDALRWFlag flag, int x, int y, int columns, int rows, void* buffer,
                   int buffer_columns, int buffer_rows, GDALDataType type, GSpacing pixel_space,
                   GSpacing line_space, GDALRasterIOExtraArg* extra) override;

 private:
  const RasterView& view() const;
  Array& array() const;
  CPLErr transfer_block(GDALRWFlag flag, int block_x, int block_y, void* buffer);
  // Whether what belongs to the array can be written to the store.
  bool is_writable() const { return poDS->GetAccess() == GA_Update; }
  void change_description(const char* description);
  // The value where the bands of the array differ, or null where they do not.
  const zarrcore::Json* own_value(BandItem item) const;
  std::optional<double> number(BandItem item) const;  // scale or offset
  void set_value(BandItem item, zarrcore::Json value);
  CPLErr set_number(BandItem item, double number, double default_number);
  RasterDataset& dataset() const { return *static_cast<RasterDataset*>(poDS); }
  // Of the dimensions that make the bands DIM_name_INDEX, DIM_name_VALUE, DIM_name_UNIT and, of
  // times, DIM_name_DATETIME (ISO 8601). Made when first asked for: the values have to be read.
  void make_dimension_metadata();
  void load_dimension_metadata();  // a failure is a CE_Failure
  const char* make_description();
  // That of this band, where there is one for each element of the dimension that makes the bands:
  // rioxarray writes so what a raster's bands are called.
  std::string name_in_list(const zarrcore::Json& names) const;
  // Whether the array's nodata value, of a type for which it is exact, is in `value`.
  template <typename Number>
  bool read_nodata(Number& value) const;
  template <typename Number>
  CPLErr write_nodata(Number value);
  CPLErr set_nodata_of_pam(double value);
  CPLErr set_nodata_of_pam(std::int64_t value);
  CPLErr set_nodata_of_pam(std::uint64_t value);

  bool has_dimension_metadata_ = false;
  std::string slice_description_;  // made with the metadata
  std::string description_;        // the last that make_description() returned
  bool is_serialized_ = false;
};

}  // namespace gdal_zarr
