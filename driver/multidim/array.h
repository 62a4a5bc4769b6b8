// An array of a Zarr hierarchy. Its members stand in files by subject: array.cpp (the object and
// its dimensions), array_io.cpp (elements), array_chunks.cpp, array_metadata.cpp (with the
// georeferencing), copied_array.cpp (copying from another array).
//
// Written elements stay pending, within the limits of the session, until they make whole chunks and
// shards, until they are read, or until they are flushed: by the dataset, or when the last owner of
// the array lets go of it.
#pragma once

#include <gdal_pam.h>

#include <atomic>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>

#include "driver/conventions/evidence.h"
#include "driver/conventions/packing.h"
#include "driver/conventions/write_georeferencing.h"
#include "driver/gdal/messages.h"
#include "driver/gdal/worker_scope.h"
#include "driver/multidim/attribute.h"
#include "driver/multidim/session.h"
#include "driver/new_array/new_array.h"
#include "driver/virtual/array_blocks.h"
#include "zarrcore/array/array_writer.h"

namespace gdal_zarr {

// The option of a raster's BuildOverviews() that removes the levels that are not in its list.
inline constexpr const char* kReplacesOverviews = "@REPLACE";

// The parameters with which a program has created an array.
struct ArrayCreation {
  NewArray array;
  CPLStringList options;
};

class Array final : public WithAttributes<GDALPamMDArray> {
 public:
  static std::shared_ptr<Array> create(std::shared_ptr<Session> session,
                                       std::shared_ptr<const zarrcore::Array> array);

  // Flushes pending elements; a failure is reported as CE_Failure.
  ~Array() override;
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  const std::shared_ptr<Session>& session() const { return session_; }
  const std::string& node_path() const { return array_->path(); }
  const zarrcore::Array& core() const { return *array_; }
  // The current metadata, which core() may not have yet.
  const zarrcore::ArrayMetadata& metadata() const { return *metadata_; }
  const Packing& packing() const { return packing_; }
  // Scale and offset of the array. Values set in a store opened for reading override the stored
  // ones.
  std::optional<double> scale() const;
  std::optional<double> offset() const;
  // Includes attributes that follow from the type, and leaves out netCDF-C's own.
  const zarrcore::Json& attributes() const { return *attributes_; }
  // The attributes that GDAL has no other API for.
  std::shared_ptr<const zarrcore::Json> shown_attributes() const;

  // Elements.

  // Reads or writes a selection; strides of the buffer are in bytes. Returns false after a
  // CE_Failure.
  bool transfer(GDALRWFlag flag, const zarrcore::Selection& selection,
                const GDALExtendedDataType& buffer_type, void* buffer, zarrcore::Strides strides);
  // Reads some rows of an array that holds coordinates of other arrays, or all of one dimension:
  // `count` from `start` on along the first dimension. When it cannot be read, warns once and
  // returns false.
  bool read_coordinates(std::uint64_t start, std::size_t count,
                        const GDALExtendedDataType& buffer_type, void* buffer) const;
  // Converts one element of GetDataType() to the stored type (item_size bytes; for a type of
  // variable length, the content), and back. Throw zarrcore::Error.
  std::vector<std::byte> stored_element(const void* element) const;
  void gdal_element(const std::vector<std::byte>& stored, void* element) const;
  // Loads the chunks of a selection, for later reads. Options: CACHE_SIZE, in bytes (half of GDAL's
  // block cache); NUM_THREADS. Throws zarrcore::Error, also when they do not fit.
  void advise(const zarrcore::Selection& selection, CSLConstList options) const;
  // Says that a large selection will be read in parts. False when advise() is better: it is small,
  // or prefetching is not allowed.
  bool expect_reads(const zarrcore::Selection& selection) const;
  // The number of elements of a selection, with steps of 1, in stored chunks, and in all chunks. On
  // request, stops at the first stored or missing chunk. Empty if it would take too many requests,
  // or for a grid that is not regular. Throws zarrcore::Error.
  struct Coverage {
    std::uint64_t stored = 0;
    std::uint64_t all = 0;
  };
  std::optional<Coverage> coverage(const zarrcore::Selection& selection, bool stops_at_stored,
                                   bool stops_at_missing);
  // Puts everything pending. Throws zarrcore::Error; what could not be put stays pending.
  void flush() const;
  // Stores the chunks that are not, with the values that they have. Throws zarrcore::Error.
  void store_missing_chunks();
  // Stops background writes until the next write or flush; pending elements stay pending.
  void stop_writing();
  std::uint64_t pending_bytes() const;
  // Sets whether written chunks that contain only the fill value are stored, until this object
  // ends. To be called before the first write.
  void set_stores_empty_chunks(bool stores) { stores_empty_chunks_ = stores; }
  bool stores_empty_chunks() const { return stores_empty_chunks_; }

