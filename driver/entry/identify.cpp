#include <cpl_conv.h>
#include <cpl_error.h>
#include <cpl_string.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "driver/entry/create.h"
#include "driver/entry/open.h"
#include "driver/gdal/messages.h"
#include "driver/multidim/session.h"
#include "driver/raster/candidates.h"
#include "driver/stores/connection_string.h"
#include "driver/stores/foreign_stores.h"
#include "driver/stores/icechunk/open_icechunk.h"
#include "driver/stores/open_store.h"
#include "driver/stores/references/reference_store.h"
#include "driver/stores/vsi/object_store.h"
#include "driver/stores/vsi/vsi_path.h"
#include "driver/stores/vsi/zarr_folder.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/process.h"
#include "zarrcore/metadata/document_names.h"

namespace gdal_zarr {
namespace {

using zarrcore::thread_object;

// Returns true if a folder is a Zarr. If it is on the network, `found` keeps what shows it.
bool find_zarr_folder(const std::string& path, GDALAccess access,
                      std::optional<ProbedFolder>& found) {
  if (!is_probed(path)) return is_zarr_folder(path);
  found = probe_folder(path, access == GA_Update);
  return found.has_value();
}

// Returns true if the file is a metadata document of a Zarr.
bool is_metadata_document(const GDALOpenInfo* info, std::optional<ProbedFolder>& found) {
  const std::string path = info->pszFilename;
  const std::string file_name = CPLGetFilename(without_query(path).c_str());
  if (is_zipped_document(info)) return find_zipped_raster(info->pszFilename).has_value();
  // Attributes may hold anything, and other programs use the names of v1 and N5: the folder
  // decides.
  if (file_name == ".zattrs" || file_name == "meta" || file_name == zarrcore::kN5Document) {
    const auto folder = parent_vsi_path(path);
    return folder && find_zarr_folder(*folder, info->eAccess, found);
  }
  return zarrcore::is_document_name(file_name) &&
         strstr(reinterpret_cast<const char*>(info->pabyHeader), "zarr_") != nullptr;
}

// Where folders can be listed, one request shows that there is nothing.
bool is_empty_in_object_store(const std::string& path) {
  try {
    return is_in_object_store(path) && list_objects(path, 1).empty();
  } catch (const zarrcore::Error&) {
    return false;
  }
}

// Files of other computers are left to other drivers.
bool is_zarr_by_url(const GDALOpenInfo* info, std::optional<ProbedFolder>& folder) {
  std::string path;
  try {
    path = without_file_scheme(info->pszFilename);
  } catch (const zarrcore::Error&) {
    return false;
  }
  GDALOpenInfo file(path.c_str(), info->nOpenFlags);
  return is_zarr(&file, folder);
}

// The result of the last call of identify() in this thread.
struct Identified {
  const GDALOpenInfo* info = nullptr;
  std::string name;
  std::optional<ProbedFolder> folder;
};

// See last_purpose().
struct LastCall {
  std::string name;
  Purpose purpose = Purpose::unknown;
};

// GDAL's QuietDelete() identifies while errors are quiet, or for all kinds of datasets.
bool is_to_replace(const GDALOpenInfo& info) {
  constexpr int kKinds = GDAL_OF_RASTER | GDAL_OF_VECTOR;
  if ((info.nOpenFlags & kKinds) == kKinds) return true;
#if GDAL_ZARR_AT_LEAST(3, 11)
  return CPLGetErrorHandler(nullptr) == CPLQuietErrorHandler;
#else
  return false;
#endif
}

// Without warnings: opening the store reports them.
std::vector<Candidate> candidates_of(const std::string& root) {
  const QuietErrors quiet;
  try {
    return find_candidates(*Session::open(root, {}), false).rasters;
  } catch (const zarrcore::Error&) {
    return {};
  }
}

}  // namespace

bool is_zipped_document(const GDALOpenInfo* info) {
  return STARTS_WITH(info->pszFilename, "/vsizip/") && info->nHeaderBytes > 0 &&
         (info->nOpenFlags & GDAL_OF_MULTIDIM_RASTER) == 0 &&
         zarrcore::is_document_name(CPLGetFilename(info->pszFilename));
}

bool is_zarr(GDALOpenInfo* info, std::optional<ProbedFolder>& folder) {
  if (is_url_pipeline(info->pszFilename)) return true;
  if (has_file_scheme(info->pszFilename)) return is_zarr_by_url(info, folder);
  if (has_prefix(info->pszFilename) || is_reference_source(info->pszFilename)) return true;
  if (has_icechunk_scheme(info->pszFilename)) {
    return repository_may_exist(info->pszFilename);
  }
  // A value that is referenced may be a file of another format.
  if (info->nHeaderBytes == 0 &&
      (has_reference_prefix(info->pszFilename) || has_icechunk_prefix(info->pszFilename))) {
    return true;
  }
  if (info->nHeaderBytes > 0) return is_metadata_document(info, folder) || is_packed_store(info);
  // On network file systems it may be unknown whether a folder exists, so the extension decides
  // whether to look.
  const auto ends_with = [&](const char* extension) {
    return EQUAL(CPLGetExtension(info->pszFilename), extension);
  };
  const bool may_be_folder =
      info->bIsDirectory || (STARTS_WITH(info->pszFilename, "/vsi") &&
                             (ends_with("zarr") || ends_with("n5") || ends_with("levels")));
  if (!may_be_folder || (!info->bIsDirectory && is_empty_in_object_store(info->pszFilename))) {
    return false;
  }
  return (find_zarr_folder(info->pszFilename, info->eAccess, folder) || is_packed_store(info) ||
          is_icechunk_folder(info->pszFilename) || is_xcube_pyramid(info->pszFilename));
}

int identify(GDALOpenInfo* info) {
  return guarded(FALSE, [&] {
    auto& identified = thread_object<Identified>();
    identified = {};
    std::optional<ProbedFolder> folder;
    if (!is_zarr(info, folder)) return FALSE;
    if (folder) identified = {info, info->pszFilename, std::move(folder)};
    thread_object<LastCall>() = {info->pszFilename,
                                 is_to_replace(*info) ? Purpose::replacing : Purpose::unknown};
    return TRUE;
  });
}

std::optional<ProbedFolder> take_identified(const GDALOpenInfo* info) {
  const Identified last = std::exchange(thread_object<Identified>(), {});
  return last.info == info && last.name == info->pszFilename ? last.folder : std::nullopt;
}

void note_opened(const std::string& name) {
  thread_object<LastCall>() = {name, Purpose::reading};
}

Purpose last_purpose(const std::string& name) {
  const LastCall last = std::exchange(thread_object<LastCall>(), {});
  return last.name == name ? last.purpose : Purpose::unknown;
}

std::optional<ConnectionString> find_zipped_raster(const std::string& path) {
  const std::string folder = CPLGetPath(path.c_str());
  const char* document = find_main_document(folder);
  if (document == nullptr || !EQUAL(document, CPLGetFilename(path.c_str()))) return std::nullopt;
  ConnectionString connection;
  connection.store_path = find_root_in_archive(folder);
  const auto candidates = candidates_of(connection.store_path);
  if (candidates.size() > 1) {
    const auto found = std::ranges::find_if(candidates, [&](const Candidate& c) {
      return connection.store_path + '/' + c.node_path == folder;
    });
    if (found == candidates.end()) return std::nullopt;
    connection.array = '/' + found->node_path;
  } else if (folder != connection.store_path) {
    return std::nullopt;
  }
  return connection;
}

}  // namespace gdal_zarr
