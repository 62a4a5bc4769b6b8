// A small Icechunk repository for tests: a group with an array of two-byte chunks, of each kind of
// reference. Tests change its tables before it is stored.
#pragma once

#include <string>

#include "autotest/cpp/support/flat_writer.h"
#include "zarrcore/store/store.h"

namespace zarrcore::test {

// The compression of a file in a repository; with a checksum, damage shows.
enum class FileCompression : std::uint8_t { none, zstd, zstd_with_checksum };

// The file that holds a FlatBuffer; `type` as in zarrcore/icechunk/object_file.h.
std::string icechunk_file(unsigned type, const std::string& content, FileCompression compression);

struct IcechunkRepository {
  static constexpr const char* kSnapshot = "1CECHNKREP0F1RSTCMT0";
  static constexpr const char* kSnapshotKey = "snapshots/1CECHNKREP0F1RSTCMT0";
  static constexpr const char* kManifestKey = "manifests/2GAHC5RR34D1P70X3RFG";
  static constexpr const char* kObjectKey = "chunks/000G40R40M30E209185G";
  static constexpr const char* kUrl = "file:///data/file.bin";

  // Of the array "g/a": 0 is inline, 1 in an object, 2 in kUrl, 3 has a compressed location, 4 is
  // in the container "here", and 5 is missing.
  IcechunkRepository();

  FlatObject info;      // repo
  FlatObject snapshot;  // of branch main and tag v1
  FlatObject manifest;
  std::string object;  // "...AB...": chunk 1 is "AB", from the fourth byte on
  // The id of the manifest that the snapshot lists, if it is not empty, and what is added to the
  // true size and number of references there.
  std::string listed_id;
  std::uint64_t added_size = 0;
  std::uint32_t added_count = 0;
  FileCompression compression = FileCompression::zstd_with_checksum;

  // The reference to a chunk of "g/a".
  FlatObject& chunk(std::size_t i);

  // Puts all files, of format 2 or 1.
  void put(Store& store, int format = 2) const;
};

}  // namespace zarrcore::test
