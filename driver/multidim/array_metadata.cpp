// The metadata of an array: attributes, nodata, scale, offset, unit, and its georeferencing.
#include <cpl_string.h>

#include <cmath>
#include <utility>

#include "driver/conventions/evidence.h"
#include "driver/conventions/gdal_attributes.h"
#include "driver/conventions/position.h"
#include "driver/gdal/messages.h"
#include "driver/multidim/array.h"
#include "driver/multidim/georeferencing.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"

namespace gdal_zarr {
namespace {

using zarrcore::Error;
using zarrcore::Json;

using Metadata = std::shared_ptr<const zarrcore::ArrayMetadata>;

// The units of a time type are part of the type; programs look for them among the attributes. The
// attributes of other arrays are not copied.
std::shared_ptr<const Json> attributes_of(const Metadata& array) {
  const Json& stored = array->attributes;
  const std::string units = time_units(array->data_type);
  if (units.empty() || stored.contains("units")) return {array, &stored};
  Json attributes = stored;
  attributes["units"] = units;
  return std::make_shared<const Json>(std::move(attributes));
}

std::shared_ptr<const Json> shown_of(Json attributes, const Packing& packing) {
  for (const std::string& name : packing.consumed_attributes) attributes.erase(name);
  return std::make_shared<const Json>(gdal_zarr::shown_attributes(attributes));
}

}  // namespace

void Array::load_metadata() {
  read_metadata_ =
      zarrcore::as_array(session_->hierarchy().node(node_path(), zarrcore::NodeKind::array));
  metadata_ = read_metadata_;
  // The opened array states what the store leaves out.
  if (array_->assumes_bytes() || array_->data_type() != metadata_->data_type) {
    const auto stated = std::make_shared<zarrcore::ArrayMetadata>(*metadata_);
    stated->codecs = array_->metadata().codecs;
    stated->data_type = array_->data_type();
    if (array_->data_type() != metadata_->data_type)
      stated->fill_value = array_->metadata().fill_value;
    metadata_ = stated;
  }
  packing_ = read_packing(metadata());
  {
    const std::lock_guard lock(attributes_mutex_);
    attributes_ = attributes_of(metadata_);
    shown_attributes_.reset();
  }
  load_nodata();
}

bool Array::refresh_metadata() {
  session_->hierarchy().refresh_node(node_path());
  const auto current = session_->array_metadata(node_path());
  if (!current || current == read_metadata_) return false;
  load_metadata();
  return true;
}

// Attributes show changes by other programs. Values derived from them, such as nodata and the CRS,
// stay until refresh_metadata(): other threads may be using them.
Metadata Array::newer_metadata() const {
  session_->hierarchy().refresh_node(node_path());
  auto current = session_->array_metadata(node_path());
  return current == read_metadata_ ? nullptr : std::move(current);
}

std::shared_ptr<const Json> Array::shown_attributes() const {
  const std::lock_guard lock(attributes_mutex_);
  if (!shown_attributes_) shown_attributes_ = shown_of(*attributes_, packing_);
  return shown_attributes_;
}

void Array::change(const std::function<void(zarrcore::ArrayMetadata&)>& edit) {
  check_exists();
  session_->writable_hierarchy().update_node(
      node_path(),
      [&](zarrcore::NodeMetadata& node) { edit(std::get<zarrcore::ArrayMetadata>(node)); },
      zarrcore::NodeKind::array);
  load_metadata();
}

// Attributes.

void Array::change_attributes(const std::function<void(Json& attributes)>& edit) {
  check_exists();
  {
    const std::lock_guard lock(attributes_mutex_);
    long held = 1;
    if (metadata_ == read_metadata_) held += attributes_.get() == &metadata_->attributes ? 2 : 1;
    session_->writable_hierarchy().update_attributes(node_path(), edit, zarrcore::NodeKind::array,
                                                     held);
  }
  load_metadata();
}

std::shared_ptr<AttributeOwner> Array::owner() const {
  if (!session_->is_writable() || is_deleted()) return nullptr;
  return std::dynamic_pointer_cast<AttributeOwner>(m_pSelf.lock());
}

std::shared_ptr<const Json> Array::all_attributes(const Metadata& newer) const {
  if (newer) return attributes_of(newer);
  const std::lock_guard lock(attributes_mutex_);
  return attributes_;
}

std::shared_ptr<const Json> Array::visible_attributes(bool show_all) const {
  const Metadata newer = newer_metadata();
  if (show_all) return std::make_shared<const Json>(without_nczarr(*all_attributes(newer)));
  return newer ? shown_of(*attributes_of(newer), read_packing(*newer)) : shown_attributes();
}

std::shared_ptr<const Json> Array::find_visible(const std::string& name) const {
  if (is_nczarr_name(name)) return nullptr;
  const auto attributes = all_attributes(newer_metadata());
  return {attributes, zarrcore::find_member(*attributes, name)};
}

bool Array::has_attribute(const std::string& name) const {
  session_->hierarchy().refresh_node(node_path());
  const auto current = session_->array_metadata(node_path());
  return (current ? *current : metadata()).attributes.contains(name);
}

// Nodata, scale, offset and unit.

void Array::load_nodata() {
  clear_nodata();
  if (!packing_.nodata) return;
  raw_nodata_.resize(type_.GetSize());
  try {
    gdal_element(*packing_.nodata, raw_nodata_.data());
  } catch (const zarrcore::Error&) {
    // A string may not be valid for GDAL.
    clear_nodata();
  }
}

void Array::clear_nodata() {
  if (!raw_nodata_.empty()) type_.FreeDynamicMemory(raw_nodata_.data());
  raw_nodata_.clear();
}

void Array::set_compound(const GDALExtendedDataType& type) {
  clear_nodata();
  type_ = GDALExtendedDataType(type);
  load_nodata();
}

void Array::change_packing(const std::function<void(Packing&)>& edit) {
  check_exists();
  Packing packing = packing_;
  edit(packing);
  bool sets_fill_value = is_new_;
  if (!is_new_ && packing.nodata != packing_.nodata) {
    const bool is_filled_with_nodata = packing_.nodata && packing_.nodata == metadata().fill_value;
    if (is_filled_with_nodata && session_->writer_options().stores_empty_chunks) {
      store_missing_chunks();
    }
    // Both are false if finding out would take too many requests.
    const zarrcore::Selection whole{zarrcore::Shape(rank(), 0), array_->shape()};
    const auto has_all_chunks = [&] {
      const auto found = coverage(whole, false, true);
      return found && found->stored == found->all;
    };
    const auto has_no_chunks = [&] {
      const auto found = coverage(whole, true, false);
      return found && found->stored == 0;
    };
    sets_fill_value =
        has_all_chunks() || ((is_filled_with_nodata || !metadata().fill_value) && has_no_chunks());
    if (is_filled_with_nodata && !sets_fill_value) {
      throw Error("array " + GetFullName() +
                  ": its nodata value is the value of the chunks that are not stored, which would "
                  "have valid elements with another one; opened with WRITE_EMPTY_CHUNKS=YES, they "
                  "are stored first");
    }
  }
  const PackingChange written = write_packing(metadata(), packing, sets_fill_value);
  change([&](zarrcore::ArrayMetadata& metadata) {
    metadata.attributes = apply_change(std::move(metadata.attributes), written.attributes);
    if (written.fill_value) metadata.fill_value = written.fill_value->element;
  });
  if (written.fill_value) array_ = session_->reopen_array(node_path());
}

const void* Array::GetRawNoDataValue() const {
  return raw_nodata_.empty() ? nullptr : raw_nodata_.data();
}

bool Array::SetRawNoDataValue(const void* nodata) {
  return guarded(false, [&] {
    std::optional<std::vector<std::byte>> element;
    if (nodata != nullptr) element = stored_element(nodata);
    change_packing([&](Packing& packing) { packing.nodata = std::move(element); });
  });
}

std::optional<double> Array::stated(std::optional<double> PamValues::Values::* beside,
                                    std::optional<double> Packing::* stored) const {
  const auto value =
      session_->has_pam() ? session_->pam_values().find(GetFullName()).*beside : std::nullopt;
  return value ? value : packing_.*stored;
}

std::optional<double> Array::scale() const {
  return stated(&PamValues::Values::scale, &Packing::scale);
}

std::optional<double> Array::offset() const {
  return stated(&PamValues::Values::offset, &Packing::offset);
}

bool Array::state(std::optional<double> PamValues::Values::* beside,
                  std::optional<double> Packing::* stored, double value) {
  return guarded(false, [&] {
    check_exists();
    const bool is_writable = session_->is_writable();
    PamValues::Values values = session_->pam_values().find(GetFullName());
    values.*beside = is_writable ? std::nullopt : std::optional(value);
    session_->pam_values().set(GetFullName(), values);
    if (is_writable) change_packing([&](Packing& packing) { packing.*stored = value; });
  });
}

bool Array::SetOffset(double offset, GDALDataType /*storage_type*/) {
  return state(&PamValues::Values::offset, &Packing::offset, offset);
}

bool Array::SetScale(double scale, GDALDataType /*storage_type*/) {
  return state(&PamValues::Values::scale, &Packing::scale, scale);
}

double Array::GetOffset(bool* has_offset, GDALDataType* storage_type) const {
  const auto value = offset();
  if (has_offset != nullptr) *has_offset = value.has_value();
  if (storage_type != nullptr) *storage_type = GDT_Unknown;
  return value.value_or(0.0);
}

double Array::GetScale(bool* has_scale, GDALDataType* storage_type) const {
  const auto value = scale();
  if (has_scale != nullptr) *has_scale = value.has_value();
  if (storage_type != nullptr) *storage_type = GDT_Unknown;
  return value.value_or(1.0);
}

bool Array::SetUnit(const std::string& unit) {
  return guarded(false, [&] { change_packing([&](Packing& packing) { packing.unit = unit; }); });
}

#if GDAL_ZARR_AT_LEAST(3, 8)
bool Array::SetStatistics(bool is_approximate, double min, double max, double mean,
                          double deviation, GUInt64 valid_count, CSLConstList options) {
  const bool is_wanted = CPLTestBool(CSLFetchNameValueDef(options, "UPDATE_METADATA", "NO"));
  const bool is_set = !is_wanted || is_approximate || guarded(false, [&] {
    // Integers stay integers, as far as a float64 is exact.
    const bool is_integer = GDALDataTypeIsInteger(type_.GetNumericDataType()) != 0 &&
                            std::max(std::abs(min), std::abs(max)) <= 0x1p53;
    const auto number = [&](double value) {
      return is_integer ? Json(static_cast<std::int64_t>(value)) : Json(value);
    };
    set_attribute("actual_range", Json::array({number(min), number(max)}));
  });
  return GDALPamMDArray::SetStatistics(is_approximate, min, max, mean, deviation, valid_count,
                                       options) &&
         is_set;
}
#endif

// Georeferencing: axes, CRS and coordinates.

GeoreferencingConvention Array::convention() const {
  const auto own = georeferencing_convention(metadata().attributes);
  return own == GeoreferencingConvention::gdal ? convention_ : own;
}

RasterAxes Array::raster_axes() const {
  return find_raster_axes(evidence());
}

Evidence Array::evidence() const {
  return gather_evidence(std::dynamic_pointer_cast<const Array>(m_pSelf.lock()),
                         known_dimensions());
}

std::shared_ptr<const Json> Array::group_attributes() const {
  if (!session_->root_is_array()) {
    return session_->attributes(std::string(zarrcore::parent_path(node_path())),
                                zarrcore::NodeKind::group);
  }
  const auto above = session_->parent();
  return above ? above->attributes("", zarrcore::NodeKind::group)
               : std::make_shared<const Json>(Json::object());
}

std::shared_ptr<const Json> Array::root_attributes() const {
  std::shared_ptr<const Session> root = session_;
  while (auto above = root->parent()) root = above;
  return root->root_is_array() ? nullptr : root->attributes("", zarrcore::NodeKind::group);
}

// Set in a store opened for reading.
std::shared_ptr<OGRSpatialReference> Array::pam_crs() const {
  if (!session_->has_pam()) return nullptr;
  return GDALPamMDArray::GetSpatialRef();
}

std::shared_ptr<OGRSpatialReference> Array::GetSpatialRef() const {
  return guarded<std::shared_ptr<OGRSpatialReference>>(nullptr, [&] {
    if (auto beside = pam_crs()) return beside;
    if (rank() < 2) return find_crs(evidence(), std::nullopt).crs;
    const Evidence evidence = this->evidence();
    const RasterAxes axes = find_raster_axes(evidence);
    auto found = find_crs(evidence, axes).crs;
    if (found) {
      set_axis_mapping(*found, static_cast<int>(axes.x) + 1, static_cast<int>(axes.y) + 1);
    }
    return found;
  });
}

// The rest of the georeferencing, such as coordinates, is unchanged.
bool Array::SetSpatialRef(const OGRSpatialReference* crs) {
  return guarded(false, [&] {
    check_exists();
    if (!session_->is_writable()) return GDALPamMDArray::SetSpatialRef(crs);
    if (brings_crs_ && brings_crs_()) return true;
    if (pam_crs()) GDALPamMDArray::SetSpatialRef(nullptr);
    const std::size_t rank = this->rank();
    const auto self = std::dynamic_pointer_cast<Array>(m_pSelf.lock());
    if (rank < 2) {
      store_georeferencing({self, std::nullopt, std::nullopt, {}}, {{}, crs});
      return true;
    }
    const RasterAxes axes = raster_axes();
    const RasterView view(self, axes.x, axes.y, std::vector<std::uint64_t>(rank - 2, 0));
    Position position;
    {
      // The CRS that is replaced does not matter.
      const QuietErrors quiet;
      position = find_position(view);
    }
    store_georeferencing(view, {position.transform.transform, crs, position.gcps});
    return true;
  });
}

std::vector<std::shared_ptr<GDALMDArray>> Array::GetCoordinateVariables() const {
  return guarded<std::vector<std::shared_ptr<GDALMDArray>>>({}, [&] {
    std::vector<std::shared_ptr<GDALMDArray>> variables;
    const Evidence evidence = this->evidence();
    for (const std::string& name : coordinate_names(evidence)) {
      const auto variable = evidence.find(name);
      if (variable && !variable->path.empty()) variables.push_back(session_->array(variable->path));
    }
    return variables;
  });
}

}  // namespace gdal_zarr
