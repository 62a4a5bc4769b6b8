// The records of a ZIP archive whose entries are stored without compression (APPNOTE.TXT of PKWARE,
// version 6.3.10, section 4.3):
//
//   local header, bytes      of each entry
//   central records          one for each entry: readers begin here
//   end records              where the central records are
//
// Sizes and offsets of 4 GiB and more, and more than 65534 entries, use the records of ZIP64.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "zarrcore/base/buffer.h"

namespace gdal_zarr {

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

std::vector<std::byte> zip_local_header(const ZipEntry& entry);
std::vector<std::byte> zip_central_record(const ZipEntry& entry);
// For `count` central records of `size` bytes that begin at `offset`. The comment has at most
// 65,535 bytes.
std::vector<std::byte> zip_end_records(std::uint64_t count, std::uint64_t offset,
                                       std::uint64_t size, const std::string& comment = {});

}  // namespace gdal_zarr
