#include "driver/multidim/enclosing_groups.h"

#include <cpl_conv.h>
#include <cpl_string.h>

#include <algorithm>

#include "driver/multidim/array.h"
#include "driver/multidim/session.h"
#include "driver/stores/vsi/zarr_folder.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"

namespace gdal_zarr {
namespace {

bool is_named_zarr(const std::string& path) {
  return EQUAL(CPLGetExtension(path.c_str()), "zarr");
}

// Whether a folder above the path is called like a store.
bool is_in_named_zarr(const std::string& path) {
  return CPLString(path).ifind(".zarr/") != std::string::npos;
}

}  // namespace

std::shared_ptr<Session> EnclosingGroups::parent() const {
  const std::lock_guard lock(mutex_);
  if (!parent_) parent_ = open_parent();
  return *parent_;
}

std::shared_ptr<Session> EnclosingGroups::open_parent() const {
  const std::string& path = session_.path();
  if (is_named_zarr(path)) return nullptr;
  // On the network, only what the name shows to be a part of a store is worth the requests.
  if (!VSIIsLocal(path.c_str()) && !is_in_named_zarr(path)) return nullptr;
  const std::string folder = CPLGetPath(path.c_str());
  // The name of an archive or of references may be in braces, which are not taken apart.
  if (std::count(folder.begin(), folder.end(), '{') !=
      std::count(folder.begin(), folder.end(), '}')) {
    return nullptr;
  }
  if (folder.empty() || folder == path) return nullptr;
  StoreHints hints;
  if (is_probed(folder)) hints.folder = probe_folder(folder);
  if (!hints.folder && (is_probed(folder) || !is_zarr_folder(folder))) return nullptr;
  try {
    auto session = Session::open(folder, SessionOptions(), hints);
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
    const auto metadata = above->coordinate_arrays().metadata(path);
    if (metadata && metadata->shape == zarrcore::Shape{size}) return above->array(path);
    // One further up would give wrong coordinates.
    if (above->coordinate_arrays().is_unreadable(path)) return nullptr;
  }
  return nullptr;
}

std::shared_ptr<const zarrcore::Json> EnclosingGroups::find_attributes(
    const std::string& name) const {
  if (!zarrcore::is_valid_segment(name)) return nullptr;
  for (auto above = parent(); above != nullptr; above = above->enclosing_groups().parent()) {
    if (above->hierarchy().node(name)) return above->attributes(name);
  }
  return nullptr;
}

}  // namespace gdal_zarr
