// The metadata of an array: attributes, nodata, scale, offset, unit, codecs.
#include <cpl_string.h>

#include <cmath>
#include <utility>

#include "driver/conventions/nczarr.h"
#include "driver/conventions/shown_attributes.h"
#include "driver/gdal/error_guard.h"
#include "driver/multidim/array.h"
#include "driver/multidim/copied_array.h"
#include "driver/multidim/structural_info.h"
#include "zarrcore/base/error.h"

namespace gdal_zarr {
namespace {

using zarrcore::Error;
using zarrcore::Json;

// The units of a time type are part of the type; programs look for them among the attributes.
Json with_time_units(const zarrcore::ArrayMetadata& array) {
  Json attributes = without_nczarr(array.attributes);
  const std::string units = time_units(array.data_type);
  if (!units.empty() && !attributes.contains("units")) attributes["units"] = units;
  return attributes;
}

}  // namespace

void Array::load_metadata() {
  metadata_ =
      zarrcore::as_array(session_->hierarchy().node(node_path(), zarrcore::NodeKind::array));
  packing_ = read_packing(metadata());
  attributes_ = with_time_units(metadata());
  Json attributes = attributes_;
  for (const std::string& name : packing_.consumed_attributes) attributes.erase(name);
  shown_attributes_ = gdal_zarr::shown_attributes(attributes);
  load_nodata();
}

void Array::change(const std::function<void(zarrcore::ArrayMetadata&)>& edit) {
  check_exists();
  session_->writable_hierarchy().update_node(
      node_path(),
      [&](zarrcore::NodeMetadata& node) { edit(std::get<zarrcore::ArrayMetadata>(node)); },
      zarrcore::NodeKind::array);
  load_metadata();
}

bool Array::take_layout(const Array& original) {
  for (const zarrcore::ArrayMetadata& layout : layouts_like(original, *creation_)) {
    const auto before = metadata_;
    const auto put = [&](const zarrcore::ArrayMetadata& wanted) {
      session_->writable_hierarchy().update_node(
          node_path(),
          [&](zarrcore::NodeMetadata& node) {
            auto& metadata = std::get<zarrcore::ArrayMetadata>(node);
            zarrcore::ArrayMetadata changed = wanted;
            changed.attributes = metadata.attributes;
            changed.dimension_names = metadata.dimension_names;
            changed.chunk_prefix = metadata.chunk_prefix;
            metadata = std::move(changed);
          },
          zarrcore::NodeKind::array);
    };
    try {
      put(layout);  // throws if the format cannot express it
    } catch (const Error&) {
      continue;
    }
    try {
      array_ = session_->reopen_array(node_path());
      element_type_ = seen_type(array_->metadata());
    } catch (const Error&) {
      put(*before);
      continue;
    }
    if (type_.GetClass() == GEDTC_COMPOUND) session_->compound_layouts().keep(*array_, type_);
    load_metadata();
    structural_info_ =
        structural_info(session_->hierarchy().format(), array_->metadata(), node_path());
    return true;
  }
  return false;
}

// A program that copies sets the CRS after the attributes, which may contain it.
bool Array::copy_metadata(GDALDataset* source_dataset, const GDALMDArray& source,
                          const Array* original, bool is_strict, GUInt64& cost, GUInt64 total_cost,
                          GDALProgressFunc progress, void* progress_data) {
  bool writes_crs = false;
  brings_crs_ = [&] {
    writes_crs = !brings_crs((original != nullptr ? *original : *this).metadata().attributes,
                             source, source_dataset) &&
                 (original == nullptr || !has_crs_beside(*original, source_dataset));
    return !writes_crs;
  };
  const bool has_layout = original != nullptr && take_layout(*original);
  const auto fill_value = metadata().fill_value;
  const bool is_copied =
      CopyFromAllExceptValues(&source, is_strict, cost, total_cost, progress, progress_data);
  brings_crs_ = nullptr;
  if (!is_copied || original == nullptr) return is_copied;
  if (has_layout && has_same_nodata(*original, source)) {
    change([&](zarrcore::ArrayMetadata& metadata) { metadata.fill_value = fill_value; });
  }
  Json attributes = attributes_like(*original, source, *this);
  for (const char* name : {"grid_mapping", "coordinates"}) {
    const Json* written = zarrcore::find_member(metadata().attributes, name);
    if (writes_crs && written != nullptr) attributes[name] = *written;
  }
  change([&](zarrcore::ArrayMetadata& metadata) { metadata.attributes = std::move(attributes); });
  array_ = session_->reopen_array(node_path());
  return true;
}

// Attributes.

std::shared_ptr<AttributeOwner> Array::owner() const {
  if (!session_->is_writable() || is_deleted_) return nullptr;
  return std::dynamic_pointer_cast<AttributeOwner>(m_pSelf.lock());
}

std::shared_ptr<GDALAttribute> Array::GetAttribute(const std::string& name) const {
  return guarded<std::shared_ptr<GDALAttribute>>(nullptr, [&] {
    check_exists();
    return find_attribute(GetFullName(), attributes_, name, owner());
  });
}

std::vector<std::shared_ptr<GDALAttribute>> Array::GetAttributes(CSLConstList options) const {
  return guarded<std::vector<std::shared_ptr<GDALAttribute>>>({}, [&] {
    check_exists();
    const bool show_all = CPLTestBool(CSLFetchNameValueDef(options, "SHOW_ALL", "NO"));
    return make_attributes(GetFullName(), show_all ? attributes_ : shown_attributes_, owner());
  });
}

std::shared_ptr<GDALAttribute> Array::CreateAttribute(const std::string& name,
                                                      const std::vector<GUInt64>& dimensions,
                                                      const GDALExtendedDataType& type,
                                                      CSLConstList /*options*/) {
  return guarded<std::shared_ptr<GDALAttribute>>(nullptr, [&] {
    check_exists();
    Json present = metadata().attributes;
    if (implied_attributes_.contains(name)) present.erase(name);
    auto attribute = create_attribute(GetFullName(), present, name, dimensions, type, owner());
    implied_attributes_.erase(name);
    return attribute;
  });
}

#if GDAL_ZARR_AT_LEAST(3, 8)
bool Array::DeleteAttribute(const std::string& name, CSLConstList /*options*/) {
  return guarded(false, [&] {
    check_exists();
    if (!metadata().attributes.contains(name)) {
      throw Error("array " + GetFullName() + " has no attribute " + name);
    }
    erase_attribute(name);
    return true;
  });
}
#endif

void Array::set_attribute(const std::string& name, const Json& value) {
  change([&](zarrcore::ArrayMetadata& metadata) { metadata.attributes[name] = value; });
}

void Array::erase_attribute(const std::string& name) {
  change([&](zarrcore::ArrayMetadata& metadata) { metadata.attributes.erase(name); });
  live_attributes().set_deleted(name);
}

void Array::rename_attribute(const std::string& name, const std::string& new_name) {
  change([&](zarrcore::ArrayMetadata& metadata) {
    metadata.attributes = with_renamed_attribute(metadata.attributes, name, new_name);
  });
  live_attributes().set_renamed(name, new_name);
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
    return true;
  });
}

