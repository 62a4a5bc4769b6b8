#include "driver/stores/vsi/zarr_folder.h"

#include <cpl_conv.h>
#include <cpl_port.h>

#include <algorithm>
#include <array>

#include "driver/stores/vsi/vsi_file.h"
#include "zarrcore/metadata/format.h"

namespace gdal_zarr {

bool is_metadata_file(std::string_view file_name) {
  const auto all = zarrcore::formats();
  return std::any_of(all.begin(), all.end(), [&](const zarrcore::Format* format) {
    return format->is_document(file_name);
  });
}

bool is_v1_document(const std::string& path) {
  return EQUAL(CPLGetFilename(path.c_str()), "meta") && is_file(path);
}

const char* find_main_document(const std::string& path) {
  static constexpr std::array<const char*, 4> kDocuments{"zarr.json", ".zgroup", ".zarray",
                                                         ".zmetadata"};
  const auto has = [&](const char* document) { return path_exists(path + '/' + document); };
  const auto* const found = std::find_if(kDocuments.begin(), kDocuments.end(), has);
  if (found != kDocuments.end()) return *found;
  // The names of v1 are common: only both together count.
  return has("meta") && has("attrs") ? "meta" : nullptr;
}

bool is_zarr_folder(const std::string& path) {
  return find_main_document(path) != nullptr;
}

}  // namespace gdal_zarr
