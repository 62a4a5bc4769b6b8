#include "driver/multidim/enclosing_groups.h"

#include <cpl_conv.h>
#include <cpl_string.h>

#include <utility>

#include "driver/conventions/nczarr.h"
#include "driver/multidim/array.h"
#include "driver/multidim/session.h"
#include "driver/stores/references/reference_path.h"
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

std::shared_ptr<Session> EnclosingGroups::parent() const {
  const std::lock_guard lock(mutex_);
  if (!parent_) parent_ = open_parent();
  return *parent_;
}

std::string EnclosingGroups::parent_folder() const {
  const std::string& path = session_.path();
  if (is_named_zarr(path) || is_reference_document(path)) return {};
  // On the network, only what the name shows to be a part of a store is worth the requests.
  if (!VSIIsLocal(path.c_str()) && !is_in_named_zarr(path)) return {};
  return parent_vsi_path(path).value_or("");
}

std::shared_ptr<Session> EnclosingGroups::open_parent() const {
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
    options.missing_chunks_are_errors = session_.missing_chunks_are_errors();
    options.make_classic_dataset = session_.classic_dataset_factory();
    auto session = Session::open(folder, options, hints);
    return session->root_is_array() ? nullptr : session;
  } catch (const zarrcore::Error&) {
    return nullptr;  // the store itself can be read without it
  }
}

std::shared_ptr<Array> EnclosingGroups::find_variable(const std::string& group,
                                                      const std::string& name,
                                                      std::uint64_t size) const {
  if (!zarrcore::is_valid_segment(name)) return nullptr;
  const std::string path = zarrcore::join_path(group, name);
  for (auto above = parent(); above != nullptr; above = above->enclosing_groups().parent()) {
    const auto metadata = above->coordinate_metadata(path);
    if (metadata && metadata->shape == zarrcore::Shape{size}) return above->array(path);
    // One further up would give wrong coordinates.
    if (above->is_unreadable(path)) return nullptr;
  }
  return nullptr;
}

std::shared_ptr<const zarrcore::Json> EnclosingGroups::find_attributes(
    const std::string& name) const {
  if (!zarrcore::is_valid_segment(name)) return nullptr;
  for (auto above = parent(); above != nullptr; above = above->enclosing_groups().parent()) {
    if (const auto metadata = above->coordinate_metadata(name)) {
      return {metadata, &metadata->attributes};
    }
    // One further up would be another variable.
    if (above->is_unreadable(name)) return nullptr;
  }
  return nullptr;
}

std::optional<PyramidMember> EnclosingGroups::find_pyramid(const std::string& array_path) const {
  std::string path = array_path;
  const Session* below = &session_;
  for (auto above = parent(); above != nullptr; above = above->enclosing_groups().parent()) {
    path = zarrcore::join_path(CPLGetFilename(below->path().c_str()), path);
    if (auto level = above->pyramids().find(path)) {
      return PyramidMember{above, path, std::move(*level)};
    }
    below = above.get();
  }
  return std::nullopt;
}

std::string EnclosingGroups::nczarr_path() const {
  if (parent_folder().empty()) return {};
  const auto root = session_.hierarchy().node("");
  if (!root) return {};
  if (session_.root_is_array()) {
    const auto* array = std::get_if<zarrcore::ArrayMetadata>(root.get());
    if (array == nullptr || nczarr_dimensions(*array).empty()) return {};
    const auto above = parent();
    return above ? above->enclosing_groups().nczarr_path() : std::string();
  }
  const auto* group = std::get_if<zarrcore::GroupMetadata>(root.get());
  if (group == nullptr || !is_nczarr_group(*group)) return {};
  const auto above = parent();
  const auto outer = above ? above->hierarchy().node("") : nullptr;
  const auto* outer_group = outer ? std::get_if<zarrcore::GroupMetadata>(outer.get()) : nullptr;
  if (outer_group == nullptr || !is_nczarr_group(*outer_group)) return {};
  return zarrcore::join_path(above->enclosing_groups().nczarr_path(),
                             CPLGetFilename(session_.path().c_str()));
}

std::shared_ptr<Session> EnclosingGroups::nczarr_root() const {
  if (nczarr_path().empty()) return nullptr;
  const auto above = parent();
  const auto root = above->enclosing_groups().nczarr_root();
  return root ? root : above;
}

}  // namespace gdal_zarr