  // Blocks of other files as chunks of a new array of references; see driver/virtual/.

  // Prepares the array, in which nothing is stored yet, for such chunks. Throws zarrcore::Error if
  // its data type differs.
  void set_blocks(const BlockLayout& layout);
  // Makes a reference the chunk at a position in the grid.
  void put_block(std::span<const std::uint64_t> chunk, Reference reference);

  // Makes the blocks of `source`, for which set_blocks() was called, the chunks; copies elements of
  // others. Returns false after a CE_Failure. Throws zarrcore::Error.
  bool refer_to(const GDALMDArray& source, const ArrayBlocks& blocks, PartialProgress& progress);

  // Metadata.

  // Changes the metadata, which flush() puts. Throws zarrcore::Error.
  void change(const std::function<void(zarrcore::ArrayMetadata&)>& edit);
  // Takes over attributes that other programs have changed, with all that follows from them.
  // Returns true if there were any. No other thread may use the array meanwhile.
  bool refresh_metadata();
  void change_packing(const std::function<void(Packing&)>& edit);
  void change_attributes(const std::function<void(zarrcore::Json& attributes)>& edit) override;
  // Replaces the type of an array of structures by one of another layout.
  void set_compound(const GDALExtendedDataType& type);

  // Georeferencing.

  // The convention for writing georeferencing: the convention that the attributes already follow,
  // else the one set by set_convention().
  GeoreferencingConvention convention() const;
  void set_convention(GeoreferencingConvention convention) { convention_ = convention; }
  // The attributes of the group that holds the array, and of the root. For an array opened by its
  // own path, these are groups above the store. If there are none: an empty object, and null.
  std::shared_ptr<const zarrcore::Json> group_attributes() const;
  std::shared_ptr<const zarrcore::Json> root_attributes() const;
  // Everything that may state the position of the array; see conventions/position.h.
  Evidence evidence() const;
  // The positions of X and Y in an array of at least two dimensions.
  RasterAxes raster_axes() const;
  // The CRS that was set in a store opened for reading; null if no CRS was set.
  std::shared_ptr<OGRSpatialReference> pam_crs() const;
  // The pyramid that the array belongs to, also if it is opened by its own path and a group above
  // describes it.
  std::optional<PyramidMember> pyramid() const;
  // The same array at the finest level of its pyramid; null for arrays that are at no coarser
  // level.
  std::shared_ptr<Array> finest_level() const;
  std::vector<std::shared_ptr<Array>> overviews() const;

  // Lets a copy of another array preserve more of it than GDAL's copying code knows.
  void set_creation(ArrayCreation creation) { creation_ = std::move(creation); }
  // For each dimension of a new array, the name of an existing dimension that it would share if the
  // coordinates were equal; empty names, or no names at all, where there is no such dimension.
  const std::vector<std::string>& shareable_names() const { return shareable_names_; }
  void set_shareable_names(std::vector<std::string> names) { shareable_names_ = std::move(names); }

  // Called by the session.

  // Marks the array as created just now: nothing is stored in it, and its attributes follow from
  // its dimension. It stays new until the first write.
  void set_new();
  bool is_new() const { return is_new_; }
  // The array was removed, or has another path: flush() precedes. Throws zarrcore::Error.
  void set_deleted();
  void set_node_path(const std::string& node_path);
  // Called by resize_arrays() for each of the arrays that it resizes together; then, when the
  // dimensions have their new lengths, forget_dimensions(). Throws zarrcore::Error.
  void set_shape(const zarrcore::Shape& shape);
  void forget_dimensions();
  // The dimensions of the array, one for each of its axes. Throws Error when they cannot be
  // determined.
  const std::vector<std::shared_ptr<GDALDimension>>& known_dimensions() const;

  // All that CopyFrom() does before it copies values. False after a CE_Failure; throws
  // zarrcore::Error.
  bool copy_metadata(GDALDataset* source_dataset, const Array& source);

