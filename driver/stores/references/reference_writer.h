// A new store of Kerchunk references: a JSON document, or a folder with Parquet files. Values that
// are put are stored in it; chunks that are parts of other files are put as references. It is
// written by flush(), with all that has been put until then, which is in memory. Chunks that
// are too many for that are put into a file beside the document, or in the folder, which no other
// store has (find_side_files()), and become references to it.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "driver/stores/references/reference.h"
#include "driver/stores/references/reference_store.h"
#include "driver/stores/references/target_files.h"
#include "driver/stores/vsi/vsi_file.h"
#include "zarrcore/store/store.h"

namespace gdal_zarr {

// How references name files: by absolute paths and URLs, or from the folder of the document.
enum class TargetNames : bool { absolute, relative };

// The paths of files that hold chunks of the store at `path`, and which it names by their paths.
std::vector<std::string> find_side_files(const std::string& path);

class ReferenceWriter final : public zarrcore::Store, public ReferenceTarget {
 public:
  ReferenceWriter(ReferenceKind kind, const std::string& path, TargetNames names);
  // Removes the file with chunks if no references that are stored name it.
  ~ReferenceWriter() override;

  void put_reference(std::string_view key, Reference reference) override;

  std::optional<zarrcore::Buffer> get(std::string_view key, std::uint64_t max_size) override;
  bool put_parts(std::string_view key, std::span<const zarrcore::ValuePart> parts,
                 const zarrcore::PutOptions& options) override;
  bool erase(std::string_view key, const zarrcore::EraseOptions& options) override;
  zarrcore::DirectoryListing list(std::string_view prefix,
                                  const zarrcore::ListOptions& options) override;
  // Throws zarrcore::Error, also if Parquet files cannot hold the references.
  void flush() override;
  std::string description() const override { return path_; }

 private:
  struct Entry {
    const std::string* target = nullptr;  // a name among `target_names_`; null for a value
    std::uint64_t offset = 0;
    std::uint64_t length = 0;
    zarrcore::Buffer value = {};
  };
  using Entries = std::map<std::string, Entry, std::less<>>;

  void put_entry(std::string_view key, Entry entry);
  void put_beside(Entry& entry);
  void flush_beside() const;
  const std::string* name_of(const std::string& target);
  std::string stored_name(const std::string& path) const;
  Reference reference_of(const Entry& entry) const;
  std::string json_of(const Entries::value_type& entry) const;
  void write_json() const;
  void write_parquet() const;
  void write_records(const std::string& array) const;

  ReferenceKind kind_;
  std::string path_;
  TargetNames names_;
  TargetFiles targets_;
  mutable std::mutex mutex_;
  std::unordered_map<std::string, std::string> target_names_;  // by path
  Entries entries_;
  std::uint64_t value_bytes_ = 0;  // of all entries
  std::string beside_path_;        // empty if there is none
  File beside_;
  const std::string* beside_name_ = nullptr;
  std::uint64_t beside_bytes_ = 0;
  bool has_changed_ = false;
  bool names_beside_ = false;  // in the references that are stored
};

// The store for a name that ends in .json, .parq or .parquet. Throws zarrcore::Error for others.
std::shared_ptr<ReferenceWriter> make_reference_writer(const std::string& path, TargetNames names);

}  // namespace gdal_zarr
