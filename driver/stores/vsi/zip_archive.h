// The records of ZIP archives (APPNOTE.TXT of PKWARE, version 6.3.10, section 4.3):
//
//   local header, bytes      of each entry
//   central records          one for each entry: readers begin here
//   end records              where the central records are
//
// Sizes and offsets of 4 GiB and more, and more than 65534 entries, use the records of ZIP64.
#pragma once

#include <cpl_vsi.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "driver/stores/vsi/zarr_folder.h"
#include "zarrcore/base/buffer.h"
#include "zarrcore/store/store.h"

namespace gdal_zarr {

// --- writing: entries are stored without compression

struct ZipEntry {
  std::string name;               // in UTF-8
  std::uint64_t offset = 0;       // in bytes, of the local header
  std::uint64_t size = 0;         // in bytes, without headers
  std::uint32_t checksum = 0;     // CRC-32
  std::uint32_t time = 0;         // as DOS stores it, the date in the upper half
  std::uint64_t data_offset = 0;  // in bytes, of the first byte after the local header
};

// Now, in local time.
std::uint32_t zip_time();

std::string zip_local_header(const ZipEntry& entry);
std::string zip_central_record(const ZipEntry& entry);
// For `count` central records of `size` bytes that begin at `offset`. The comment has at most
// 65,535 bytes.
std::string zip_end_records(std::uint64_t count, std::uint64_t offset, std::uint64_t size,
                            const std::string& comment = {});

// --- reading

// The directory of an existing archive: the central records at its end, as they are stored.
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

// `store`, the store in an archive as GDAL reads it: if the archive has several entries of one
// name, with the last of them.
std::shared_ptr<zarrcore::Store> with_last_entries(std::shared_ptr<zarrcore::Store> store,
                                                   const ZipTarget& target);

// --- stores for writing
//
// A store that writes into an archive (zip_store.cpp). Each value is appended once and is complete;
// documents, which change often, stay in memory until flush() writes them after all other values.
//
// The archive is written under a temporary name beside it. flush() completes it and gives it its
// own name: other programs see a whole archive or none. When values are put after that, the archive
// loses its name again until the next flush(). An archive elsewhere than on a disk or in memory is
// written to a temporary file of this computer, and flush() uploads it.
//
// To change a store in an existing archive, what the archive has before its directory is copied to
// the temporary file, new values follow, and flush() replaces the archive: a process that is killed
// leaves the old one or the new one. The entries of other files keep all their bytes. Values that
// were replaced or erased are no longer listed, but still take up their space.

// `path` is the name of the store in messages. Throws zarrcore::Error when the archive exists or
// cannot be written.
std::shared_ptr<zarrcore::Store> make_zip_store(const std::string& path, const ZipTarget& target);

// The store in the existing archive of this computer. Throws zarrcore::Error when its directory
// cannot be read.
std::shared_ptr<zarrcore::Store> open_zip_store(const std::string& path, const ZipTarget& target);

}  // namespace gdal_zarr
