// The names of archives to write to.
#include <algorithm>
#include <string>

#include "driver/stores/vsi/vsi_file.h"
#include "driver/stores/vsi/zarr_folder.h"
#include "driver/stores/vsi/zip_store.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"

namespace gdal_zarr {

using zarrcore::Error;

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
    throw Error(path + ": the name of a ZIP archive ends with .zip or is in braces, as in " +
                std::string(kVsiZip) + "{archive}/folder");
  }
  return ZipTarget{rest.substr(start, end - start), zarrcore::normalize_path(rest.substr(next))};
}

}  // namespace gdal_zarr
