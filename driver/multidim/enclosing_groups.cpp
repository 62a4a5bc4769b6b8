// The groups above a store. A node that is opened by its own path may have its coordinates and its
// grid mapping in one of the folders above it, which are not part of the store then.
#include <cpl_conv.h>
#include <cpl_string.h>

#include <utility>

#include "driver/conventions/gdal_attributes.h"
#include "driver/multidim/array.h"
#include "driver/multidim/session.h"
#include "driver/stores/references/reference_store.h"
#include "driver/stores/vsi/vsi_path.h"
#include "driver/stores/vsi/zarr_folder.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"

namespace gdal_zarr {
namespace {

// A document of references is a store by itself.
bool is_reference_document(const std::string& path) {
  return has_reference_prefix(path) && parse_reference_path(path).key.empty();
}

}  // namespace

std::shared_ptr<Session> Session::parent() const {
  const std::lock_guard lock(parent_mutex_);
  if (!parent_) parent_ = open_parent();
  return *parent_;
}

std::string Session::parent_folder() const {
  if (is_named_zarr(path_) || is_reference_document(path_)) return {};
  // On the network, only what the name shows to be a part of a store is worth the requests.
  if (!VSIIsLocal(path_.c_str()) && !is_in_named_zarr(path_)) return {};
  return parent_vsi_path(path_).value_or("");
}

std::shared_ptr<Session> Session::open_parent() const {
  const std::string folder = parent_folder();
  if (folder.empty()) return nullptr;
  StoreHints hints;
  if (is_probed(folder)) {
    hints.folder = probe_folder(folder);
    if (!hints.folder) return nullptr;
  } else if (!is_zarr_folder(folder)) {
    return nullptr;
  }
  try {
    SessionOptions options;
    options.missing_chunks_are_errors = missing_chunks_are_errors();
    options.make_classic_dataset = classic_dataset_factory();
    auto session = Session::open(folder, options, hints);
    return session->root_is_array() ? nullptr : session;
  } catch (const zarrcore::Error&) {
    return nullptr;  // the store itself can be read without it
  }
}

std::pair<std::shared_ptr<Session>, std::shared_ptr<const zarrcore::ArrayMetadata>>
Session::find_above(const std::string& group, const std::string& name,
                    std::optional<std::uint64_t> size) const {
  if (!zarrcore::is_valid_segment(name)) return {};
  const std::string path = zarrcore::join_path(group, name);
  for (auto above = parent(); above != nullptr; above = above->parent()) {
    auto metadata = above->coordinate_metadata(path);
    if (metadata && (!size || metadata->shape == zarrcore::Shape{*size})) return {above, metadata};
    // A variable further up would be a different one, with wrong coordinates.
    if (above->is_unreadable(path)) break;
  }
  return {};
}

std::shared_ptr<Array> Session::variable_above(const std::string& group, const std::string& name,
                                               std::uint64_t size) const {
  const auto above = find_above(group, name, size).first;
  return above ? above->array(zarrcore::join_path(group, name)) : nullptr;
}

std::shared_ptr<const zarrcore::ArrayMetadata> Session::metadata_above(const std::string& group,
                                                                       const std::string& name,
                                                                       std::uint64_t size) const {
  return find_above(group, name, size).second;
}

std::shared_ptr<const zarrcore::Json> Session::attributes_above(const std::string& name) const {
  const auto metadata = find_above("", name, {}).second;
  if (!metadata) return nullptr;
  return {metadata, &metadata->attributes};
}

std::optional<PyramidMember> Session::find_pyramid(const std::string& array_path) const {
  if (auto level = pyramids().find(array_path)) {
    return PyramidMember{std::const_pointer_cast<Session>(shared_from_this()), array_path,
                         *std::move(level)};
  }
  std::string path = array_path;
  const Session* below = this;
  for (auto above = parent(); above != nullptr; above = above->parent()) {
    path = zarrcore::join_path(CPLGetFilename(below->path().c_str()), path);
    if (auto level = above->pyramids().find(path)) {
      return PyramidMember{above, path, *std::move(level)};
    }
    below = above.get();
  }
  return std::nullopt;
}

std::optional<PyramidLevel> Session::pyramid_level(const std::string& array_path) const {
  auto member = find_pyramid(array_path);
  return member ? std::optional(std::move(member->level)) : std::nullopt;
}

std::string Session::nczarr_path() const {
  if (parent_folder().empty()) return {};
  if (root_is_array()) {
    const auto array = zarrcore::as_array(hierarchy_->node(""));
    const bool is_nczarr = array && !nczarr_dimensions(*array).empty();
    const auto above = is_nczarr ? parent() : nullptr;
    return above ? above->nczarr_path() : std::string();
  }
  const auto group = group_metadata("");
  const auto above = group && is_nczarr_group(*group) ? parent() : nullptr;
  const auto outer = above ? above->group_metadata("") : nullptr;
  if (!outer || !is_nczarr_group(*outer)) return {};
  return zarrcore::join_path(above->nczarr_path(), CPLGetFilename(path_.c_str()));
}

std::shared_ptr<Session> Session::nczarr_root() const {
  if (nczarr_path().empty()) return nullptr;
  const auto above = parent();
  const auto root = above->nczarr_root();
  return root ? root : above;
}

}  // namespace gdal_zarr
