#include "driver/raster/build_overviews.h"

#include <algorithm>
#include <set>

#include "driver/multidim/georeferencing.h"
#include "driver/multidim/georeferencing_write.h"
#include "driver/raster/raster_band.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"
#include "zarrcore/base/text.h"

namespace gdal_zarr {
namespace {

using zarrcore::Error;
using zarrcore::join_path;
using zarrcore::Json;

class Pyramid {
 public:
  explicit Pyramid(const RasterView& view)
      : view_(view),
        session_(*view.array().session()),
        group_(zarrcore::parent_path(view.array().node_path())) {
    if (session_.root_is_array()) {
      throw Error(session_.path() +
                  " is an array by itself, in no group that could hold overviews of it");
    }
    if (!view.x_axis() || !view.y_axis()) {
      throw Error("array " + view.array().GetFullName() +
                  " has no X and Y dimensions to build overviews along");
    }
    const auto pyramid = session_.pyramids().find(view.array().node_path());
    if (pyramid && (pyramid->level != 0 || pyramid->group != group_)) {
      throw Error("array " + view.array().GetFullName() + " belongs to a pyramid that group /" +
                  pyramid->group + " describes already");
    }
    // A pyramid of other arrays of the group becomes one that all share.
    const auto described = parse_multiscales(*session_.attributes(group_));
    if (!described) return;
    finest_ = described->levels[0].asset;
    for (const Level& level : described->levels) {
      if (level.asset != finest_) assets_.push_back(level.asset);
    }
    const bool has_groups =
        std::none_of(assets_.begin(), assets_.end(), [&](const std::string& asset) {
          return session_.array_metadata(join_path(group_, asset)) != nullptr;
        });
    if (has_groups) finest_.clear();
    if (!has_groups && !pyramid) {
      throw Error("group /" + group_ + " describes a pyramid that array " +
                  view.array().GetFullName() + " cannot share: its levels are arrays");
    }
  }

  void make_level(int factor, bool is_for_all_bands) {
    const std::string asset = "ovr_" + std::to_string(factor) + 'x';
    const std::string path = join_path(group_, asset);
    made_.insert(asset);
    if (!is_for_all_bands) {
      if (!path_at(asset, view_.array()).empty()) return;
      throw Error("array " + view_.array().GetFullName() + ": the overview at a factor of " +
                  std::to_string(factor) +
                  " does not exist yet, and is built for all bands at once");
    }
    if (!session_.hierarchy().node(path)) session_.create_group(path);
    std::vector<std::shared_ptr<Array>> coarse;
    for (const auto& array : view_.arrays()) coarse.push_back(make_array(*array, path, factor));
    const RasterView level = view_.of(coarse);
    const auto transform = find_geotransform(view_);
    const auto crs = view_.array().crs();
    store_georeferencing(
        level,
        transform ? std::optional(coarser_geotransform(*transform, view_.width(), view_.height(),
                                                       level.width(), level.height()))
                  : std::nullopt,
        crs.get());
    if (std::find(assets_.begin(), assets_.end(), asset) == assets_.end()) {
      assets_.push_back(asset);
    }
  }

  void remove_levels() {
    for (const std::string& asset : assets_) {
      for (const auto& array : view_.arrays()) {
        const std::string path = path_at(asset, *array);
        if (!path.empty()) session_.erase_node(path);
      }
      remove_if_empty(asset);
    }
  }

