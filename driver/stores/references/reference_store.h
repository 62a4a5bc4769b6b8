// A read-only store whose values are parts of other files, named by references: Kerchunk's, and for
// a file system (store_file_system.h) also an Icechunk repository's virtual references.
//
// Kerchunk references are opened by their names. The documents that have been read are cached for
// the whole process: file systems open them with every call. Names in the file systems are
//
//   /vsikerchunk_json_ref/{x.json}/key     /vsikerchunk_json_ref/x.json/key
//   /vsikerchunk_parquet_ref/{folder}/key
//
// The key names a value or a folder of values; an empty key means all values.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

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
};

inline constexpr std::string_view kCachedReferencePrefix = "/vsikerchunk_json_ref_cached/";

// Where references are stored: in a document, in the copy of a document in a cache folder, or in a
// folder.
enum class ReferenceKind : unsigned char { json, cached_json, parquet };

struct ReferencePath {
  ReferenceKind kind = ReferenceKind::json;
  std::string document;  // the document or folder
  std::string key = {};
};

bool has_reference_prefix(std::string_view name);

// Throws zarrcore::Error when `name` has a prefix but not one of the forms above.
ReferencePath parse_reference_path(const std::string& name);

// The references of a document or folder, which is read again when it has changed. A strict caller
// gets an error if the form of any reference is invalid; others find out when they use it. Throws
// zarrcore::Error, which names the document.
enum class ReferenceCheck : bool { lenient, strict };
std::shared_ptr<const References> open_references(ReferenceKind kind, const std::string& document,
                                                  ReferenceCheck check);

// The values from the key on, as a store. It may use the copy of the document in a cache folder:
// for ReferenceKind::cached_json, or if the configuration option VSIKERCHUNK_USE_CACHE is YES.
std::shared_ptr<ReferenceStore> open_reference_store(const ReferencePath& path,
                                                     ReferenceCheck check);

// Converting a document of references to Parquet files (convert_references.cpp): a large one then
// opens without being read.

// Writes the references of the JSON document `document` to the new folder `folder`. Relative names
// of files stay as they are if both are in the same folder, and become absolute otherwise. Calls
// `progress(done)` with a number from 0 to 1; returns false when that returns false. Throws
// zarrcore::Error when a reference does not fit the format. Unless it returns true, nothing is
// left.
bool convert_references(const std::string& document, const std::string& folder,
                        const std::function<bool(double)>& progress);

// Returns the path of the copy of `document` in the folder VSIKERCHUNK_CACHE_DIR, by default
// .gdal/zarr_kerchunk_cache in the home folder, which is created if needed. Empty, with a warning,
// if the copy cannot be created. A copy belongs to one version of the document, by size and time.
std::optional<std::string> cached_copy(const std::string& document);

// Installs /vsikerchunk_json_ref/, /vsikerchunk_json_ref_cached/ and /vsikerchunk_parquet_ref/.
void install_reference_file_systems();

}  // namespace gdal_zarr
