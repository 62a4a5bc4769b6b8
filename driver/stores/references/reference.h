// Where the values of a store of references are: in other files, or beside the references.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "zarrcore/base/buffer.h"
#include "zarrcore/base/directory_listing.h"

namespace gdal_zarr {

struct Reference {
  std::string target;  // the file, as the references name it; empty when `value` is all there is
  std::uint64_t offset = 0;             // in bytes
  std::optional<std::uint64_t> length;  // in bytes; up to the end when absent
  zarrcore::Buffer value;
};

// A set of references, read from documents of some kind. Its functions may be called from several
// threads at once and throw zarrcore::Error.
class References {
 public:
  virtual ~References() = default;

  // Nothing when there is no such key.
  virtual std::optional<Reference> find(std::string_view key) const = 0;

  // What stands directly below `prefix`; see zarrcore::Store::list.
  virtual zarrcore::DirectoryListing list(std::string_view prefix) const = 0;
};

}  // namespace gdal_zarr
