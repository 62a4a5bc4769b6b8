#include "driver/multidim/array.h"

#include <algorithm>

#include "driver/connection_string.h"
#include "driver/conventions/crs.h"
#include "driver/conventions/nczarr.h"
#include "driver/conventions/shown_attributes.h"
#include "driver/error_guard.h"
#include "driver/multidim/attribute.h"
#include "driver/multidim/dimension.h"
#include "driver/multidim/type_mapping.h"
#include "driver/raster/raster_dataset.h"
#include "driver/worker_scope.h"
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
      type_(gdal_type(array_->data_type())) {
  load_metadata();
  make_structural_info();
}

void Array::load_metadata() {
  node_ = session_->hierarchy().node(node_path());
  packing_ = read_packing(metadata());
  attributes_ = with_time_units(metadata());
  shown_attributes_ =
      gdal_zarr::shown_attributes(without(attributes_, packing_.consumed_attributes));
  raw_nodata_.clear();
  if (packing_.nodata && type_.GetClass() == GEDTC_NUMERIC) {
    raw_nodata_.resize(type_.GetSize());
    const auto converter = make_converter(array_->data_type(), type_);
    auto* nodata = reinterpret_cast<std::byte*>(raw_nodata_.data());
    if (converter) {
      converter->convert(packing_.nodata->data(), 0, nodata, 0, 1);
    } else {
      std::copy(packing_.nodata->begin(), packing_.nodata->end(), nodata);
    }
  }
}