  // GDALMDArray.

  bool IsWritable() const override { return session_->is_writable(); }
  // Copies the values in slabs; see copied_array.h.
  bool CopyFrom(GDALDataset* source_dataset, const GDALMDArray* source, bool is_strict,
                GUInt64& cost, GUInt64 total_cost, GDALProgressFunc progress,
                void* progress_data) override;
  const std::string& GetFilename() const override { return session_->path(); }
  const std::vector<std::shared_ptr<GDALDimension>>& GetDimensions() const override;
  const GDALExtendedDataType& GetDataType() const override { return type_; }
  std::vector<GUInt64> GetBlockSize() const override;
  // With ZARR_COUNT_CHUNKS=YES, it includes stored_chunks().
  CSLConstList GetStructuralInfo() const override;
  // How many chunks there are, how many of them are stored, and their bytes, by listing the store;
  // of shards, the same of inner chunks, by their indexes. Throws zarrcore::Error.
  CPLStringList stored_chunks() const;
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
  CPLErr BuildOverviews(const char* resampling, int count, const int* factors,
                        GDALProgressFunc progress, void* progress_data,
                        CSLConstList options) override;
#endif

 protected:
  bool IRead(const GUInt64* start, const size_t* count, const GInt64* step,
             const GPtrDiff_t* stride, const GDALExtendedDataType& buffer_type,
             void* buffer) const override;
  bool IWrite(const GUInt64* start, const size_t* count, const GInt64* step,
              const GPtrDiff_t* stride, const GDALExtendedDataType& buffer_type,
              const void* buffer) override;
#if GDAL_ZARR_AT_LEAST(3, 8)
  // With UPDATE_METADATA=YES the exact range becomes the attribute `actual_range` of CF.
  bool SetStatistics(bool is_approximate, double min, double max, double mean, double deviation,
                     GUInt64 valid_count, CSLConstList options) override;
#endif
  bool IAdviseRead(const GUInt64* start, const size_t* count, CSLConstList options) const override;

 private:
  Array(std::shared_ptr<Session> session, std::shared_ptr<const zarrcore::Array> array,
        const std::string& parent, const std::string& name);
  // False beside a store on the network, where GDAL cannot put an .aux.xml file: it need not look.
  bool IsCacheable() const override;
  std::size_t rank() const { return array_->shape().size(); }
  std::string description() const override { return "array " + GetFullName(); }
  std::string attributes_name() const override { return GetFullName(); }
  std::shared_ptr<AttributeOwner> owner() const override;
  std::shared_ptr<const zarrcore::Json> visible_attributes(bool show_all) const override;
  std::shared_ptr<const zarrcore::Json> find_visible(const std::string& name) const override;
  bool has_attribute(const std::string& name) const override;
  // With `with_variables`, dimensions have types and coordinates, for which the store is read.
  void make_dimensions(bool with_variables) const;
  GDALDataset* make_classic_dataset(std::size_t x, std::size_t y) const;

  // GDAL's arguments in the core's terms; strides are in bytes.
  struct Region {
    zarrcore::Selection selection;
    zarrcore::Strides strides;
  };
  Region region(const GUInt64* start, const size_t* count, const GInt64* step,
                const GPtrDiff_t* stride, const GDALExtendedDataType& buffer_type) const;
  // Throw zarrcore::Error.
  void read(const zarrcore::Selection& selection, const GDALExtendedDataType& buffer_type,
            void* buffer, zarrcore::Strides strides) const;
  void write(const zarrcore::Selection& selection, const GDALExtendedDataType& buffer_type,
             const void* buffer, zarrcore::Strides strides);
  // Removes the statistics in the sidecar, because elements change.
  void drop_statistics();
  std::shared_ptr<zarrcore::ArrayWriter> writer();
  std::shared_ptr<zarrcore::ArrayWriter> writer_if_any() const;

