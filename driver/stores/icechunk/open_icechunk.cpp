#include "driver/stores/icechunk/open_icechunk.h"

#include "driver/gdal/worker_scope.h"
#include "driver/stores/icechunk/virtual_files.h"
#include "driver/stores/vsi/vsi_file.h"
#include "driver/stores/vsi/vsi_path.h"
#include "driver/stores/vsi/vsi_store.h"
#include "driver/stores/vsi/zarr_folder.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"
#include "zarrcore/icechunk/formats.h"
#include "zarrcore/icechunk/object_file.h"

namespace gdal_zarr {

using namespace zarrcore::icechunk;

bool is_icechunk_folder(const std::string& path) {
  const std::string info = join_vsi_path(path, kRepositoryFile);
  if (is_file(info)) {
    try {
      const File file = open_file(info);
      return file && file_size(file.get()) >= kEnvelopeSize &&
             has_envelope(read_bytes(file.get(), 0, kEnvelopeSize).span(), FileType::repository);
    } catch (const zarrcore::Error&) {
      return false;
    }
  }
  return path_exists(join_vsi_path(path, branch_key(VersionName().name)));
}

bool is_only_icechunk(const std::string& path) {
  return !is_zarr_folder(path) && is_icechunk_folder(path);
}

std::shared_ptr<IcechunkStore> open_icechunk(const IcechunkPath& path) {
  auto files = make_store(path.repository);
  files->refresh();  // branches and tags may have changed
  return std::make_shared<IcechunkStore>(
      Repository::open(std::move(files), path.version, run_on(shared_context())), path.version,
      std::make_shared<VsiVirtualFiles>(path.repository, path.ignores_changes),
      zarrcore::normalize_path(path.key));
}

}  // namespace gdal_zarr
