#include "driver/stores/vsi/file_version.h"

#include <cpl_vsi.h>

#include <chrono>

#include "driver/stores/vsi/vsi_call.h"

namespace gdal_zarr {

bool FileVersion::is_ambiguous() const {
  constexpr std::int64_t kTimeResolution = 2;  // in seconds
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::seconds>(now).count() - seconds <= kTimeResolution;
}

std::optional<FileVersion> find_file_version(const std::string& path) {
  const VsiCall call;
  VSIStatBufL status;
  if (VSIStatL(path.c_str(), &status) != 0) return std::nullopt;
  return FileVersion{static_cast<std::uint64_t>(status.st_size),
                     static_cast<std::int64_t>(status.st_mtime)};
}

}  // namespace gdal_zarr