  // Gives a new array the stored type, fill value, chunks and codecs of the array that it copies,
  // as far as its format can express them. Returns false if it can express none of them.
  bool copy_layout(const Array& original);
  bool copy_metadata(GDALDataset* source_dataset, const GDALMDArray& source, const Array* original,
                     bool is_strict, GUInt64& cost, GUInt64 total_cost, GDALProgressFunc progress,
                     void* progress_data);
  bool copy_box(const GDALMDArray& source, const zarrcore::Box& box, bool may_be_missing,
                zarrcore::Buffer& buffer);
  // Sets the members that follow from the metadata.
  void load_metadata();
  // The same for an array that has just been opened with another layout.
  void load_layout();
  // The metadata as other programs have changed it since; null if it is the same.
  std::shared_ptr<const zarrcore::ArrayMetadata> newer_metadata() const;
  std::shared_ptr<const zarrcore::Json> all_attributes(
      const std::shared_ptr<const zarrcore::ArrayMetadata>& newer) const;
  // Scale or offset. In a store opened for reading they are set beside it.
  std::optional<double> stated(std::optional<double> PamValues::Values::* beside,
                               std::optional<double> Packing::* stored) const;
  bool state(std::optional<double> PamValues::Values::* beside,
             std::optional<double> Packing::* stored, double value);
  void load_nodata();
  void clear_nodata();

  std::shared_ptr<Session> session_;
  std::shared_ptr<const zarrcore::Array> array_;
  std::shared_ptr<const zarrcore::ArrayMetadata> read_metadata_;  // as the store has it
  std::shared_ptr<const zarrcore::ArrayMetadata> metadata_;
  zarrcore::DataType element_type_;
  GDALExtendedDataType type_;
  mutable std::mutex dimensions_mutex_;
  mutable bool has_dimensions_ = false;
  mutable std::vector<std::shared_ptr<GDALDimension>> dimensions_;
  // The coordinates of regular dimensions, which this array owns: views rely on that.
  mutable std::vector<std::shared_ptr<GDALMDArray>> computed_coordinates_;
  Packing packing_;
  std::vector<GByte> raw_nodata_;  // of type_, and the owner of its strings
  std::shared_ptr<const zarrcore::Json> attributes_;
  mutable std::mutex attributes_mutex_;  // guards the one above and the one below
  mutable std::shared_ptr<const zarrcore::Json> shown_attributes_;  // null before they are needed
  CPLStringList structural_info_;
  mutable std::mutex counted_mutex_;
  mutable std::deque<CPLStringList> counted_infos_;  // that callers may still be using

  GeoreferencingConvention convention_ = GeoreferencingConvention::gdal;
  std::atomic<bool> is_new_ = false;
  std::optional<ArrayCreation> creation_;
  std::function<bool()> brings_crs_;  // while metadata are copied: whether they contain the CRS
  bool stores_empty_chunks_ = false;
  std::vector<std::string> shareable_names_;
  mutable std::mutex writer_mutex_;
  // Messages of background writer threads; reported by the next write or flush.
  std::shared_ptr<WorkerMessages> writer_messages_ = std::make_shared<WorkerMessages>();
  std::shared_ptr<zarrcore::ArrayWriter> writer_;  // from the first write on
};

// How an array is stored. In GDAL's terms: what GetStructuralInfo() and GetRawBlockInfo() list.
// Codecs are JSON, spaced as GDAL's own.
//
//   COMPRESSOR      the compressor of `.zarray` in v2, else the last codec after `bytes`
//   FILTERS         the list of filters of `.zarray` in v2, else of the codecs between the two
//   data_type.name  of a data type with a configuration; data_type.unit… its members

// Returns true if the arrays have the same shape, type, fill value, chunks and codecs.
bool has_same_layout(const zarrcore::ArrayMetadata& a, const zarrcore::ArrayMetadata& b);

// Also has CODECS, the whole chain as in v3.
CPLStringList structural_info(const zarrcore::Format& format, const zarrcore::ArrayMetadata& array,
                              const std::string& node_path);

// The information needed to decode the bytes of one block: of an inner chunk if the array is
// sharded. Also has ENDIANNESS=LITTLE or BIG for types of more than one byte, TRANSPOSE_ORDER=[1,0]
// if dimensions are stored in another order, CHUNK_TYPE=INNER for an inner chunk, and CODECS where
// all that does not describe the whole chain.
CPLStringList block_info(const zarrcore::Format& format, const zarrcore::ArrayMetadata& array,
                         const std::string& node_path);

// The value of the creation option COMPRESS ("ZSTD", "GZIP"…), for IMAGE_STRUCTURE: programs create
// copies with it. Empty unless exactly one codec follows `bytes`, in the innermost chunks.
std::string compression_name(const zarrcore::ArrayMetadata& array);

}  // namespace gdal_zarr
