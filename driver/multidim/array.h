// An array of a Zarr hierarchy.
#pragma once

#include <gdal_pam.h>

#include <optional>

#include "driver/conventions/packing.h"
#include "driver/conventions/spatial.h"
#include "driver/multidim/session.h"

namespace gdal_zarr {

class Array final : public GDALPamMDArray {
 public:
  static std::shared_ptr<Array> create(std::shared_ptr<Session> session,
                                       std::shared_ptr<const zarrcore::Array> array);

  const zarrcore::Array& core() const { return *array_; }
  const std::string& node_path() const { return array_->path(); }
  const std::shared_ptr<Session>& session() const { return session_; }
  const Packing& packing() const { return packing_; }
  // Attributes that are not told by other means.
  const zarrcore::Json& shown_attributes() const { return shown_attributes_; }

  // Reads a selection into memory of GDAL's making: strides are in bytes. Returns false after a
  // CE_Failure.
  bool read(const zarrcore::Selection& selection, const GDALExtendedDataType& buffer_type,
            void* buffer, zarrcore::Strides strides) const;

  // The attributes of the variable `name` of the array's group or of one above; null when there is
  // none.
  std::shared_ptr<const zarrcore::Json> find_variable(const std::string& name) const;
  // The CRS without an axis mapping, or null. A coarser level of a pyramid that states none has
  // that of the finest.
  std::shared_ptr<OGRSpatialReference> crs() const;
  // The positions of the dimensions X and Y: those that the `spatial:` convention names, else those
  // of these types. Nothing when there is none.
  std::optional<std::size_t> x_dimension() const;
  std::optional<std::size_t> y_dimension() const;
  struct RasterAxes {
    std::size_t x;
    std::size_t y;
  };
  // The positions of X and Y where they have to be some: the last two dimensions unless both are
  // known, for one alone may have a name that means something else. Of two dimensions or more.
  RasterAxes raster_axes() const;
  // The auxiliary coordinate variables that CF's `coordinates` names.
  std::vector<std::shared_ptr<Array>> coordinate_arrays() const;
  // Of a coarser level of a pyramid: the array at the finest one. Null for others.
  std::shared_ptr<Array> finest_level() const;
  // The coarser levels below this array.
  std::vector<std::shared_ptr<Array>> overviews() const;

  bool IsWritable() const override { return false; }
  const std::string& GetFilename() const override { return session_->path(); }
  const std::vector<std::shared_ptr<GDALDimension>>& GetDimensions() const override {
    return dimensions_;
  }
  const GDALExtendedDataType& GetDataType() const override { return type_; }
  std::vector<GUInt64> GetBlockSize() const override;
  CSLConstList GetStructuralInfo() const override { return structural_info_.List(); }
  std::shared_ptr<GDALAttribute> GetAttribute(const std::string& name) const override;
  std::vector<std::shared_ptr<GDALAttribute>> GetAttributes(CSLConstList options) const override;
  const std::string& GetUnit() const override { return packing_.unit; }
  const void* GetRawNoDataValue() const override;
  double GetOffset(bool* has_offset, GDALDataType* storage_type) const override;
  double GetScale(bool* has_scale, GDALDataType* storage_type) const override;
  std::shared_ptr<OGRSpatialReference> GetSpatialRef() const override;
  std::vector<std::shared_ptr<GDALMDArray>> GetCoordinateVariables() const override;
#if GDAL_ZARR_AT_LEAST(3, 8)
  GDALDataset* AsClassicDataset(std::size_t x, std::size_t y,
                                const std::shared_ptr<GDALGroup>& root_group,
                                CSLConstList options) const override;
#else
  GDALDataset* AsClassicDataset(std::size_t x, std::size_t y) const override;
#endif
#if GDAL_ZARR_AT_LEAST(3, 12)
  bool GetRawBlockInfo(const std::uint64_t* position, GDALMDArrayRawBlockInfo& info) const override;
#endif
#if GDAL_ZARR_AT_LEAST(3, 13)
  int GetOverviewCount() const override;
  std::shared_ptr<GDALMDArray> GetOverview(int index) const override;
#endif

 protected:
  bool IRead(const GUInt64* start, const size_t* count, const GInt64* step,
             const GPtrDiff_t* stride, const GDALExtendedDataType& buffer_type,
             void* buffer) const override;
  // Options: CACHE_SIZE, in bytes (half of GDAL's block cache); NUM_THREADS.
  bool IAdviseRead(const GUInt64* start, const size_t* count, CSLConstList options) const override;

 private:
  Array(std::shared_ptr<Session> session, std::shared_ptr<const zarrcore::Array> array,
        const std::string& parent, const std::string& name);
  std::shared_ptr<OGRSpatialReference> own_crs() const;
  GDALDataset* make_classic_dataset(std::size_t x, std::size_t y) const;
  std::optional<std::size_t> find_dimension(const char* type) const;
  std::optional<std::size_t> find_spatial_dimension(std::string SpatialDimensions::*which) const;
  void make_dimensions();
  void make_structural_info();

  std::shared_ptr<Session> session_;
  std::shared_ptr<const zarrcore::Array> array_;
  GDALExtendedDataType type_;
  std::vector<std::shared_ptr<GDALDimension>> dimensions_;
  Packing packing_;
  std::vector<GByte> raw_nodata_;  // of type_
  zarrcore::Json attributes_;
  zarrcore::Json shown_attributes_;
  CPLStringList structural_info_;
};

}  // namespace gdal_zarr
