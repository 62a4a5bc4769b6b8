// What an array does for those who write.
#include <algorithm>
#include <cmath>

#include "driver/gdal/error_guard.h"
#include "driver/gdal/worker_scope.h"
#include "driver/multidim/array.h"
#include "driver/multidim/georeferencing.h"
#include "driver/multidim/georeferencing_write.h"
#include "driver/types/element_encoder.h"
#include "zarrcore/array/resize.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"

namespace gdal_zarr {

using zarrcore::Error;
using zarrcore::Json;

namespace {

zarrcore::WriteOptions write_options(CallerState& caller) {
  zarrcore::WriteOptions options;
  options.threads = thread_count();
  options.worker_scope = caller.scope();
  return options;
}

}  // namespace

Array::~Array() {
  guarded(false, [this] {
    flush();
    return true;
  });
  clear_nodata();
}

void Array::check_is_there() const {
  if (is_gone_) throw Error("array " + GetFullName() + " was removed or renamed");
}

void Array::set_new() {
  is_new_ = true;
  for (const auto& [name, value] : metadata().attributes.items()) implied_attributes_.insert(name);
}

void Array::set_gone() {
  is_gone_ = true;
  const std::lock_guard lock(writer_mutex_);
  writer_.reset();
}

std::shared_ptr<AttributeOwner> Array::owner() const {
  if (!session_->is_writable() || is_gone_) return nullptr;
  return std::dynamic_pointer_cast<AttributeOwner>(m_pSelf.lock());
}

GeoreferencingConvention Array::convention() const {
  const auto own = georeferencing_convention(metadata().attributes);
  return own == GeoreferencingConvention::gdal ? convention_ : own;
}

void Array::change(const std::function<void(zarrcore::ArrayMetadata&)>& edit) {
  check_is_there();
  session_->changing_hierarchy().update_node(node_path(), [&](zarrcore::NodeMetadata& node) {
    edit(std::get<zarrcore::ArrayMetadata>(node));
  });
  load_metadata();
}

void Array::set_attribute(const std::string& name, const Json& value) {
  change([&](zarrcore::ArrayMetadata& metadata) { metadata.attributes[name] = value; });
}

void Array::erase_attribute(const std::string& name) {
  change([&](zarrcore::ArrayMetadata& metadata) { metadata.attributes.erase(name); });
}

void Array::rename_attribute(const std::string& name, const std::string& new_name) {
  change([&](zarrcore::ArrayMetadata& metadata) {
    metadata.attributes = with_renamed_attribute(metadata.attributes, name, new_name);
  });
}

std::shared_ptr<GDALAttribute> Array::CreateAttribute(const std::string& name,
                                                      const std::vector<GUInt64>& dimensions,
                                                      const GDALExtendedDataType& type,
                                                      CSLConstList /*options*/) {
  return guarded<std::shared_ptr<GDALAttribute>>(nullptr, [&] {
    Json present = metadata().attributes;
    if (implied_attributes_.contains(name)) present.erase(name);
    auto attribute = create_attribute(GetFullName(), present, name, dimensions, type, owner());
    implied_attributes_.erase(name);
    return attribute;
  });
}

#if GDAL_ZARR_AT_LEAST(3, 7)
bool Array::Resize(const std::vector<GUInt64>& sizes, CSLConstList /*options*/) {
  return guarded(false, [&] {
    check_is_there();
    if (sizes.size() != rank()) {
      throw Error("array " + GetFullName() + ": " + std::to_string(sizes.size()) +
                  " lengths are given for its " + std::to_string(rank()) + " dimensions");
    }
    session_->resize(*this, {sizes.begin(), sizes.end()});
    return true;
  });
}

void Array::set_shape(const zarrcore::Shape& shape) {
  flush();
  if (shape == array_->shape()) return;
  const auto old = array_;
  change([&](zarrcore::ArrayMetadata& metadata) { metadata.shape = shape; });
  session_->changing_hierarchy().flush_node(node_path());
  array_ = session_->reopen_array(node_path());
  {
    const std::lock_guard lock(writer_mutex_);
    writer_.reset();
  }
  CallerState caller;
  zarrcore::resize(*old, shape, write_options(caller));
}
#endif

#if GDAL_ZARR_AT_LEAST(3, 8)
bool Array::DeleteAttribute(const std::string& name, CSLConstList /*options*/) {
  return guarded(false, [&] {
    if (!metadata().attributes.contains(name)) {
      throw Error("array " + GetFullName() + " has no attribute " + name);
    }
    erase_attribute(name);
    return true;
  });
}

bool Array::SetStatistics(bool is_approximate, double min, double max, double mean,
                          double deviation, GUInt64 valid_count, CSLConstList options) {
  const bool is_told = CPLTestBool(CSLFetchNameValueDef(options, "UPDATE_METADATA", "NO"));
  const bool is_set = !is_told || is_approximate || guarded(false, [&] {
    // Integers as such, as far as a float64 is exact.
    const bool is_integer = GDALDataTypeIsInteger(type_.GetNumericDataType()) != 0 &&
                            std::max(std::abs(min), std::abs(max)) <= 0x1p53;
    const auto number = [&](double value) {
      return is_integer ? Json(static_cast<std::int64_t>(value)) : Json(value);
    };
    set_attribute("actual_range", Json::array({number(min), number(max)}));
    return true;
  });
  return GDALPamMDArray::SetStatistics(is_approximate, min, max, mean, deviation, valid_count,
                                       options) &&
         is_set;
}

bool Array::Rename(const std::string& name) {
  return guarded(false, [&] {
    check_is_there();
    const auto self = std::dynamic_pointer_cast<Array>(m_pSelf.lock());
    const std::string path = zarrcore::join_path(zarrcore::parent_path(node_path()), name);
    session_->rename_node(node_path(), name);
    is_gone_ = false;
    session_->adopt_array(path, self);
    array_ = session_->reopen_array(path);
    load_metadata();
    forget_dimensions();
    BaseRename(name);
    return true;
  });
}
#endif

void Array::change_packing(const std::function<void(Packing&)>& edit) {
  check_is_there();
  Packing packing = packing_;
  edit(packing);
  const PackingChange written = write_packing(metadata(), packing, is_new_);
  if (written.fill_value && !is_new_) {
    throw Error("array " + GetFullName() +
                ": its fill value means nodata, and is what absent chunks hold: it cannot go");
  }
  change([&](zarrcore::ArrayMetadata& metadata) {
    metadata.attributes = apply_change(std::move(metadata.attributes), written.attributes);
    if (written.fill_value) metadata.fill_value = written.fill_value->element;
  });
  if (written.fill_value) array_ = session_->reopen_array(node_path());
}

bool Array::SetUnit(const std::string& unit) {
  return guarded(false, [&] {
    change_packing([&](Packing& packing) { packing.unit = unit; });
    return true;
  });
}

bool Array::SetOffset(double offset, GDALDataType /*storage_type*/) {
  return guarded(false, [&] {
    change_packing([&](Packing& packing) { packing.offset = offset; });
    return true;
  });
}

bool Array::SetScale(double scale, GDALDataType /*storage_type*/) {
  return guarded(false, [&] {
    change_packing([&](Packing& packing) { packing.scale = scale; });
    return true;
  });
}

// The rest of what places the array, its coordinates above all, stays as it is.
bool Array::SetSpatialRef(const OGRSpatialReference* crs) {
  return guarded(false, [&] {
    check_is_there();
    const std::size_t rank = this->rank();
    const auto self = std::dynamic_pointer_cast<Array>(m_pSelf.lock());
    RasterAxes axes{0, 0};
    if (rank > 1) axes = raster_axes();
    const RasterView view(self, rank > 0 ? std::optional(axes.x) : std::nullopt,
                          rank > 1 ? std::optional(axes.y) : std::nullopt,
                          std::vector<std::uint64_t>(rank > 2 ? rank - 2 : 0, 0));
    store_georeferencing(view, find_geotransform(view), crs);
    return true;
  });
}

bool Array::SetRawNoDataValue(const void* nodata) {
  return guarded(false, [&] {
    std::optional<std::vector<std::byte>> element;
    if (nodata != nullptr) {
      element.emplace(array_->data_type().item_size);
      const auto* from = static_cast<const std::byte*>(nodata);
      if (const auto encoder = make_element_encoder(type_, array_->data_type())) {
        encoder->convert(from, 0, element->data(), 0, 1);
      } else {
        std::copy(from, from + element->size(), element->begin());
      }
    }
    change_packing([&](Packing& packing) { packing.nodata = std::move(element); });
    return true;
  });
}

std::shared_ptr<zarrcore::ArrayWriter> Array::writer() {
  const std::lock_guard lock(writer_mutex_);
  if (!writer_) {
    writer_ = std::make_shared<zarrcore::ArrayWriter>(array_, session_->writer_options());
  }
  return writer_;
}

std::shared_ptr<zarrcore::ArrayWriter> Array::writer_if_any() const {
  const std::lock_guard lock(writer_mutex_);
  return writer_;
}

bool Array::write(const zarrcore::Selection& selection, const GDALExtendedDataType& buffer_type,
                  const void* buffer, zarrcore::Strides strides) {
  return guarded(false, [&] {
    check_is_there();
    // What says how to read chunks is there before them.
    session_->changing_hierarchy().flush_node(node_path());
    is_new_ = false;
    const auto encoder = make_element_encoder(buffer_type, array_->data_type());
    CallerState caller;
    writer()->write(selection,
                    {static_cast<const std::byte*>(buffer), std::move(strides), encoder.get()},
                    write_options(caller));
    session_->limit_waiting(*this);
    return true;
  });
}

bool Array::IWrite(const GUInt64* start, const size_t* count, const GInt64* step,
                   const GPtrDiff_t* stride, const GDALExtendedDataType& buffer_type,
                   const void* buffer) {
  return guarded(false, [&] {
    Region wanted = region(start, count, step, stride, buffer_type);
    return write(wanted.selection, buffer_type, buffer, std::move(wanted.strides));
  });
}

void Array::flush() {
  const auto writer = writer_if_any();
  if (!writer) return;
  CallerState caller;
  writer->flush(write_options(caller));
}

bool Array::transfer(GDALRWFlag flag, const zarrcore::Selection& selection,
                     const GDALExtendedDataType& buffer_type, void* buffer,
                     zarrcore::Strides strides) {
  return flag == GF_Read ? read(selection, buffer_type, buffer, std::move(strides))
                         : write(selection, buffer_type, buffer, std::move(strides));
}

std::uint64_t Array::waiting_bytes() const {
  const auto writer = writer_if_any();
  return writer ? writer->pending_bytes() : 0;
}

}  // namespace gdal_zarr
