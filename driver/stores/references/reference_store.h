// A store whose values are parts of other files, where references say (Kerchunk). It is read-only.
#pragma once

#include <memory>
#include <string>

#include "driver/stores/references/reference.h"
#include "driver/stores/references/target_path.h"
#include "driver/stores/vsi/vsi_file.h"
#include "zarrcore/store/store.h"

namespace gdal_zarr {

class ReferenceStore final : public zarrcore::Store {
 public:
  // `description` is what people know the references by: the path of their document or folder.
  // `targets` finds the files that they name. The store has the keys below `prefix`, or all when it
  // is empty.
  ReferenceStore(std::unique_ptr<References> references, TargetPaths targets,
                 std::string description, std::string prefix);

  // A key without a reference is absent; a file that is named and not there is an error.
  std::optional<zarrcore::Buffer> get(std::string_view key, std::uint64_t max_size) override;
  std::optional<std::vector<zarrcore::Buffer>> get_ranges(
      std::string_view key, std::span<const zarrcore::ByteRange> ranges) override;

  // These throw.
  void put_parts(std::string_view key, std::span<const zarrcore::ValuePart> parts) override;
  bool erase(std::string_view key) override;

  zarrcore::DirectoryListing list(std::string_view prefix) override;
  std::string read_only_reason() const override {
    return "references lead to values of others, which are not changed";
  }
  std::string description() const override { return description_; }

 private:
  std::unique_ptr<References> references_;
  TargetPaths targets_;
  std::string description_;
  std::string prefix_;
  VsiFilePool files_;
};

}  // namespace gdal_zarr
