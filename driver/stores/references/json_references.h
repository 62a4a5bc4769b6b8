// Kerchunk's JSON documents of references, versions 0 and 1
// (https://fsspec.github.io/kerchunk/spec.html). The document's text is kept, with an index of
// where each key's value begins; a value is parsed when it is requested.
//
//   {"version": 1, "templates": {"u": "s3://bucket/file.nc"},
//    "refs": {".zgroup": "{\"zarr_format\": 2}", "a/0.0": ["{{u}}", 4096, 1024]}}
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "driver/stores/references/generator.h"
#include "driver/stores/references/reference.h"
#include "driver/stores/references/template.h"

namespace gdal_zarr {

// The maximum size of a document in bytes.
inline constexpr std::uint64_t kMaxReferenceDocumentBytes = std::uint64_t{1} << 30;
// The maximum number of keys that the "gen" part of a document may generate, and of their bytes.
inline constexpr std::uint64_t kMaxGeneratedKeys = 1'000'000;
inline constexpr std::uint64_t kMaxGeneratedKeyBytes = 64 << 20;

class JsonReferences final : public References {
 public:
  // Whether the document states its version, or is of version 0 whatever its keys are.
  enum class Version : bool { stated, zero };

  // Throws zarrcore::Error when `document` is not a document of references.
  explicit JsonReferences(zarrcore::Buffer document, Version version = Version::stated);

  std::optional<Reference> find(std::string_view key) const override;
  zarrcore::DirectoryListing list(std::string_view prefix) const override;
  zarrcore::DirectoryListing list_all(std::string_view prefix,
                                      std::uint64_t /*max_count*/) const override {
    return list(prefix);
  }
  bool has_below(std::string_view prefix) const override;
  // Also throws if there is no Zarr among the keys.
  void check() const override;
  std::uint64_t byte_count() const override;

  // Calls `use(key)` for each key, in their order.
  template <typename Use>
  void for_each_key(const Use& use) const {
    for (const Entry& entry : entries_) use(entry.key);
  }

 private:
  struct Entry {
    std::string_view key;
    std::string_view value;                // JSON; empty for a generated key
    const Generator* generator = nullptr;  // of a generated key
    std::uint64_t number = 0;              // among the keys of the generator
  };

  void read(Version version);
  void read_templates(std::string_view json);
  void read_generators(std::string_view json);
  void add_entries(std::string_view json);
  void generate_keys();
  void sort_entries();
  std::string_view keep(std::string text);
  std::vector<Entry>::const_iterator lower_bound(std::string_view key) const;
  Reference parse(const Entry& entry) const;

  zarrcore::Buffer document_;
  Templates templates_;
  std::deque<Generator> generators_;
  std::deque<std::string> kept_keys_;  // keys that are not part of the document's text
  std::vector<Entry> entries_;         // by key
};

// Whether a file that begins with `text` seems to be a document of references; `is_complete` if
// that is the whole file. Empty when deciding needs more of the file.
std::optional<bool> is_reference_document(std::string_view text, bool is_complete);

}  // namespace gdal_zarr
