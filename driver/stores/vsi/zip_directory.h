// The directory of an existing ZIP archive: the central records at its end, as they are stored.
#pragma once

#include <cpl_vsi.h>

#include <cstdint>
#include <string>
#include <vector>

#include "zarrcore/base/buffer.h"

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

// The value of an entry, stored or deflated. Throws zarrcore::Error, without path and name, when it
// is larger than `max_size`, damaged, or of another method.
zarrcore::Buffer read_zip_entry(VSILFILE* file, const ZipDirectory::Record& record,
                                std::uint64_t max_size);

}  // namespace gdal_zarr
