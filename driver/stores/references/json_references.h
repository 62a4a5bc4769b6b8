// Kerchunk's JSON documents of references, versions 0 and 1
// (https://fsspec.github.io/kerchunk/spec.html). The text of the document is kept as it is, with an
// index of where each key's value stands; what a value means is found when it is asked for.
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

// No document is larger, in bytes.
inline constexpr std::uint64_t kMaxReferenceDocumentBytes = std::uint64_t{1} << 30;
// The "gen" part of a document makes at most so many keys, of so many bytes in all.
inline constexpr std::uint64_t kMaxGeneratedKeys = 1'000'000;
inline constexpr std::uint64_t kMaxGeneratedKeyBytes = 64 << 20;

class JsonReferences final : public References {
 public:
  // Throws zarrcore::Error when `document` holds no references.
  explicit JsonReferences(zarrcore::Buffer document);

  std::optional<Reference> find(std::string_view key) const override;
  zarrcore::DirectoryListing list(std::string_view prefix) const override;

 private:
  // The numbers or texts that a dimension of a generator runs through.
  struct Dimension {
    std::string name;
    std::vector<TemplateValue> values;  // a list, or
    std::int64_t start = 0;             // a range
    std::int64_t step = 1;
    std::uint64_t count = 0;
  };
  struct Generator {
    std::string key;
    std::string url;
    std::string offset;
    std::optional<std::string> length;  // absent for whole files
    std::vector<Dimension> dimensions;

    TemplateVariables variables(std::uint64_t ordinal) const;
  };
  struct Entry {
    std::string_view key;
    std::string_view value;                // JSON; empty for a generated key, which has
    const Generator* generator = nullptr;  // one of these, and
    std::uint64_t ordinal = 0;             // its place among those of the generator
  };

  void read_templates(std::string_view json);
  void read_generators(std::string_view json);
  static Generator read_generator(const zarrcore::Json& json);
  void add_entries(std::string_view json);
  void generate_keys();
  void sort_entries();
  std::string_view keep(std::string text);
  std::vector<Entry>::const_iterator lower_bound(std::string_view key) const;
  Reference parse(const Entry& entry) const;
  Reference generate(const Entry& entry) const;

  zarrcore::Buffer document_;
  Templates templates_;
  std::deque<Generator> generators_;
  std::deque<std::string> kept_keys_;  // those that do not stand in the document
  std::vector<Entry> entries_;         // by key
};

// Whether a file that begins with `text` seems to be a document of references; `is_complete` when
// there is no more of it. Nothing when more of it has to be seen to tell.
std::optional<bool> is_reference_document(std::string_view text, bool is_complete);

}  // namespace gdal_zarr
