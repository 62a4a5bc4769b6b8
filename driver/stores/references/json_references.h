// Kerchunk's JSON documents of references, versions 0 and 1
// (https://fsspec.github.io/kerchunk/spec.html). The document's text stays in memory, with an index
// of where each key's value begins; a value is parsed when it is requested.
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

#include "driver/stores/references/reference.h"
#include "driver/stores/references/template.h"
#include "zarrcore/base/json.h"

namespace gdal_zarr {

// The maximum size of a document in bytes.
inline constexpr std::uint64_t kMaxReferenceDocumentBytes = std::uint64_t{1} << 30;
// The maximum number of keys that the "gen" part of a document may generate, and of their bytes.
inline constexpr std::uint64_t kMaxGeneratedKeys = 1'000'000;
inline constexpr std::uint64_t kMaxGeneratedKeyBytes = 64 << 20;

// The "gen" part of a document: a generator makes the keys of many references, and the references,
// from templates.
//
//   {"key": "data/{{i}}", "url": "file_{{i}}.nc", "offset": "{{i * 100}}", "length": "100",
//    "dimensions": {"i": {"stop": 5}}}
class Generator {
 public:
  // Throws zarrcore::Error when `json` is not a generator.
  explicit Generator(const zarrcore::Json& json);

  // The number of references; empty when it does not fit 64 bits.
  std::optional<std::uint64_t> count() const;

  // The key of a reference, and the reference, by its number. Throw zarrcore::Error.
  std::string key(std::uint64_t number, const Templates& templates) const;
  Reference reference(std::uint64_t number, const Templates& templates) const;

 private:
  // The values of a variable: a list of numbers or texts, or a range.
  struct Dimension {
    std::string name;
    std::vector<TemplateValue> values;  // empty for a range
    std::int64_t start = 0;
    std::int64_t step = 1;
    std::uint64_t count = 0;
  };

  static Dimension read_dimension(const std::string& name, const zarrcore::Json& json);
  TemplateVariables variables(std::uint64_t number) const;

  std::string key_;
  std::string url_;
  std::string offset_;
  std::optional<std::string> length_;  // absent for whole files
  std::vector<Dimension> dimensions_;
};

class JsonReferences final : public References {
 public:
  // The document states its version, or is of version 0 regardless of its keys.
  enum class Version : bool { stated, zero };

  // Throws zarrcore::Error when `document` is not a document of references.
  explicit JsonReferences(zarrcore::Buffer document, Version version = Version::stated);

  std::optional<Reference> find(std::string_view key) const override;
  zarrcore::DirectoryListing list(std::string_view prefix, std::uint64_t max_chunks) const override;
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
  std::string_view own(std::string text);
  std::vector<Entry>::const_iterator lower_bound(std::string_view key) const;
  Reference parse(const Entry& entry) const;

  zarrcore::Buffer document_;
  Templates templates_;
  std::deque<Generator> generators_;
  std::deque<std::string> own_keys_;  // keys that are not part of the document's text
  std::vector<Entry> entries_;        // by key
};

// Returns true if a file that begins with `text` seems to be a document of references;
// `is_complete` if that is the whole file. Empty when deciding needs more of the file.
std::optional<bool> is_reference_document(std::string_view text, bool is_complete);

}  // namespace gdal_zarr
