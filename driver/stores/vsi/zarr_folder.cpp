#include "driver/stores/vsi/zarr_folder.h"

#include <cpl_conv.h>
#include <cpl_port.h>

#include "driver/stores/vsi/vsi_file.h"
#include "driver/stores/vsi/vsi_path.h"
#include "zarrcore/metadata/document_names.h"

namespace gdal_zarr {

bool is_metadata_file(std::string_view file_name) {
  return zarrcore::is_document_name(file_name);
}

bool is_v1_document(const std::string& path) {
  return EQUAL(CPLGetFilename(path.c_str()), "meta") && is_file(path);
}

const char* find_main_document(const std::string& path) {
  const auto found = zarrcore::find_node_document(
      [&](std::string_view name) { return path_exists(join_vsi_path(path, name)); });
  return found ? found->data() : nullptr;
}

bool is_zarr_folder(const std::string& path) {
  return find_main_document(path) != nullptr;
}

}  // namespace gdal_zarr
