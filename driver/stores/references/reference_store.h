// A read-only store whose values are parts of other files, named by references: Kerchunk's, and for
// a file system (store_file_system.h) also an Icechunk repository's virtual references.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "driver/stores/references/neighbour_reads.h"
#include "driver/stores/references/reference.h"
#include "driver/stores/references/target_files.h"
#include "zarrcore/store/store.h"

namespace gdal_zarr {

class ReferenceStore final : public zarrcore::Store {
 public:
  // `document` is the path of the document, folder or repository with the references. The store has
  // the keys below `prefix`, or all if it is empty.
  ReferenceStore(std::shared_ptr<const References> references, std::string document,
                 std::string prefix = {});

  // A key without a reference is absent; a reference to a file that does not exist is an error.
  std::optional<zarrcore::Buffer> get(std::string_view key, std::uint64_t max_size) override;
  std::optional<std::vector<zarrcore::Buffer>> get_ranges(
      std::string_view key, std::span<const zarrcore::ByteRange> ranges) override;

  // Neighbours in a file on the network will be read by one request.
  std::shared_ptr<void> expect(std::span<const std::string_view> keys) override;

  // The reference to a value, as stated in the document; empty if the key has none.
  std::optional<Reference> find(std::string_view key) const;
  // The reference with its target as a path. Throws zarrcore::Error if the document may not refer
  // to it.
  Reference resolved(Reference reference) const;
  // find() and resolved(): the reference to a value with its target as a path.
  std::optional<Reference> locate(std::string_view key) const;

  zarrcore::DirectoryListing list(std::string_view prefix,
                                  const zarrcore::ListOptions& options = {}) override;
  // Visits all chunks.
  void visit_values(std::string_view prefix, const VisitValue& visit,
                    const zarrcore::VisitOptions& options) override;
  // Lists all chunks; see References.
  zarrcore::DirectoryListing list_chunks(std::string_view prefix, std::uint64_t max_count) const;
  bool has_below(std::string_view prefix) const;

  // Requests run at once after the first reference to a file on the network has been seen.
  zarrcore::StoreTraits traits() const override;
  std::string description() const override { return document_; }

 private:
  std::shared_ptr<const References> references_;
  TargetFiles targets_;
  std::string document_;
  std::string prefix_;
  std::atomic<bool> is_on_network_{false};
  NeighbourReads neighbours_{targets_};
};

}  // namespace gdal_zarr