  // Writes the `multiscales` attribute, the finest level first.
  void describe(const std::string& resampling) {
    std::vector<std::pair<std::uint64_t, std::string>> by_width;  // falling
    for (const std::string& asset : assets_) {
      if (const auto width = width_of(asset)) by_width.emplace_back(*width, asset);
    }
    std::stable_sort(by_width.begin(), by_width.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<std::string> assets;
    assets.reserve(by_width.size());
    for (auto& [width, asset] : by_width) assets.push_back(std::move(asset));
    session_.change_attributes(group_, [&](zarrcore::Json& attributes) {
      attributes = with_multiscales(attributes, finest_, levels(assets, resampling));
    });
  }

 private:
  std::shared_ptr<Array> make_array(const Array& fine, const std::string& group, int factor) {
    zarrcore::ArrayMetadata metadata = fine.metadata();
    for (const auto axis : {view_.x_axis(), view_.y_axis()}) {
      metadata.shape[*axis] = overview_length(metadata.shape[*axis], factor);
    }
    if (!metadata.chunk_runs.empty()) {
      metadata.chunk_runs.clear();
      metadata.chunk_shape = fine.core().inner_chunk_shape();
    }
    // The attributes that say what values mean; georeferencing is written separately.
    const Json all = std::move(metadata.attributes);
    metadata.attributes = Json::object();
    for (const char* name : {"scale_factor", "add_offset", "units", "_FillValue", "missing_value",
                             "long_name", "standard_name", kColorInterpretation, kBandsAttribute}) {
      if (const Json* value = zarrcore::find_member(all, name)) metadata.attributes[name] = *value;
    }
    const std::string path = join_path(group, fine.GetName());
    if (session_.hierarchy().node(path)) session_.erase_node(path);
    auto made = session_.create_array(path, std::move(metadata));
    made->set_convention(fine.convention());
    return made;
  }

  // The node path of an array at a level; empty when it does not exist.
  std::string path_at(const std::string& asset, const Array& array) const {
    const std::string base = join_path(group_, asset);
    for (const std::string& path : {join_path(base, array.GetName()), base}) {
      if (session_.array_metadata(path)) return path;
    }
    return {};
  }

  // The length of any array at the level along X; empty when the level has no array.
  std::optional<std::uint64_t> width_of(const std::string& asset) const {
    const auto shape_of = [&](const std::string& path) -> std::optional<std::uint64_t> {
      const auto metadata = session_.array_metadata(path);
      if (!metadata || metadata->shape.size() <= *view_.x_axis()) return std::nullopt;
      return metadata->shape[*view_.x_axis()];
    };
    const std::string own = path_at(asset, view_.array());
    if (!own.empty()) return shape_of(own);
    for (const zarrcore::Child& child : session_.hierarchy().children(join_path(group_, asset))) {
      const auto width = shape_of(join_path(join_path(group_, asset), child.name));
      if (width && child.kind == zarrcore::Child::Kind::array) return width;
    }
    return std::nullopt;
  }

  // Removes the group of a level in which only coordinates are left.
  void remove_if_empty(const std::string& asset) {
    const std::string path = join_path(group_, asset);
    const auto node = session_.hierarchy().node(path);
    if (!node) return;
    for (const zarrcore::Child& child : session_.hierarchy().children(path)) {
      const auto array = session_.array_metadata(join_path(path, child.name));
      if (!array || array->shape.size() > 1) return;
    }
    session_.erase_node(path);
  }

  std::vector<CoarserLevel> levels(const std::vector<std::string>& assets,
                                   const std::string& resampling) const {
    std::vector<CoarserLevel> list;
    zarrcore::Shape finer = view_.array().core().shape();
    for (const std::string& asset : assets) {
      CoarserLevel level;
      level.asset = asset;
      const std::string path = path_at(asset, view_.array());
      const auto coarse = session_.array_metadata(path);
      if (!path.empty() && coarse && coarse->shape.size() == finer.size()) {
        for (std::size_t i = 0; i < finer.size(); ++i) {
          const auto length = static_cast<double>(std::max<std::uint64_t>(1, coarse->shape[i]));
          level.scale.push_back(static_cast<double>(finer[i]) / length);
        }
        level.rows = coarse->shape[*view_.y_axis()];
        level.columns = coarse->shape[*view_.x_axis()];
        if (const auto transform = find_geotransform(view_)) {
          level.transform =
              coarser_geotransform(*transform, view_.width(), view_.height(),
                                   static_cast<int>(level.columns), static_cast<int>(level.rows));
        }
        finer = coarse->shape;
      }
      if (made_.contains(asset)) level.resampling = zarrcore::lower_case(resampling);
      list.push_back(std::move(level));
    }
    return list;
  }

  const RasterView& view_;
  Session& session_;
  std::string group_;
  std::string finest_;               // the asset of the finest level: empty, or an array
  std::vector<std::string> assets_;  // of the coarser levels
  std::set<std::string> made_;       // of those, now
};

}  // namespace

std::uint64_t overview_length(std::uint64_t length, int factor) {
  const auto divisor = static_cast<std::uint64_t>(factor);
  return (length + divisor - 1) / divisor;
}

void make_overview_levels(const RasterView& view, std::span<const int> factors,
                          bool is_for_all_bands, const std::string& resampling) {
  Pyramid pyramid(view);
  for (const int factor : factors) {
    if (factor < 2)
      throw Error(std::to_string(factor) +
                  " is not a valid overview factor: it must be at least 2");
    pyramid.make_level(factor, is_for_all_bands);
  }
  pyramid.describe(resampling);
}

void remove_overview_levels(const RasterView& view) {
  Pyramid pyramid(view);
  pyramid.remove_levels();
  pyramid.describe({});
}

}  // namespace gdal_zarr
