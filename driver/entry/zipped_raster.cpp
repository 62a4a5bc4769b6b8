#include "driver/entry/zipped_raster.h"

#include <cpl_conv.h>
#include <cpl_error.h>

#include <algorithm>

#include "driver/gdal/messages.h"
#include "driver/multidim/session.h"
#include "driver/raster/candidates.h"
#include "driver/stores/vsi/zarr_folder.h"
#include "driver/stores/vsi/zip_archive.h"
#include "zarrcore/base/error.h"

namespace gdal_zarr {
namespace {

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

std::optional<ConnectionString> find_zipped_raster(const std::string& path) {
  const std::string folder = CPLGetPath(path.c_str());
  const char* document = find_main_document(folder);
  if (document == nullptr || !EQUAL(document, CPLGetFilename(path.c_str()))) return std::nullopt;
  ConnectionString connection;
  connection.store_path = find_root_in_archive(folder);
  const auto candidates = candidates_of(connection.store_path);
  if (candidates.size() > 1) {
    const auto found = std::find_if(candidates.begin(), candidates.end(), [&](const Candidate& c) {
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
