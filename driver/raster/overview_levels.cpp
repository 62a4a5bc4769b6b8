#include "driver/raster/overview_levels.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "driver/conventions/gdal_attributes.h"
#include "driver/multidim/array.h"
#include "driver/multidim/georeferencing.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"

namespace gdal_zarr {
namespace {

using zarrcore::Error;
using zarrcore::join_path;
using zarrcore::Json;

bool has_codec(const zarrcore::ArrayMetadata& array, std::string_view name) {
  return std::ranges::any_of(
      array.codecs, [&](const zarrcore::CodecMetadata& codec) { return codec.name == name; });
}

// Gives the level chunks of the same shape as `fine` has, but none larger than the level.
void fit_chunks(zarrcore::ArrayMetadata& level, const Array& fine) {
  const zarrcore::Shape inner = fine.core().inner_chunk_shape();
  if (!level.chunk_runs.empty()) {
    level.chunk_runs.clear();
    level.chunk_shape = inner;
  }
  if (has_codec(level, "reshape")) return;  // the codec fits only chunks of this shape
  const bool is_sharded = has_codec(level, "sharding_indexed");
  for (std::size_t i = 0; i < level.shape.size(); ++i) {
    std::uint64_t needed = std::max<std::uint64_t>(1, level.shape[i]);
    if (is_sharded) needed = (needed + inner[i] - 1) / inner[i] * inner[i];
    level.chunk_shape[i] = std::min(level.chunk_shape[i], needed);
  }
}

// A process that was killed may have left chunks and documents that belong to no node.
void erase_leftovers(const Session& session, const std::string& path) {
  zarrcore::Store& store = *session.hierarchy().store();
  if (store.traits().is_folder) store.erase_prefix(path);
}

std::string asset_of(int factor) {
  return "ovr_" + std::to_string(factor) + 'x';
}

zarrcore::ArrayMetadata level_metadata(const Array& fine, const RasterView& view,
                                       const OverviewSize& size) {
  zarrcore::ArrayMetadata metadata = fine.metadata();
  metadata.shape[*view.y_axis()] = size.rows;
  metadata.shape[*view.x_axis()] = size.columns;
  // Chunks that are blocks of other files may have codecs that only decode.
  if (!fine.core().can_encode()) {
    metadata.codecs = {{"bytes", {{"endian", "little"}}},
                       {"zstd", {{"level", 3}, {"checksum", false}}}};
  }
  fit_chunks(metadata, fine);
  return metadata;
}

// The attributes that give values their meaning; georeferencing is written separately.
constexpr std::array kLevelAttributes{"scale_factor",  "add_offset",         "units",
                                      "_FillValue",    "missing_value",      "long_name",
                                      "standard_name", kColorInterpretation, kBandsAttribute};

bool have_same_meaning(const Json& a, const Json& b) {
  return std::ranges::all_of(kLevelAttributes, [&](const char* name) {
    const Json* one = zarrcore::find_member(a, name);
    const Json* other = zarrcore::find_member(b, name);
    return one == nullptr || other == nullptr ? one == other : *one == *other;
  });
}

// Returns true if one can be filled as the other.
bool are_alike(const zarrcore::ArrayMetadata& a, const zarrcore::ArrayMetadata& b) {
  return has_same_layout(a, b) && a.chunk_key_encoding == b.chunk_key_encoding &&
         have_same_meaning(a.attributes, b.attributes);
}

}  // namespace

std::uint64_t overview_length(std::uint64_t length, int factor) {
  const auto divisor = static_cast<std::uint64_t>(factor);
  return (length + divisor - 1) / divisor;
}

OverviewLevels::OverviewLevels(const RasterView& view)
    : view_(view),
      session_(*view.array().session()),
      group_(zarrcore::parent_path(view.array().node_path())) {
  const std::string& name = view.array().GetFullName();
  if (session_.root_is_array()) {
    throw Error(session_.path() +
                " is an array by itself, in no group that could hold overviews of it");
  }
  if (!view.x_axis() || !view.y_axis()) {
    throw Error("array " + name + " has no X and Y dimensions to build overviews along");
  }
  if (view.is_slice() || view.range()) {
    throw Error("array " + name + ": overviews are built for the array, not for a " +
                (view.range() ? "range of its bands" : "slice of it"));
  }
  const auto pyramid = session_.pyramids().find(view.array().node_path());
  if (pyramid && (pyramid->level != 0 || pyramid->group != group_)) {
    throw Error("array " + name + " belongs to a pyramid that group /" + pyramid->group +
                " describes already");
  }
  // A pyramid that another array of the group has becomes the shared pyramid of all.
  const auto described = session_.pyramids().of_group(group_);
  if (described.empty()) return;
  for (const Level& level : described.front()->levels) {
    if (level.asset != described.front()->levels[0].asset) assets_.push_back(level.asset);
  }
  const bool has_groups = std::ranges::none_of(assets_, [&](const std::string& asset) {
    return session_.array_metadata(join_path(group_, asset)) != nullptr;
  });
  if (!has_groups && !pyramid) {
    throw Error("group /" + group_ + " describes a pyramid that array " + name +
                " cannot share: its levels are arrays");
  }
}

const Position& OverviewLevels::position() {
  if (!position_) position_ = find_position(view_);
  return *position_;
}

OverviewSize OverviewLevels::size_at(int factor) const {
  const zarrcore::Shape& shape = view_.array().core().shape();
  return {factor, overview_length(shape[*view_.y_axis()], factor),
          overview_length(shape[*view_.x_axis()], factor)};
}

RasterView OverviewLevels::make(int factor) {
  return make(size_at(factor));
}

bool OverviewLevels::exist(const std::set<int>& factors) const {
  return std::ranges::all_of(factors, [&](int factor) {
    const std::string asset = asset_of(factor);
    return std::ranges::find(assets_, asset) != assets_.end() &&
           std::ranges::all_of(view_.arrays(), [&](const auto& fine) {
             const auto level =
                 session_.array_metadata(join_path(join_path(group_, asset), fine->GetName()));
             return level && are_alike(*level, level_metadata(*fine, view_, size_at(factor)));
           });
  });
}

RasterView OverviewLevels::make(const OverviewSize& size) {
  const int factor = size.factor;
  const std::string asset = asset_of(factor);
  const std::string path = join_path(group_, asset);
  if (!session_.hierarchy().node(path)) {
    if (!has_other_nodes(path)) erase_leftovers(session_, path);
    session_.create_group(path);
  }
  if (std::ranges::find(assets_, asset) == assets_.end()) assets_.push_back(asset);
  made_.insert(asset);
  std::vector<std::shared_ptr<Array>> coarse;
  for (const auto& array : view_.arrays()) coarse.push_back(make_array(*array, path, size));
  RasterView level = view_.of(coarse);
  const auto& transform = position().transform.transform;
  const auto beside = view_.array().pam_crs();
  const auto& crs = beside ? beside : position().crs.crs;
  store_georeferencing(
      level,
      {transform ? std::optional(coarser_geotransform(*transform, view_.width(), view_.height(),
                                                      level.width(), level.height()))
                 : std::nullopt,
       crs.get()});
  for (const auto axis : {*view_.x_axis(), *view_.y_axis()}) {
    const std::uint64_t fine = view_.array().core().shape()[axis];
    if (level.array().core().shape()[axis] != overview_length(fine, factor)) continue;
    store_coarser_coordinates(view_.array(), level.array(), axis, factor);
  }
  return level;
}

std::shared_ptr<Array> OverviewLevels::make_array(const Array& fine, const std::string& group,
                                                  const OverviewSize& size) {
  zarrcore::ArrayMetadata metadata = level_metadata(fine, view_, size);
  const std::string path = join_path(group, fine.GetName());
  if (const auto old = session_.array_metadata(path)) {
    if (are_alike(*old, metadata)) return session_.array(path);
    session_.erase_node(path);
  } else {
    erase_leftovers(session_, path);
  }
  const Json all = std::move(metadata.attributes);
  metadata.attributes = Json::object();
  for (const char* name : kLevelAttributes) {
    if (const Json* value = zarrcore::find_member(all, name)) metadata.attributes[name] = *value;
  }
  auto made = session_.create_array(path, std::move(metadata));
  made->set_convention(fine.convention());
  return made;
}

void OverviewLevels::remove_all() {
  for (const std::string& asset : assets_) remove_asset(asset);
}

void OverviewLevels::remove(const std::set<int>& factors) {
  const zarrcore::Shape& fine = view_.array().core().shape();
  for (const std::string& asset : assets_) {
    const std::string path = path_at(asset, view_.array());
    const auto level = path.empty() ? nullptr : session_.array_metadata(path);
    if (!level || level->shape.size() != fine.size()) continue;
    const bool is_named = std::ranges::any_of(factors, [&](int factor) {
      const auto fits = [&](std::size_t axis) {
        return level->shape[axis] == overview_length(fine[axis], factor);
      };
      return fits(*view_.x_axis()) && fits(*view_.y_axis());
    });
    if (is_named) remove_asset(asset);
  }
}

// Also removes the group of the level if only coordinates are left in it.
void OverviewLevels::remove_asset(const std::string& asset) {
  for (const auto& array : view_.arrays()) {
    const std::string path = path_at(asset, *array);
    if (!path.empty()) session_.erase_node(path);
  }
  made_.erase(asset);
  const std::string path = join_path(group_, asset);
  const auto node = session_.hierarchy().node(path);
  if ((!node && !asset.starts_with("ovr_")) || has_other_nodes(path)) return;
  if (node) {
    session_.erase_node(path);
  } else {
    erase_leftovers(session_, path);
  }
}

// Returns true if nodes below the path of a level are neither its arrays nor coordinates.
bool OverviewLevels::has_other_nodes(const std::string& path) const {
  return std::ranges::any_of(session_.hierarchy().children(path), [&](const auto& child) {
    const auto array = session_.array_metadata(join_path(path, child.name));
    return !array ||
           (array->shape.size() > 1 && std::ranges::none_of(view_.arrays(), [&](const auto& fine) {
              return fine->GetName() == child.name;
            }));
  });
}

// The node path of an array at a level; empty when it does not exist.
std::string OverviewLevels::path_at(const std::string& asset, const Array& array) const {
  const std::string base = join_path(group_, asset);
  for (const std::string& path : {join_path(base, array.GetName()), base}) {
    if (session_.array_metadata(path)) return path;
  }
  return {};
}

// The names of the arrays of a level that is a group, without coordinates.
std::vector<std::string> OverviewLevels::names_at(const std::string& asset) const {
  std::vector<std::string> names;
  const std::string group = join_path(group_, asset);
  if (!session_.hierarchy().node(group, zarrcore::NodeKind::group)) return names;
  for (const zarrcore::Child& child : session_.hierarchy().children(group)) {
    const auto array = session_.array_metadata(join_path(group, child.name));
    if (array && array->shape.size() > 1) names.push_back(child.name);
  }
  return names;
}

// Where one array alone has levels, GDAL's built-in driver looks for its name; several share the
// group.
std::string OverviewLevels::finest_asset(const std::vector<std::string>& assets) const {
  std::set<std::string> names;
  for (const std::string& asset : assets) {
    const auto at_level = names_at(asset);
    if (at_level.empty()) {  // the level is an array
      names.insert(view_.array().GetName());
    }
    names.insert(at_level.begin(), at_level.end());
  }
  return names.size() == 1 ? *names.begin() : std::string();
}

void OverviewLevels::describe(const std::string& resampling) {
  const auto size_of = [&](const std::string& path) -> std::optional<double> {
    const auto metadata = session_.array_metadata(path);
    if (!metadata || metadata->shape.size() != view_.array().core().shape().size()) {
      return std::nullopt;
    }
    return static_cast<double>(metadata->shape[*view_.x_axis()]) *
           static_cast<double>(metadata->shape[*view_.y_axis()]);
  };
  std::vector<std::pair<double, std::string>> by_size;  // falling
  for (const std::string& asset : assets_) {
    auto size = size_of(path_at(asset, view_.array()));
    for (const std::string& name : names_at(asset)) {
      if (!size) size = size_of(join_path(join_path(group_, asset), name));
    }
    if (size) by_size.emplace_back(*size, asset);
  }
  std::ranges::stable_sort(by_size, [](const auto& a, const auto& b) { return a.first > b.first; });
  assets_.clear();
  for (auto& [size, asset] : by_size) assets_.push_back(std::move(asset));
  FinestLevel finest{finest_asset(assets_), view_.array().core().shape().size()};
  session_.change_attributes(group_, [&](Json& attributes) {
    attributes = with_multiscales(attributes, finest, coarser_levels(assets_, resampling));
  });
  session_.writable_hierarchy().flush_node(group_);
  session_.pyramids().forget_all();
}

std::vector<CoarserLevel> OverviewLevels::coarser_levels(const std::vector<std::string>& assets,
                                                         const std::string& resampling) {
  std::vector<CoarserLevel> list;
  zarrcore::Shape finer = view_.array().core().shape();
  const auto& transform = position().transform.transform;
  for (const std::string& asset : assets) {
    CoarserLevel level;
    level.asset = asset;
    const std::string path = path_at(asset, view_.array());
    const auto coarse = path.empty() ? nullptr : session_.array_metadata(path);
    if (coarse && coarse->shape.size() == finer.size()) {
      for (std::size_t i = 0; i < finer.size(); ++i) {
        const auto length = static_cast<double>(std::max<std::uint64_t>(1, coarse->shape[i]));
        const bool shrinks = i == view_.x_axis() || i == view_.y_axis();
        level.scale.push_back(shrinks ? static_cast<double>(finer[i]) / length : 1.0);
      }
      level.rows = coarse->shape[*view_.y_axis()];
      level.columns = coarse->shape[*view_.x_axis()];
      if (transform) {
        level.transform =
            coarser_geotransform(*transform, view_.width(), view_.height(),
                                 static_cast<int>(level.columns), static_cast<int>(level.rows));
      }
      finer = coarse->shape;
    }
    if (made_.contains(asset)) level.resampling = resampling;
    list.push_back(std::move(level));
  }
  return list;
}

WindowBand::WindowBand(GDALRasterBand& band, const PixelWindow& window)
    : band_(band), window_(window) {
  poDS = band.GetDataset();
  nBand = band.GetBand();
  nRasterXSize = band.GetXSize();
  nRasterYSize = band.GetYSize();
  eDataType = band.GetRasterDataType();
  eAccess = band.GetAccess();
  band.GetBlockSize(&nBlockXSize, &nBlockYSize);
}

GDALRasterBand* WindowBand::GetMaskBand() {
  if ((band_.GetMaskFlags() & GMF_ALL_VALID) != 0) return band_.GetMaskBand();
  if (!mask_) mask_ = std::make_unique<WindowBand>(*band_.GetMaskBand(), window_);
  return mask_.get();
}

CPLErr WindowBand::IRasterIO(GDALRWFlag flag, int x, int y, int columns, int rows, void* data,
                             int buffer_columns, int buffer_rows, GDALDataType type,
                             GSpacing pixel_space, GSpacing line_space,
                             GDALRasterIOExtraArg* extra) {
  if (buffer_columns != columns || buffer_rows != rows) {
    return band_.RasterIO(flag, x, y, columns, rows, data, buffer_columns, buffer_rows, type,
                          pixel_space, line_space, extra);
  }
  auto* const bytes = static_cast<GByte*>(data);
  if (flag == GF_Read) {
    const auto size = static_cast<std::size_t>(GDALGetDataTypeSizeBytes(type));
    for (int row = 0; row < rows; ++row) {
      GByte* const line = bytes + row * line_space;
      if (pixel_space == static_cast<GSpacing>(size)) {
        std::memset(line, 0, size * static_cast<std::size_t>(columns));
        continue;
      }
      for (int i = 0; i < columns; ++i) std::memset(line + i * pixel_space, 0, size);
    }
  }
  const int left = std::max(x, window_.x);
  const int top = std::max(y, window_.y);
  const int right = std::min(x + columns, window_.x + window_.columns);
  const int bottom = std::min(y + rows, window_.y + window_.rows);
  if (left >= right || top >= bottom) return CE_None;
  return band_.RasterIO(flag, left, top, right - left, bottom - top,
                        bytes + (top - y) * line_space + (left - x) * pixel_space, right - left,
                        bottom - top, type, pixel_space, line_space, nullptr);
}

}  // namespace gdal_zarr
