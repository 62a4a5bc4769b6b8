#include "driver/stores/vsi/zarr_folder.h"

#include <cpl_conv.h>
#include <cpl_string.h>
#include <cpl_vsi.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "driver/gdal/worker_scope.h"
#include "driver/stores/vsi/vsi_call.h"
#include "driver/stores/vsi/vsi_file.h"
#include "driver/stores/vsi/vsi_path.h"
#include "driver/stores/vsi/vsi_store.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"
#include "zarrcore/hierarchy/documents.h"
#include "zarrcore/metadata/document_names.h"
#include "zarrcore/metadata/documents.h"

namespace gdal_zarr {

namespace {

bool is_n5_text(std::string_view text) {
  try {
    return zarrcore::is_n5_document(zarrcore::parse_json(text));
  } catch (const zarrcore::Error&) {
    return false;
  }
}

bool is_n5_file(const std::string& path) {
  constexpr std::uint64_t kMaxBytes = 1 << 24;
  if (!is_file(path)) return false;
  try {
    const File file = open_file(path);
    const std::uint64_t size = file ? file_size(file.get()) : kMaxBytes;
    return size < kMaxBytes && is_n5_text(read_bytes(file.get(), 0, size).text());
  } catch (const zarrcore::Error&) {
    return false;  // another format's, which may be able to do without it
  }
}

// On the network, N5's document is requested only from folders whose names show that they are N5.
bool is_in_named_n5(const std::string& path) {
  return (without_query(path) + '/').find(".n5/") != std::string::npos;
}

}  // namespace

bool is_other_document(const std::string& path) {
  const std::string_view name = CPLGetFilename(path.c_str());
  return EQUAL(name.data(), "meta") ? is_file(path)
                                    : name == zarrcore::kN5Document && is_n5_file(path);
}

const char* find_main_document(const std::string& path) {
  const auto found = zarrcore::find_node_document(
      [&](std::string_view name) { return path_exists(join_vsi_path(path, name)); });
  if (found) return found->data();
  const char* n5 = zarrcore::kN5Document.data();
  return is_n5_file(join_vsi_path(path, n5)) ? n5 : nullptr;
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
    const auto answers = requests.request(
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
  bool is_found = zarrcore::find_node_document(has).has_value();
  if (!is_found && is_in_named_n5(folder.path)) {
    request({zarrcore::kN5Document});
    is_found = has(zarrcore::kN5Document) &&
               is_n5_text(folder.documents.at(std::string(zarrcore::kN5Document))->text());
  }
  return is_found ? std::optional(std::move(folder)) : std::nullopt;
}

bool is_zarr_folder(const std::string& path) {
  if (is_probed(path)) return probe_folder(path).has_value();
  return find_main_document(path) != nullptr;
}

bool is_zip_name(const std::string& path) {
  const auto ends_with = [&](std::string_view end) {
    return path.size() > end.size() && EQUAL(path.c_str() + path.size() - end.size(), end.data());
  };
  const bool is_in_braces = path.starts_with("/vsizip/{");
  return ends_with(".zip") || ends_with(".ozx") ||
         (is_in_braces && (ends_with(".zip}") || ends_with(".ozx}")));
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

std::optional<ZipTarget> parse_zip_target(const std::string& path) {
  if (!path.starts_with(kVsiZip)) {
    if (!is_zip_name(path) || is_folder(path)) return std::nullopt;
    return ZipTarget{path, {}};
  }
  const std::string rest = path.substr(kVsiZip.size());
  std::size_t start = 0;
  std::size_t end = std::string::npos;
  std::size_t next = std::string::npos;
  if (rest.starts_with('{')) {
    start = 1;
    end = rest.find('}');
    next = end == std::string::npos ? end : end + 1;
  } else {
    // The first part of the path that is called like an archive.
    for (std::size_t slash = 0; end == std::string::npos && slash < rest.size();) {
      const std::size_t stop = std::min(rest.find('/', slash + 1), rest.size());
      if (is_zip_name(rest.substr(0, stop))) end = next = stop;
      slash = stop;
    }
  }
  if (end == std::string::npos || (next < rest.size() && rest[next] != '/')) {
    throw zarrcore::Error(path +
                          ": the name of a ZIP archive ends with .zip or is in braces, as in " +
                          std::string(kVsiZip) + "{archive}/folder");
  }
  return ZipTarget{rest.substr(start, end - start), zarrcore::normalize_path(rest.substr(next))};
}

}  // namespace gdal_zarr
