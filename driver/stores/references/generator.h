// The "gen" part of a Kerchunk document (https://fsspec.github.io/kerchunk/spec.html): a generator
// makes the keys of many references, and the references, from templates.
//
//   {"key": "data/{{i}}", "url": "file_{{i}}.nc", "offset": "{{i * 100}}", "length": "100",
//    "dimensions": {"i": {"stop": 5}}}
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "driver/stores/references/reference.h"
#include "driver/stores/references/template.h"
#include "zarrcore/base/json.h"

namespace gdal_zarr {

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

// The text of a template in a document, where an integer stands for its digits. `name` is for
// errors.
std::string template_text(const zarrcore::Json& value, const std::string& name);

}  // namespace gdal_zarr
