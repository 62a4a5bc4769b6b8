// References to values of a store: parts of other files, or values stored with the references.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "zarrcore/base/buffer.h"
#include "zarrcore/base/path.h"

namespace gdal_zarr {

struct Reference {
  std::string target;        // the file, as the references name it; empty if `value` is set
  std::uint64_t offset = 0;  // in bytes
  std::optional<std::uint64_t> length;  // in bytes; absent for the rest of the file
  zarrcore::Buffer value;
  // True if `target` is a path for GDAL that may be opened; else TargetFiles resolves it.
  bool is_path = false;
};

// What is written has chunks that are parts of other files.
class ReferenceTarget {
 public:
  virtual ~ReferenceTarget() = default;

  // The chunk `key` is `reference`, whose target is a path for GDAL, or empty for a value. Throws
  // zarrcore::Error.
  virtual void put_reference(std::string_view key, Reference reference) = 0;
};

// A set of references in some format. Its functions may be called from several threads at once and
// throw zarrcore::Error.
class References {
 public:
  virtual ~References() = default;

  // Empty if there is no such key.
  virtual std::optional<Reference> find(std::string_view key) const = 0;

  // The keys and prefixes directly below `prefix`; see zarrcore::Store::list. A set may leave out
  // chunks of an array other than the first `max_chunks`.
  virtual zarrcore::DirectoryListing list(std::string_view prefix,
                                          std::uint64_t max_chunks) const = 0;

  // Returns true if list() may list anything below the prefix.
  virtual bool has_below(std::string_view prefix) const = 0;

  // Throws zarrcore::Error, which names the key, if the form of any reference is invalid.
  virtual void check() const {}

  // Bytes of memory, roughly.
  virtual std::uint64_t byte_count() const { return 0; }
};

}  // namespace gdal_zarr
