#include "driver/entry/new_store.h"

#include <cpl_conv.h>
#include <cpl_string.h>
#include <cpl_vsi.h>

#include <string_view>
#include <utility>

#include "driver/entry/manage.h"
#include "driver/entry/open.h"
#include "driver/gdal/error_guard.h"
#include "driver/raster/sidecar_place.h"
#include "driver/stores/connection_string.h"
#include "driver/stores/vsi/object_store.h"
#include "driver/stores/vsi/quiet_call.h"
#include "driver/stores/vsi/vsi_file.h"
#include "driver/stores/vsi/vsi_path.h"
#include "driver/stores/vsi/vsi_store.h"
#include "driver/stores/vsi/zarr_folder.h"
#include "driver/stores/vsi/zip_store.h"
#include "zarrcore/base/error.h"
#include "zarrcore/metadata/format.h"
#include "zarrcore/store/store.h"

namespace gdal_zarr {
namespace {

using zarrcore::Error;

// Whether a folder has only partial files of a writer that was killed.
bool has_partial_files_only(const std::string& path) {
  const CPLStringList names(VSIReadDir(path.c_str()));
  bool has_any = false;
  for (int i = 0; i < names.size(); ++i) {
    const std::string_view name = names[i];
    if (name == "." || name == "..") continue;
    if (!name.ends_with(zarrcore::kTemporarySuffix)) return false;
    has_any = true;
  }
  return has_any;
}

// Whether an object store has anything at `path`, where the store may be listed.
bool is_used(const std::string& path, zarrcore::Store& store) {
  store.use_listings();
  try {
    if (store.has_prefix("")) return true;
  } catch (const Error&) {
    return path_exists(path);
  }
  try {
    return open_file(path) != nullptr;
  } catch (const Error&) {
    return false;  // servers may say so of what is absent
  }
}

}  // namespace

std::string new_store_path(const char* name) {
  const ConnectionString connection = parse_connection_string(name);
  if (connection.array) {
    throw Error(std::string(name) + ": the option ARRAY_NAME gives the name of a new array");
  }
  return connection.store_path;
}

std::shared_ptr<zarrcore::Store> check_can_be_created(const std::string& path, const char* advice) {
  const auto store = is_in_object_store(path) ? make_store(path) : nullptr;
  const bool exists = store ? is_used(path, *store) : path_exists(path);
  if (exists && !has_partial_files_only(path)) {
    const std::string message = path + " already exists";
    if (is_zarr_folder(path)) {
      throw Error(message + "; remove it first (gdalmanage delete \"" + path + "\"), or " + advice);
    }
    throw Error(message + (is_folder(path) ? " and is not a Zarr store" : ""));
  }
  check_parent_exists(path);
  return store;
}

void remove_new_store(const std::string& path) {
  const auto target = parse_zip_target(path);
  if (!target) {
    guarded(CE_Failure, [&] {
      // A listing from before the store was created does not show it.
      if (!VSIIsLocal(path.c_str())) VSICurlPartialClearCache(CPLGetPath(path.c_str()));
      if (path_exists(path)) remove_store(path);
      return CE_None;
    });
  } else if (is_file(target->archive)) {
    VSIUnlink(target->archive.c_str());
  }
}

void remove_older_sidecar(const std::string& path) {
  if (is_in_archive(path)) return;
  const std::string file = sidecar_file(path);
  if (!VSIIsLocal(file.c_str()) || !is_file(file)) return;
  const QuietCall call;
  VSIUnlink(file.c_str());
}

std::shared_ptr<Session> create_session(const std::string& path, const CreationOptions& options,
                                        const char* advice) {
  auto store = check_can_be_created(path, advice);
  const zarrcore::Format& format =
      options.is("FORMAT", "ZARR_V3") ? zarrcore::v3_format() : zarrcore::v2_format();
  SessionOptions session_options;
  session_options.use_consolidated = options.boolean("CREATE_CONSOLIDATED_METADATA");
  session_options.make_classic_dataset = &make_classic_dataset;
  return Session::create(path, format, session_options, std::move(store));
}

}  // namespace gdal_zarr
