// A read-only store whose values are the parts of other files that references name (Kerchunk).
#pragma once

#include <memory>
#include <string>

#include "driver/stores/references/reference.h"
#include "driver/stores/references/target_path.h"
#include "driver/stores/vsi/vsi_file.h"
#include "zarrcore/store/store.h"

namespace gdal_zarr {

// The bytes of `file` to which `reference` refers. Throws zarrcore::Error if they are not inside
// it.
zarrcore::ByteRange find_value(VSILFILE* file, const Reference& reference);

class ReferenceStore final : public zarrcore::Store {
 public:
  // `description` is the path of the document or folder of references, for messages. `targets`
  // finds the files that they name. The store has the keys below `prefix`, or all if it is empty.
  ReferenceStore(std::shared_ptr<const References> references, TargetPaths targets,
                 std::string description, std::string prefix);

  // A key without a reference is absent; a reference to a file that does not exist is an error.
  std::optional<zarrcore::Buffer> get(std::string_view key, std::uint64_t max_size) override;
  std::optional<std::vector<zarrcore::Buffer>> get_ranges(
      std::string_view key, std::span<const zarrcore::ByteRange> ranges) override;

  // Where a value is; empty if the key has no reference.
  struct Place {
    std::string path;                     // of the file; empty if `value` is set
    std::uint64_t offset = 0;             // in bytes
    std::optional<std::uint64_t> length;  // in bytes; absent for the rest of the file
    zarrcore::Buffer value;
  };
  std::optional<Place> locate(std::string_view key) const;

  zarrcore::DirectoryListing list(std::string_view prefix,
                                  const zarrcore::ListOptions& options = {}) override;
  zarrcore::StoreTraits traits() const override {
    return {.read_only_reason = "it consists of references to values in other files"};
  }
  std::string description() const override { return description_; }

 private:
  std::shared_ptr<const References> references_;
  TargetPaths targets_;
  std::string description_;
  std::string prefix_;
  VsiFilePool files_;
};

}  // namespace gdal_zarr
