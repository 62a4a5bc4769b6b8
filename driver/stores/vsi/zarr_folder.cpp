#include "driver/stores/vsi/zarr_folder.h"

#include <cpl_conv.h>
#include <cpl_string.h>
#include <cpl_vsi.h>

#include <initializer_list>
#include <utility>
#include <vector>

#include "driver/gdal/worker_scope.h"
#include "driver/stores/vsi/vsi_call.h"
#include "driver/stores/vsi/vsi_file.h"
#include "driver/stores/vsi/vsi_path.h"
#include "driver/stores/vsi/vsi_store.h"
#include "zarrcore/base/error.h"
#include "zarrcore/hierarchy/documents.h"
#include "zarrcore/metadata/document_names.h"

namespace gdal_zarr {

bool is_v1_document(const std::string& path) {
  return EQUAL(CPLGetFilename(path.c_str()), "meta") && is_file(path);
}

const char* find_main_document(const std::string& path) {
  const auto found = zarrcore::find_node_document(
      [&](std::string_view name) { return path_exists(join_vsi_path(path, name)); });
  return found ? found->data() : nullptr;
}

bool is_probed(const std::string& path) {
  return STARTS_WITH(path.c_str(), "/vsi") && !VSIIsLocal(path.c_str()) &&
         make_store(path)->traits().parallel_requests > 1;
}

std::optional<ProbedFolder> probe_folder(std::string path, bool is_for_update) {
  while (path.find('?') == path.npos && path.ends_with('/')) path.pop_back();
  ProbedFolder folder{path, make_store(path), {}, {}};
  if (is_for_update) folder.listing = zarrcore::list_for_changes(*folder.store);
  zarrcore::DocumentRequests requests;
  const auto request = [&](std::initializer_list<std::string_view> names) {
    const std::vector<std::string> keys(names.begin(), names.end());
    const auto kept = requests.request(
        keys, folder.store->traits().parallel_requests, run_on(shared_context()),
        [&](const std::string& key) -> zarrcore::DocumentText {
          auto text = folder.store->get(key, zarrcore::kMaxDocumentBytes);
          return text ? std::make_shared<const zarrcore::Buffer>(std::move(*text)) : nullptr;
        });
    for (const std::string& key : keys) {
      try {
        folder.documents.emplace(key, *requests.find(key));
      } catch (const zarrcore::AccessDenied&) {
        folder.documents.emplace(key, nullptr);  // as the hierarchy takes it
      } catch (const zarrcore::Error&) {
        // Opening the store reports the error.
      }
    }
  };
  const auto has = [&](std::string_view name) {
    const auto it = folder.documents.find(std::string(name));
    return it != folder.documents.end() && it->second != nullptr;
  };
  // The first two are needed in any case, and the others only without them. What a listing lacks is
  // not requested, and changes need consolidated metadata later if at all.
  if (folder.listing) {
    request({zarrcore::kNodeDocument});
  } else {
    request({zarrcore::kNodeDocument, zarrcore::kV2ConsolidatedDocument});
  }
  if (!zarrcore::find_node_document(has)) {
    request(
        {zarrcore::kV2GroupDocument, zarrcore::kV2ArrayDocument, zarrcore::kV2AttributesDocument});
  }
  if (folder.listing && !zarrcore::find_node_document(has)) {
    request({zarrcore::kV2ConsolidatedDocument});
  }
  if (!zarrcore::find_node_document(has)) {
    request({zarrcore::kV1ArrayDocument, zarrcore::kV1AttributesDocument});
  }
  return zarrcore::find_node_document(has) ? std::optional(std::move(folder)) : std::nullopt;
}

bool is_zarr_folder(const std::string& path) {
  if (is_probed(path)) return probe_folder(path).has_value();
  return find_main_document(path) != nullptr;
}

bool is_zip_name(const std::string& path) {
  const auto ends_with = [&](std::string_view end) {
    return path.size() > end.size() && EQUAL(path.c_str() + path.size() - end.size(), end.data());
  };
  return ends_with(".zip") || (path.starts_with("/vsizip/{") && ends_with(".zip}"));
}

std::optional<std::string> find_zipped_store(const std::string& path) {
  const VsiCall call;
  // Archives of one folder hold little else at the top: files that an operating system adds.
  constexpr int kMaxAtTop = 16;
  VSIStatBufL status;
  if (!is_zip_name(path) ||
      VSIStatExL(path.c_str(), &status, VSI_STAT_EXISTS_FLAG | VSI_STAT_NATURE_FLAG) != 0) {
    return std::nullopt;
  }
  const bool is_inside = VSI_ISDIR(status.st_mode);
  if (is_inside && !path.starts_with(kVsiZip)) return std::nullopt;
  const std::string archive = is_inside ? path : std::string(kVsiZip) + '{' + path + '}';
  if (is_zarr_folder(archive)) return archive;
  const CPLStringList at_top(VSIReadDirEx(archive.c_str(), kMaxAtTop + 1));
  if (at_top.size() > kMaxAtTop) return std::nullopt;
  std::optional<std::string> found;
  for (int i = 0; i < at_top.size(); ++i) {
    const std::string folder = join_vsi_path(archive, at_top[i]);
    if (!is_zarr_folder(folder)) continue;
    if (found) {
      std::string problem = path;
      problem += " holds more than one Zarr: name one of them, as in ZARR:\"";
      problem += folder;
      throw zarrcore::Error(problem + '"');
    }
    found = folder;
  }
  return found;
}

std::string find_root_in_archive(const std::string& path) {
  std::string root = path;
  std::string folder = path;
  while (!is_zip_name(folder) && folder.find('/', kVsiZip.size()) != std::string::npos) {
    folder = CPLGetPath(folder.c_str());
    if (is_zarr_folder(folder)) root = folder;
  }
  return root;
}

}  // namespace gdal_zarr
