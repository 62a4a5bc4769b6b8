#include "driver/stores/vsi/zip_archive.h"

#include <cpl_conv.h>
#include <cpl_string.h>
#include <cpl_vsi.h>

#include <cstring>

#include "driver/stores/vsi/vsi_call.h"
#include "driver/stores/vsi/zarr_folder.h"
#include "zarrcore/base/error.h"

namespace gdal_zarr {
namespace {

bool ends_with(const std::string& text, const char* end) {
  const std::size_t length = std::strlen(end);
  return text.size() > length && EQUAL(text.c_str() + text.size() - length, end);
}

}  // namespace

bool is_zip_name(const std::string& path) {
  return ends_with(path, ".zip") ||
         (STARTS_WITH(path.c_str(), "/vsizip/{") && ends_with(path, ".zip}"));
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
  if (is_inside && !STARTS_WITH(path.c_str(), "/vsizip/")) return std::nullopt;
  const std::string archive = is_inside ? path : "/vsizip/{" + path + "}";
  if (is_zarr_folder(archive)) return archive;
  const CPLStringList at_top(VSIReadDirEx(archive.c_str(), kMaxAtTop + 1));
  if (at_top.size() > kMaxAtTop) return std::nullopt;
  std::optional<std::string> found;
  for (int i = 0; i < at_top.size(); ++i) {
    const std::string folder = std::string(archive).append("/").append(at_top[i]);
    if (!is_zarr_folder(folder)) continue;
    if (found) {
      std::string message = path + " holds more than one Zarr: name one of them, as in ZARR:\"";
      throw zarrcore::Error(message.append(folder).append("\""));
    }
    found = folder;
  }
  return found;
}

std::string find_root_in_archive(const std::string& path) {
  std::string root = path;
  std::string folder = path;
  while (!is_zip_name(folder) && folder.find('/', std::strlen("/vsizip/")) != std::string::npos) {
    folder = CPLGetPath(folder.c_str());
    if (is_zarr_folder(folder)) root = folder;
  }
  return root;
}

}  // namespace gdal_zarr