std::optional<double> Array::scale() const {
  const auto value =
      session_->has_pam() ? session_->pam_values().find(GetFullName()).scale : std::nullopt;
  return value ? value : packing_.scale;
}

std::optional<double> Array::offset() const {
  const auto value =
      session_->has_pam() ? session_->pam_values().find(GetFullName()).offset : std::nullopt;
  return value ? value : packing_.offset;
}

bool Array::set_pam_values(const std::function<void(PamValues::Values&)>& edit) {
  check_exists();
  PamValues::Values values = session_->pam_values().find(GetFullName());
  edit(values);
  session_->pam_values().set(GetFullName(), values);
  return !session_->is_writable();
}

double Array::GetOffset(bool* has_offset, GDALDataType* storage_type) const {
  const auto value = offset();
  if (has_offset != nullptr) *has_offset = value.has_value();
  if (storage_type != nullptr) *storage_type = GDT_Unknown;
  return value.value_or(0.0);
}

bool Array::SetOffset(double offset, GDALDataType /*storage_type*/) {
  return guarded(false, [&] {
    const std::optional<double> beside =
        session_->is_writable() ? std::nullopt : std::optional(offset);
    if (set_pam_values([&](PamValues::Values& values) { values.offset = beside; })) return true;
    change_packing([&](Packing& packing) { packing.offset = offset; });
    return true;
  });
}

double Array::GetScale(bool* has_scale, GDALDataType* storage_type) const {
  const auto value = scale();
  if (has_scale != nullptr) *has_scale = value.has_value();
  if (storage_type != nullptr) *storage_type = GDT_Unknown;
  return value.value_or(1.0);
}

bool Array::SetScale(double scale, GDALDataType /*storage_type*/) {
  return guarded(false, [&] {
    const std::optional<double> beside =
        session_->is_writable() ? std::nullopt : std::optional(scale);
    if (set_pam_values([&](PamValues::Values& values) { values.scale = beside; })) return true;
    change_packing([&](Packing& packing) { packing.scale = scale; });
    return true;
  });
}

bool Array::SetUnit(const std::string& unit) {
  return guarded(false, [&] {
    change_packing([&](Packing& packing) { packing.unit = unit; });
    return true;
  });
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
    return true;
  });
  return GDALPamMDArray::SetStatistics(is_approximate, min, max, mean, deviation, valid_count,
                                       options) &&
         is_set;
}
#endif

}  // namespace gdal_zarr
