// An array of a Zarr hierarchy. What is written waits in the session's bounds until it makes whole
// chunks and shards, until somebody reads it, or until it is flushed: by the dataset, or when
// nobody holds the array any more.
#pragma once

#include <gdal_pam.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <set>

#include "driver/conventions/packing.h"
#include "driver/conventions/spatial.h"
#include "driver/conventions/write_georeferencing.h"
#include "driver/multidim/attribute.h"
#include "driver/multidim/session.h"
#include "zarrcore/array/array_writer.h"

namespace gdal_zarr {

class Array final : public GDALPamMDArray, public AttributeOwner {
 public:
  static std::shared_ptr<Array> create(std::shared_ptr<Session> session,
                                       std::shared_ptr<const zarrcore::Array> array);

  // Flushes what is not; a failure is a CE_Failure.
  ~Array() override;
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  const zarrcore::Array& core() const { return *array_; }
  // As it is now, which core() need not be.
  const zarrcore::ArrayMetadata& metadata() const {
    return std::get<zarrcore::ArrayMetadata>(*node_);
  }
  const std::string& node_path() const { return array_->path(); }
  const std::shared_ptr<Session>& session() const { return session_; }
  const Packing& packing() const { return packing_; }
  // Attributes that are not told by other means.
  const zarrcore::Json& shown_attributes() const { return shown_attributes_; }

  // Reads or writes a selection; strides of the buffer are in bytes. Returns false after a
  // CE_Failure.
  bool transfer(GDALRWFlag flag, const zarrcore::Selection& selection,
                const GDALExtendedDataType& buffer_type, void* buffer, zarrcore::Strides strides);
  // Reads elements of an array of one dimension that holds coordinates of others: when it cannot be
  // read, a warning tells so once, and false is returned.
  bool read_coordinates(std::uint64_t start, std::size_t count,
                        const GDALExtendedDataType& buffer_type, void* buffer) const;
  // Puts what waits. Throws zarrcore::Error; what could not be put still waits.
  void flush();
  // Bytes that wait.
  std::uint64_t waiting_bytes() const;

  // In which convention georeferencing is written where the attributes do not follow one yet.
  GeoreferencingConvention convention() const;
  void set_convention(GeoreferencingConvention convention) { convention_ = convention; }

  // Called by the session: for an array that was made just now, in which nothing can be stored, and
  // whose attributes follow from its dimension; and for one that is not there any more.
  void set_new();
  // Until something is written.
  bool is_new() const { return is_new_; }
  // The type of an array of structures from now on, which differs from the old one in its layout.
  void set_compound(const GDALExtendedDataType& type);
  void set_gone();
#if GDAL_ZARR_AT_LEAST(3, 7)
  // Called by the session for all arrays that are resized together; forget_dimensions() follows
  // when the dimensions have their lengths. Throws zarrcore::Error.
  void set_shape(const zarrcore::Shape& shape);
#endif
  // What is next asked of the dimensions is found anew.
  void forget_dimensions();

  // Changes the metadata, which flush() puts. Throws zarrcore::Error.
  void change(const std::function<void(zarrcore::ArrayMetadata&)>& edit);
  void change_packing(const std::function<void(Packing&)>& edit);
  void set_attribute(const std::string& name, const zarrcore::Json& value) override;
  void erase_attribute(const std::string& name) override;
  void rename_attribute(const std::string& name, const std::string& new_name) override;

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

