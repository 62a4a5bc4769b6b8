// References to values of a store: parts of other files, or values stored with the references.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "zarrcore/base/buffer.h"
#include "zarrcore/base/directory_listing.h"

namespace gdal_zarr {

struct Reference {
  std::string target;        // the file, as the references name it; empty if `value` is set
  std::uint64_t offset = 0;  // in bytes
  std::optional<std::uint64_t> length;  // in bytes; absent for the rest of the file
  zarrcore::Buffer value;
};

// A set of references in some format. Its functions may be called from several threads at once and
// throw zarrcore::Error.
class References {
 public:
  virtual ~References() = default;

  // Empty if there is no such key.
  virtual std::optional<Reference> find(std::string_view key) const = 0;

  // The keys and prefixes directly below `prefix`; see zarrcore::Store::list.
  virtual zarrcore::DirectoryListing list(std::string_view prefix) const = 0;
};

}  // namespace gdal_zarr
