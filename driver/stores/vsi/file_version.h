// The version of a file, as far as its size and time tell it: for caches of what was read from it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace gdal_zarr {

struct FileVersion {
  std::uint64_t size = 0;
  std::int64_t seconds = 0;  // when it was modified

  bool operator==(const FileVersion&) const = default;

  // Whether another content may have the same version: files may be written twice within the
  // resolution of their times.
  bool is_ambiguous() const;
};

// Nullopt if there is no such file.
std::optional<FileVersion> find_file_version(const std::string& path);

}  // namespace gdal_zarr
