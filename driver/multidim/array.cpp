#include "driver/multidim/array.h"

#include <algorithm>

#include "driver/conventions/nczarr.h"
#include "driver/conventions/shown_attributes.h"
#include "driver/gdal/config_options.h"
#include "driver/gdal/error_guard.h"
#include "driver/multidim/attribute.h"
#include "driver/multidim/dimension.h"
#include "driver/raster/raster_dataset.h"
#include "driver/stores/connection_string.h"
#include "driver/types/type_mapping.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"

namespace gdal_zarr {
namespace {

using zarrcore::Json;

Json without(Json attributes, const std::vector<std::string>& names) {
  for (const std::string& name : names) attributes.erase(name);
  return attributes;
}

// The units of a time type are part of the type; programs look for them among the attributes.
Json with_time_units(const zarrcore::ArrayMetadata& array) {
  Json attributes = without_nczarr(array.attributes);
  const std::string units = time_units(array.data_type);
  if (!units.empty() && !attributes.contains("units")) attributes["units"] = units;
  return attributes;
}

Json codec_json(const zarrcore::CodecMetadata& codec) {
  Json json = {{"name", codec.name}};
  if (!codec.configuration.empty()) json["configuration"] = codec.configuration;
  return json;
}

}  // namespace

Array::Array(std::shared_ptr<Session> session, std::shared_ptr<const zarrcore::Array> array,
             const std::string& parent, const std::string& name)
    : GDALAbstractMDArray(parent, name),
      GDALPamMDArray(parent, name, session->pam()),
      session_(std::move(session)),
      array_(std::move(array)),
      type_(session_->compound_of_creator(*array_).value_or(gdal_type(array_->data_type()))) {
  load_metadata();
  make_structural_info();
}

void Array::load_metadata() {
  node_ = session_->hierarchy().node(node_path(), zarrcore::NodeKind::array);
  packing_ = read_packing(metadata());
  attributes_ = with_time_units(metadata());
  shown_attributes_ =
      gdal_zarr::shown_attributes(without(attributes_, packing_.consumed_attributes));
  load_nodata();
}

void Array::load_nodata() {
  clear_nodata();
  if (!packing_.nodata || type_.GetClass() == GEDTC_STRING) return;
  const auto converter = make_converter(array_->data_type(), type_);
  raw_nodata_.resize(type_.GetSize());
  auto* nodata = reinterpret_cast<std::byte*>(raw_nodata_.data());
  if (!converter) {
    std::copy(packing_.nodata->begin(), packing_.nodata->end(), nodata);
    return;
  }
  try {
    converter->convert(packing_.nodata->data(), 0, nodata, 0, 1);
  } catch (const zarrcore::Error&) {
    // A string of a structure may be none of GDAL's.
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

std::shared_ptr<Array> Array::create(std::shared_ptr<Session> session,
                                     std::shared_ptr<const zarrcore::Array> core) {
  const std::string full_name = session->full_name(core->path());
  const std::string path = full_name.substr(1);
  // At a root that is a group as well, the array has the name of the group.
  const std::string parent =
      path.empty() ? std::string() : '/' + std::string(zarrcore::parent_path(path));
  const std::string name(path.empty() ? "/" : zarrcore::last_segment(path));
  const std::shared_ptr<Array> array(new Array(std::move(session), std::move(core), parent, name));
  array->SetSelf(array);
  return array;
}

// Made when they are asked for, which takes a look at the variables of their names.
const std::vector<std::shared_ptr<GDALDimension>>& Array::GetDimensions() const {
  const std::lock_guard lock(dimensions_mutex_);
  if (!has_dimensions_) {
    has_dimensions_ = true;
    const bool is_made = guarded(false, [&] {
      make_dimensions(true);
      return true;
    });
    has_dimensions_ = is_made || guarded(false, [&] {
                        make_dimensions(false);
                        return true;
                      });
    if (!has_dimensions_) dimensions_.clear();
  }
  return dimensions_;
}

void Array::forget_dimensions() {
  const std::lock_guard lock(dimensions_mutex_);
  has_dimensions_ = false;
}

void Array::make_dimensions(bool with_variables) const {
  dimensions_.clear();
  if (with_variables) session_->prefetch_variables(node_path(), metadata());
  for (std::size_t i = 0; i < rank(); ++i) {
    std::shared_ptr<GDALDimension> dimension;
    if (with_variables) dimension = session_->dimension(node_path(), metadata(), i);
    if (!dimension) {
      // Nobody else can mean the same dimension, so it lies in no group.
      dimension = std::make_shared<GDALDimension>(std::string(), "dim" + std::to_string(i),
                                                  std::string(), std::string(), array_->shape()[i]);
    }
    dimensions_.push_back(std::move(dimension));
  }
}

bool Array::IsCacheable() const {
  return VSIIsLocal(session_->path().c_str()) || is_set(ConfigOption::pam_proxy_dir);
}

// COMPRESSOR is the last codec, FILTERS those between the array and it, CODECS the whole chain.
void Array::make_structural_info() {
  Json codecs = Json::array();
  for (const zarrcore::CodecMetadata& codec : array_->metadata().codecs) {
    codecs.push_back(codec_json(codec));
  }
  structural_info_.SetNameValue("CODECS", zarrcore::dump_json(codecs).c_str());
  const auto to_bytes = std::find_if(codecs.begin(), codecs.end(), [](const Json& codec) {
    return codec["name"] == "bytes" || codec["name"] == "sharding_indexed";
  });
  if (to_bytes == codecs.end() || to_bytes + 1 == codecs.end()) return;
  structural_info_.SetNameValue("COMPRESSOR", zarrcore::dump_json(codecs.back()).c_str());
  Json filters = Json::array();
  for (auto it = to_bytes + 1; it + 1 != codecs.end(); ++it) filters.push_back(*it);
  if (!filters.empty()) {
    structural_info_.SetNameValue("FILTERS", zarrcore::dump_json(filters).c_str());
  }
}

std::vector<GUInt64> Array::GetBlockSize() const {
  return guarded<std::vector<GUInt64>>({}, [&] {
    const zarrcore::Shape block = array_->block_shape();
    return std::vector<GUInt64>(block.begin(), block.end());
  });
}

std::shared_ptr<GDALAttribute> Array::GetAttribute(const std::string& name) const {
  return guarded<std::shared_ptr<GDALAttribute>>(
      nullptr, [&] { return find_attribute(GetFullName(), attributes_, name, owner()); });
}

std::vector<std::shared_ptr<GDALAttribute>> Array::GetAttributes(CSLConstList options) const {
  return guarded<std::vector<std::shared_ptr<GDALAttribute>>>({}, [&] {
    const bool show_all = CPLTestBool(CSLFetchNameValueDef(options, "SHOW_ALL", "NO"));
    return make_attributes(GetFullName(), show_all ? attributes_ : shown_attributes_, owner());
  });
}

const void* Array::GetRawNoDataValue() const {
  return raw_nodata_.empty() ? nullptr : raw_nodata_.data();
}

double Array::GetOffset(bool* has_offset, GDALDataType* storage_type) const {
  if (has_offset != nullptr) *has_offset = packing_.offset.has_value();
  if (storage_type != nullptr) *storage_type = GDT_Unknown;
  return packing_.offset.value_or(0.0);
}

double Array::GetScale(bool* has_scale, GDALDataType* storage_type) const {
  if (has_scale != nullptr) *has_scale = packing_.scale.has_value();
  if (storage_type != nullptr) *storage_type = GDT_Unknown;
  return packing_.scale.value_or(1.0);
}

std::shared_ptr<Array> Array::finest_level() const {
  const std::string path = session_->finest_level_path(node_path());
  return path.empty() ? nullptr : session_->array(path);
}

std::vector<std::shared_ptr<Array>> Array::overviews() const {
  std::vector<std::shared_ptr<Array>> arrays;
  for (const std::string& path : session_->overview_paths(node_path())) {
    arrays.push_back(session_->array(path));
  }
  return arrays;
}

GDALDataset* Array::make_classic_dataset(std::size_t x, std::size_t y) const {
  return guarded<GDALDataset*>(nullptr, [&]() -> GDALDataset* {
    const std::size_t rank = this->rank();
    if (x >= rank || (rank > 1 && (y >= rank || x == y))) {
      throw zarrcore::Error("array " + GetFullName() + ": " + std::to_string(x) + " and " +
                            std::to_string(y) + " are not the X and Y of its " +
                            std::to_string(rank) + " dimensions");
    }
    RasterView view(session_->array(node_path()), x, rank > 1 ? std::optional(y) : std::nullopt,
                    {});
    const std::string name = format_connection_string(session_->path(), GetFullName());
    return new RasterDataset(std::move(view), name, session_->root_is_array() ? "" : GetFullName());
  });
}

#if GDAL_ZARR_AT_LEAST(3, 8)
// The options, and the group, are for metadata of bands that other arrays tell: GDAL's own view has
// those.
GDALDataset* Array::AsClassicDataset(std::size_t x, std::size_t y,
                                     const std::shared_ptr<GDALGroup>& root_group,
                                     CSLConstList options) const {
  if (CSLCount(options) > 0) return GDALPamMDArray::AsClassicDataset(x, y, root_group, options);
  return make_classic_dataset(x, y);
}
#else
GDALDataset* Array::AsClassicDataset(std::size_t x, std::size_t y) const {
  return make_classic_dataset(x, y);
}
#endif

#if GDAL_ZARR_AT_LEAST(3, 13)
int Array::GetOverviewCount() const {
  return guarded(0, [&] { return static_cast<int>(session_->overview_paths(node_path()).size()); });
}

std::shared_ptr<GDALMDArray> Array::GetOverview(int index) const {
  return guarded<std::shared_ptr<GDALMDArray>>(nullptr, [&]() -> std::shared_ptr<GDALMDArray> {
    const auto arrays = overviews();
    if (index < 0 || index >= static_cast<int>(arrays.size())) return nullptr;
    return arrays[static_cast<std::size_t>(index)];
  });
}
#endif

}  // namespace gdal_zarr
