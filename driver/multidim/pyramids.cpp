#include "driver/multidim/pyramids.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "driver/multidim/session.h"
#include "zarrcore/base/path.h"

namespace gdal_zarr {

std::shared_ptr<const Multiscales> Pyramids::of_group(const std::string& group) const {
  {
    const std::lock_guard lock(mutex_);
    if (const auto it = by_group_.find(group); it != by_group_.end()) return it->second;
  }
  std::shared_ptr<const Multiscales> found;
  if (auto parsed = parse_multiscales(*session_.attributes(group, zarrcore::NodeKind::group))) {
    found = std::make_shared<const Multiscales>(std::move(*parsed));
  }
  const std::lock_guard lock(mutex_);
  return by_group_.emplace(group, std::move(found)).first->second;
}

std::optional<PyramidLevel> Pyramids::find(const std::string& array_path) const {
  if (session_.root_is_array()) return std::nullopt;
  for (std::string group(zarrcore::parent_path(array_path));;
       group = zarrcore::parent_path(group)) {
    if (const auto pyramid = of_group(group)) {
      const std::string_view path =
          std::string_view(array_path).substr(group.empty() ? 0 : group.size() + 1);
      if (const auto level = pyramid->find_level(path)) {
        const std::string& asset = pyramid->levels[*level].asset;
        const std::size_t skipped = asset.empty() ? 0 : asset.size() + 1;
        return PyramidLevel{group, pyramid, *level,
                            std::string(path.substr(std::min(skipped, path.size())))};
      }
    }
    if (group.empty()) return std::nullopt;
  }
}

std::string Pyramids::path_at_level(const PyramidLevel& pyramid, const std::string& array_path,
                                    std::size_t level) const {
  // Where one level is an array and another a group, the group holds it under the array's name.
  const std::string suffix =
      pyramid.suffix.empty() ? std::string(zarrcore::last_segment(array_path)) : pyramid.suffix;
  const std::string asset =
      zarrcore::join_path(pyramid.group, pyramid.multiscales->levels[level].asset);
  for (std::string path : {asset, zarrcore::join_path(asset, suffix)}) {
    if (session_.array_metadata(path)) return path;
  }
  return {};
}

std::vector<std::string> Pyramids::overview_paths(const std::string& array_path) const {
  std::vector<std::string> paths;
  const auto pyramid = find(array_path);
  if (!pyramid) return paths;
  for (std::size_t i = pyramid->level + 1; i < pyramid->multiscales->levels.size(); ++i) {
    std::string path = path_at_level(*pyramid, array_path, i);
    if (!path.empty()) paths.push_back(std::move(path));
  }
  return paths;
}

std::string Pyramids::finest_level_path(const std::string& array_path) const {
  const auto pyramid = find(array_path);
  if (!pyramid || pyramid->level == 0) return {};
  const std::string finest = path_at_level(*pyramid, array_path, 0);
  // Levels that contain each other can lead back to the array itself.
  return finest == array_path ? std::string() : finest;
}

void Pyramids::forget(const std::string& group) const {
  const std::lock_guard lock(mutex_);
  by_group_.erase(group);
}

void Pyramids::forget_all() const {
  const std::lock_guard lock(mutex_);
  by_group_.clear();
}

}  // namespace gdal_zarr
