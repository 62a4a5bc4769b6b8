#include "driver/multidim/array.h"

#include <cpl_string.h>

#include <utility>

#include "driver/gdal/messages.h"
#include "driver/multidim/dimension.h"
#include "driver/types/type_mapping.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"

namespace gdal_zarr {

using zarrcore::Error;

Array::Array(std::shared_ptr<Session> session, std::shared_ptr<const zarrcore::Array> array,
             const std::string& parent, const std::string& name)
    : GDALAbstractMDArray(parent, name),
      WithAttributes(parent, name, session->pam()),
      session_(std::move(session)),
      array_(std::move(array)),
      element_type_(seen_type(array_->metadata())),
      type_(session_->find_compound(*array_).value_or(gdal_type(element_type_))) {
  load_layout();
}

void Array::load_layout() {
  load_metadata();
  structural_info_ =
      structural_info(session_->hierarchy().format(), array_->metadata(), node_path());
}

std::shared_ptr<Array> Array::create(std::shared_ptr<Session> session,
                                     std::shared_ptr<const zarrcore::Array> core) {
  const std::string full_name = session->full_name(core->path());
  if (core->assumes_bytes()) {
    debug(session->hierarchy().store()->description() + ": array " + full_name +
          ": its codecs state no byte order; little-endian bytes are assumed");
  }
  const std::string path = full_name.substr(1);
  // If the root is both an array and a group, the array has the name of the group.
  const std::string parent =
      path.empty() ? std::string() : '/' + std::string(zarrcore::parent_path(path));
  const std::string name(path.empty() ? "/" : zarrcore::last_segment(path));
  const std::shared_ptr<Array> array(new Array(std::move(session), std::move(core), parent, name));
  array->SetSelf(array);
  return array;
}

Array::~Array() {
  guarded(false, [this] {
    try {
      flush();
    } catch (const std::exception& error) {
      session_->set_write_failure(error.what());
      throw;
    }
  });
  clear_nodata();
}

void Array::set_new() {
  is_new_ = true;
  for (const auto& [name, value] : metadata().attributes.items()) implied_attributes_.insert(name);
}

void Array::set_deleted() {
  mark_deleted();
  const std::lock_guard lock(writer_mutex_);
  writer_.reset();
}

void Array::set_node_path(const std::string& node_path) {
  array_ = session_->reopen_array(node_path);
  load_metadata();
#if GDAL_ZARR_AT_LEAST(3, 8)
  m_osName = zarrcore::last_segment(node_path);
  m_osFullName = '/' + node_path;
#endif
  update_attributes_name();
  const std::lock_guard lock(writer_mutex_);
  writer_.reset();
}

bool Array::IsCacheable() const {
  return session_->has_pam();
}

// Created on first use, because their indexing variables have to be found in the store.
const std::vector<std::shared_ptr<GDALDimension>>& Array::GetDimensions() const {
  const std::lock_guard lock(dimensions_mutex_);
  if (!has_dimensions_) {
    const auto make = [this](bool with_variables) {
      return guarded(false, [&] { make_dimensions(with_variables); });
    };
    has_dimensions_ = make(true) || make(false);
    if (!has_dimensions_) dimensions_.clear();
  }
  return dimensions_;
}

const std::vector<std::shared_ptr<GDALDimension>>& Array::known_dimensions() const {
  const auto& dimensions = GetDimensions();
  if (dimensions.size() != rank()) {
    throw Error("array " + GetFullName() + ": its dimensions are not known");
  }
  return dimensions;
}

void Array::forget_dimensions() {
  const std::lock_guard lock(dimensions_mutex_);
  has_dimensions_ = false;
}

void Array::make_dimensions(bool with_variables) const {
  dimensions_.clear();
  if (with_variables) session_->dimensions().prefetch_variables(node_path(), metadata());
  for (std::size_t i = 0; i < rank(); ++i) {
    std::shared_ptr<GDALDimension> dimension;
    if (with_variables) dimension = session_->dimensions().of_array(node_path(), metadata(), i);
    if (!dimension) {
      // Without a name, no other array can share it, so it belongs to no group.
      dimension = std::make_shared<GDALDimension>(std::string(), "dim" + std::to_string(i),
                                                  std::string(), std::string(), array_->shape()[i]);
    }
    dimensions_.push_back(std::move(dimension));
  }
  computed_coordinates_.clear();
  if (!with_variables) return;
  place_dimensions(std::dynamic_pointer_cast<const Array>(m_pSelf.lock()), dimensions_);
  for (const auto& dimension : dimensions_) {
    if (dynamic_cast<const RegularDimension*>(dimension.get()) != nullptr) {
      computed_coordinates_.push_back(dimension->GetIndexingVariable());
    }
  }
}

#if GDAL_ZARR_AT_LEAST(3, 7)
bool Array::Resize(const std::vector<GUInt64>& sizes, CSLConstList /*options*/) {
  return guarded(false, [&] {
    check_exists();
    if (sizes.size() != rank()) {
      throw Error("array " + GetFullName() + ": expected " + std::to_string(rank()) +
                  (rank() == 1 ? " length" : " lengths") + ", got " + std::to_string(sizes.size()));
    }
    resize_arrays(*this, {sizes.begin(), sizes.end()});
  });
}
#endif

#if GDAL_ZARR_AT_LEAST(3, 8)
bool Array::Rename(const std::string& name) {
  return guarded(false, [&] {
    check_exists();
    session_->rename_node(node_path(), name);
  });
}
#endif

GDALDataset* Array::make_classic_dataset(std::size_t x, std::size_t y) const {
  return guarded<GDALDataset*>(nullptr, [&]() -> GDALDataset* {
    check_exists();
    if (x >= rank() || (rank() > 1 && (y >= rank() || x == y))) {
      throw Error("array " + GetFullName() + ": " + std::to_string(x) + " and " +
                  std::to_string(y) + " are not the X and Y of its " + std::to_string(rank()) +
                  " dimensions");
    }
    if (type_.GetClass() != GEDTC_NUMERIC) {
      throw Error("array " + GetFullName() + ": only arrays of numbers can be rasters");
    }
    return session_->classic_dataset_factory()(session_->array(node_path()), x,
                                               rank() > 1 ? std::optional(y) : std::nullopt);
  });
}

#if GDAL_ZARR_AT_LEAST(3, 8)
GDALDataset* Array::AsClassicDataset(std::size_t x, std::size_t y,
                                     const std::shared_ptr<GDALGroup>& root_group,
                                     CSLConstList options) const {
  // The options ask for metadata of bands from other arrays, which GDAL's own view provides.
  if (CSLCount(options) > 0) return GDALPamMDArray::AsClassicDataset(x, y, root_group, options);
  return make_classic_dataset(x, y);
}
#else
GDALDataset* Array::AsClassicDataset(std::size_t x, std::size_t y) const {
  return make_classic_dataset(x, y);
}
#endif

std::optional<PyramidMember> Array::pyramid() const {
  return session_->find_pyramid(node_path());
}

std::shared_ptr<Array> Array::finest_level() const {
  const auto member = pyramid();
  if (!member) return nullptr;
  const std::string path = member->session->pyramids().finest_level_path(member->array_path);
  return path.empty() ? nullptr : member->session->array(path);
}

std::vector<std::shared_ptr<Array>> Array::overviews() const {
  std::vector<std::shared_ptr<Array>> arrays;
  const auto member = pyramid();
  if (!member) return arrays;
  for (const auto& path : member->session->pyramids().overview_paths(member->array_path)) {
    arrays.push_back(member->session->array(path));
  }
  return arrays;
}

#if GDAL_ZARR_AT_LEAST(3, 13)
int Array::GetOverviewCount() const {
  return guarded(0, [&] { return static_cast<int>(overviews().size()); });
}

std::shared_ptr<GDALMDArray> Array::GetOverview(int index) const {
  return guarded<std::shared_ptr<GDALMDArray>>(nullptr, [&]() -> std::shared_ptr<GDALMDArray> {
    const auto arrays = overviews();
    if (index < 0 || index >= static_cast<int>(arrays.size())) return nullptr;
    return arrays[static_cast<std::size_t>(index)];
  });
}

// Builds the overviews of the array as a raster whose bands are all its slices. They replace all
// existing levels.
CPLErr Array::BuildOverviews(const char* resampling, int count, const int* factors,
                             GDALProgressFunc progress, void* progress_data, CSLConstList options) {
  return guarded(CE_Failure, [&]() -> CPLErr {
    check_exists();
    if (rank() < 2) {
      throw Error("array " + GetFullName() +
                  ": overviews need at least two dimensions, and it has " + std::to_string(rank()));
    }
    if (!IsWritable()) {
      throw Error("array " + GetFullName() +
                  ": overviews are built in a store that is open for "
                  "update; " +
                  session_->path() + " is open for reading");
    }
    if (session_->root_is_array()) {
      throw Error(session_->path() +
                  " is an array by itself, in no group that could hold overviews of it");
    }
    const auto [x, y] = raster_axes();
    const std::unique_ptr<GDALDataset> raster(make_classic_dataset(x, y));
    if (!raster) return CE_Failure;
    CPLStringList replacing(CSLDuplicate(options));
    replacing.SetNameValue(kReplacesOverviews, "YES");
    return raster->BuildOverviews(resampling, count, factors, 0, nullptr, progress, progress_data,
                                  replacing.List());
  });
}
#endif

}  // namespace gdal_zarr