  bool IsWritable() const override { return session_->is_writable(); }
  const std::string& GetFilename() const override { return session_->path(); }
  const std::vector<std::shared_ptr<GDALDimension>>& GetDimensions() const override;
  const GDALExtendedDataType& GetDataType() const override { return type_; }
  std::vector<GUInt64> GetBlockSize() const override;
  CSLConstList GetStructuralInfo() const override { return structural_info_.List(); }
  std::shared_ptr<GDALAttribute> GetAttribute(const std::string& name) const override;
  std::vector<std::shared_ptr<GDALAttribute>> GetAttributes(CSLConstList options) const override;
  std::shared_ptr<GDALAttribute> CreateAttribute(const std::string& name,
                                                 const std::vector<GUInt64>& dimensions,
                                                 const GDALExtendedDataType& type,
                                                 CSLConstList options) override;
  const std::string& GetUnit() const override { return packing_.unit; }
  bool SetUnit(const std::string& unit) override;
  bool SetRawNoDataValue(const void* nodata) override;
  bool SetOffset(double offset, GDALDataType storage_type) override;
  bool SetScale(double scale, GDALDataType storage_type) override;
  bool SetSpatialRef(const OGRSpatialReference* crs) override;
#if GDAL_ZARR_AT_LEAST(3, 7)
  bool Resize(const std::vector<GUInt64>& sizes, CSLConstList options) override;
#endif
#if GDAL_ZARR_AT_LEAST(3, 8)
  bool DeleteAttribute(const std::string& name, CSLConstList options) override;
  bool Rename(const std::string& name) override;
#endif
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
  bool IWrite(const GUInt64* start, const size_t* count, const GInt64* step,
              const GPtrDiff_t* stride, const GDALExtendedDataType& buffer_type,
              const void* buffer) override;
#if GDAL_ZARR_AT_LEAST(3, 8)
  // With UPDATE_METADATA=YES the exact range becomes CF's attribute `actual_range`.
  bool SetStatistics(bool is_approximate, double min, double max, double mean, double deviation,
                     GUInt64 valid_count, CSLConstList options) override;
#endif
  // Options: CACHE_SIZE, in bytes (half of GDAL's block cache); NUM_THREADS.
  bool IAdviseRead(const GUInt64* start, const size_t* count, CSLConstList options) const override;

 private:
  Array(std::shared_ptr<Session> session, std::shared_ptr<const zarrcore::Array> array,
        const std::string& parent, const std::string& name);
  // Beside a store on the network, GDAL cannot put what it caches of an array: it need not look.
  bool IsCacheable() const override;
  std::shared_ptr<OGRSpatialReference> own_crs() const;
  GDALDataset* make_classic_dataset(std::size_t x, std::size_t y) const;
  std::optional<std::size_t> find_dimension(const char* type) const;
  std::optional<std::size_t> find_spatial_dimension(std::string SpatialDimensions::* which) const;
  // What GDAL's arguments mean to the core; strides are in bytes.
  struct Region {
    zarrcore::Selection selection;
    zarrcore::Strides strides;
  };
  Region region(const GUInt64* start, const size_t* count, const GInt64* step,
                const GPtrDiff_t* stride, const GDALExtendedDataType& buffer_type) const;
  // Throws zarrcore::Error.
  void read_elements(const zarrcore::Selection& selection, const GDALExtendedDataType& buffer_type,
                     void* buffer, zarrcore::Strides strides) const;
  bool read(const zarrcore::Selection& selection, const GDALExtendedDataType& buffer_type,
            void* buffer, zarrcore::Strides strides) const;
  bool write(const zarrcore::Selection& selection, const GDALExtendedDataType& buffer_type,
             const void* buffer, zarrcore::Strides strides);
  // The object itself where attributes may be changed through it, else null.
  std::shared_ptr<AttributeOwner> owner() const;
  void check_is_there() const;
  std::shared_ptr<zarrcore::ArrayWriter> writer();
  std::shared_ptr<zarrcore::ArrayWriter> writer_if_any() const;
  // Makes what follows from the metadata.
  void load_metadata();
  void load_nodata();
  void clear_nodata();
  void make_structural_info();
  void make_dimensions(bool with_variables) const;
  std::size_t rank() const { return array_->shape().size(); }

  std::shared_ptr<Session> session_;
  std::shared_ptr<const zarrcore::Array> array_;
  std::shared_ptr<const zarrcore::NodeMetadata> node_;
  GDALExtendedDataType type_;
  mutable std::mutex dimensions_mutex_;
  mutable bool has_dimensions_ = false;
  mutable std::vector<std::shared_ptr<GDALDimension>> dimensions_;
  Packing packing_;
  std::vector<GByte> raw_nodata_;  // of type_, with the strings in it
  zarrcore::Json attributes_;
  zarrcore::Json shown_attributes_;
  CPLStringList structural_info_;

  GeoreferencingConvention convention_ = GeoreferencingConvention::gdal;
  std::atomic<bool> is_new_ = false;
  // Of a new array, until they are made by someone who knows better.
  std::set<std::string> implied_attributes_;
  bool is_gone_ = false;
  mutable std::mutex writer_mutex_;
  std::shared_ptr<zarrcore::ArrayWriter> writer_;  // of the first write on
};

}  // namespace gdal_zarr