std::shared_ptr<Array> Array::create(std::shared_ptr<Session> session,
                                     std::shared_ptr<const zarrcore::Array> core) {
  const std::string full_name = session->full_name(core->path());
  const std::string path = full_name.substr(1);
  const std::string parent = '/' + std::string(zarrcore::parent_path(path));
  const std::string name(zarrcore::last_segment(path));
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
    if (!is_made) make_dimensions(false);
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
  return VSIIsLocal(session_->path().c_str()) ||
         CPLGetConfigOption("GDAL_PAM_PROXY_DIR", nullptr) != nullptr;
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
  const zarrcore::Shape block = array_->block_shape();
  return {block.begin(), block.end()};
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

std::optional<std::size_t> Array::find_dimension(const char* type) const {
  for (std::size_t i = 0; i < rank(); ++i) {
    if (GetDimensions()[i]->GetType() == type) return i;
  }
  return std::nullopt;
}

std::optional<std::size_t> Array::x_dimension() const {
  if (const auto position = find_spatial_dimension(&SpatialDimensions::x)) return position;
  return find_dimension(GDAL_DIM_TYPE_HORIZONTAL_X);
}

std::optional<std::size_t> Array::y_dimension() const {
  if (const auto position = find_spatial_dimension(&SpatialDimensions::y)) return position;
  return find_dimension(GDAL_DIM_TYPE_HORIZONTAL_Y);
}

Array::RasterAxes Array::raster_axes() const {
  const auto x = x_dimension();
  const auto y = y_dimension();
  if (x && y && x != y) return {*x, *y};
  return {rank() - 1, rank() - 2};
}

std::optional<std::size_t> Array::find_spatial_dimension(
    std::string SpatialDimensions::*which) const {
  auto names = spatial_dimensions(attributes_);
  if (!names && !session_->root_is_array()) {
    names =
        spatial_dimensions(*session_->attributes(std::string(zarrcore::parent_path(node_path()))));
  }
  if (!names) return std::nullopt;
  for (std::size_t i = 0; i < rank(); ++i) {
    if (GetDimensions()[i]->GetName() == (*names).*which) return i;
  }
  return std::nullopt;
}

std::shared_ptr<const Json> Array::find_variable(const std::string& name) const {
  if (session_->root_is_array() || !zarrcore::is_valid_segment(name)) return nullptr;
  for (std::string group(zarrcore::parent_path(node_path()));;
       group = zarrcore::parent_path(group)) {
    const std::string path = zarrcore::join_path(group, name);
    if (session_->hierarchy().node(path)) return session_->attributes(path);
    if (group.empty()) return nullptr;
  }
}

std::shared_ptr<OGRSpatialReference> Array::crs() const {
  auto found = own_crs();
  if (found) return found;
  const auto finest = finest_level();
  return finest ? finest->own_crs() : nullptr;
}

std::shared_ptr<OGRSpatialReference> Array::own_crs() const {
  CrsSources sources{attributes_,
                     {},
                     nullptr,
                     [this](const std::string& name) { return find_variable(name); },
                     {}};
  const auto x = x_dimension();
  if (!session_->root_is_array()) {
    sources.groups.push_back(session_->attributes(std::string(zarrcore::parent_path(node_path()))));
    if (const auto pyramid = session_->find_pyramid(node_path())) {
      sources.groups.push_back(session_->attributes(pyramid->group));
    }
    // A product's CRS is that of its projected grids.
    if (x && y_dimension()) sources.root = session_->attributes("");
  }
  if (x) {
    if (const auto variable = GetDimensions()[*x]->GetIndexingVariable()) {
      sources.linear_unit = variable->GetUnit();
      if (STARTS_WITH_CI(sources.linear_unit.c_str(), "degree")) sources.root = nullptr;
    }
  }
  return find_crs(sources);
}

std::shared_ptr<OGRSpatialReference> Array::GetSpatialRef() const {
  return guarded<std::shared_ptr<OGRSpatialReference>>(nullptr, [&] {
    auto found = crs();
    const std::size_t rank = this->rank();
    if (!found && VSIIsLocal(session_->path().c_str())) return GDALPamMDArray::GetSpatialRef();
    if (found && rank >= 2) {
      const auto [x, y] = raster_axes();
      set_axis_mapping(*found, static_cast<int>(x) + 1, static_cast<int>(y) + 1);
    }
    return found;
  });
}

std::vector<std::shared_ptr<Array>> Array::coordinate_arrays() const {
  std::vector<std::shared_ptr<Array>> variables;
  const Json* names = zarrcore::find_member(attributes_, "coordinates");
  if (names == nullptr || !names->is_string() || session_->root_is_array()) return variables;
  const CPLStringList list(CSLTokenizeString2(names->get<std::string>().c_str(), " ", 0));
  const std::string group(zarrcore::parent_path(node_path()));
  for (int i = 0; i < list.size(); ++i) {
    if (!zarrcore::is_valid_segment(list[i])) continue;
    const std::string path = zarrcore::join_path(group, list[i]);
    std::shared_ptr<const zarrcore::NodeMetadata> holder;
    if (session_->array_metadata(path, holder) != nullptr) {
      variables.push_back(session_->array(path));
    }
  }
  return variables;
}

std::vector<std::shared_ptr<GDALMDArray>> Array::GetCoordinateVariables() const {
  return guarded<std::vector<std::shared_ptr<GDALMDArray>>>({}, [&] {
    const auto arrays = coordinate_arrays();
    return std::vector<std::shared_ptr<GDALMDArray>>(arrays.begin(), arrays.end());
  });
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

#if GDAL_ZARR_AT_LEAST(3, 12)
// Of blocks that are files of their own or ranges of one; others have no file name.
bool Array::GetRawBlockInfo(const std::uint64_t* position, GDALMDArrayRawBlockInfo& info) const {
  return guarded(false, [&] {
    info.clear();
    const auto block = array_->find_block({position, rank()});
    if (!block) return true;
    // References have no files for what they hold.
    const std::string path = session_->hierarchy().store()->description() + '/' + block->key;
    VSIStatBufL status;
    if (VSIStatL(path.c_str(), &status) != 0) return true;
    info.pszFilename = CPLStrdup(path.c_str());
    info.nOffset = block->offset;
    info.nSize = block->length.value_or(static_cast<std::uint64_t>(status.st_size));
    info.papszInfo = CSLDuplicate(structural_info_.List());
    return true;
  });
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

bool Array::read(const zarrcore::Selection& selection, const GDALExtendedDataType& buffer_type,
                 void* buffer, zarrcore::Strides strides) const {
  return guarded(false, [&] {
    check_is_there();
    const auto converter = make_converter(array_->data_type(), buffer_type);
    CallerState caller;
    zarrcore::ReadOptions options;
    options.threads = thread_count();
    options.worker_scope = caller.scope();
    const zarrcore::Destination destination{static_cast<std::byte*>(buffer), std::move(strides),
                                            converter.get()};
    if (const auto writer = writer_if_any()) {
      writer->read(selection, destination, options);
    } else {
      array_->read(selection, destination, options);
    }
    return true;
  });
}

bool Array::IAdviseRead(const GUInt64* start, const size_t* count, CSLConstList options) const {
  return guarded(false, [&] {
    const std::size_t rank = this->rank();
    const zarrcore::Selection selection{{start, start + rank}, {count, count + rank}, {}};
    const char* limit_text = CSLFetchNameValue(options, "CACHE_SIZE");
    const auto limit =
        limit_text != nullptr
            ? static_cast<std::uint64_t>(std::max<GIntBig>(0, CPLAtoGIntBig(limit_text)))
            : static_cast<std::uint64_t>(GDALGetCacheMax64()) / 2;
    const auto bytes = array_->decoded_bytes(selection);
    if (!bytes || *bytes > limit) {
      throw zarrcore::Error("array " + GetFullName() + ": the chunks to be read in advance have " +
                            (bytes ? std::to_string(*bytes) : "2^64 or more") +
                            " bytes where CACHE_SIZE allows " + std::to_string(limit));
    }
    session_->reserve_chunk_cache(*bytes);
    CallerState caller;
    zarrcore::ReadOptions read_options;
    read_options.threads = thread_count(CSLFetchNameValue(options, "NUM_THREADS"));
    read_options.worker_scope = caller.scope();
    array_->prefetch(selection, read_options);
    return true;
  });
}

Array::Region Array::region(const GUInt64* start, const size_t* count, const GInt64* step,
                            const GPtrDiff_t* stride,
                            const GDALExtendedDataType& buffer_type) const {
  Region region;
  const auto item_size = static_cast<GPtrDiff_t>(buffer_type.GetSize());
  for (std::size_t i = 0; i < rank(); ++i) {
    region.selection.start.push_back(start[i]);
    region.selection.count.push_back(count[i]);
    region.selection.step.push_back(step[i]);
    region.strides.push_back(stride[i] * item_size);
  }
  return region;
}

bool Array::IRead(const GUInt64* start, const size_t* count, const GInt64* step,
                  const GPtrDiff_t* stride, const GDALExtendedDataType& buffer_type,
                  void* buffer) const {
  Region wanted = region(start, count, step, stride, buffer_type);
  return read(wanted.selection, buffer_type, buffer, std::move(wanted.strides));
}

}  // namespace gdal_zarr
