// A file for data that does not fit the memory for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "driver/stores/vsi/vsi_file.h"
#include "zarrcore/base/error.h"

namespace gdal_zarr {

// The file cannot be created, or its disk is full.
class NoTemporaryFile : public zarrcore::Error {
 public:
  using Error::Error;
};

// Removed when it is closed, and where the system allows it also when the program is killed.
class TemporaryFile {
 public:
  // In GDAL's folder for temporary files, which CPL_TMPDIR names, or else in `folder`, if it is not
  // empty. Throws NoTemporaryFile, also when the disk has no room for `bytes`.
  TemporaryFile(const std::string& folder, std::uint64_t bytes);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  // Returns the offset of the bytes. Throws NoTemporaryFile.
  std::uint64_t append(std::span<const std::byte> bytes);
  // Throws zarrcore::Error.
  void read(std::uint64_t offset, std::span<std::byte> bytes);

 private:
  std::string path_;
  File file_;
  std::uint64_t end_ = 0;
};

}  // namespace gdal_zarr
