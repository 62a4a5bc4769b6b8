// The directory of an existing ZIP archive: the central records at its end, as they are stored.
#pragma once

#include <cpl_vsi.h>

#include <cstdint>
#include <string>
#include <vector>

namespace gdal_zarr {

struct ZipDirectory {
  struct Record {
    std::string name;
    std::string bytes;  // of the whole record
  };

  std::vector<Record> records;
  std::uint64_t offset = 0;  // in bytes, of the first record: the entries are before it
  std::string comment;       // of the archive
};

// Throws zarrcore::Error, without the path, when the archive is damaged, or when its offsets do not
// count from its start, as in programs that unpack themselves.
ZipDirectory read_zip_directory(VSILFILE* file);

}  // namespace gdal_zarr
