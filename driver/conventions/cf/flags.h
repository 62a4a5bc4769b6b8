// Flags of CF: attributes that say what the values of an array mean (section 3.5 of the
// conventions, https://cfconventions.org/cf-conventions/cf-conventions.html#flags).
//
//   flag_values = [0, 1, 4]   flag_meanings = "water land ice"
//   flag_masks = [1, 2, 12]   with values: values of the bits under the mask; alone: bits that are
//   set
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "zarrcore/base/json.h"
#include "zarrcore/dtype/data_type.h"

namespace gdal_zarr::cf {

struct Flag {
  std::int64_t value = 0;  // as the elements are seen
  std::optional<std::int64_t> mask = {};
  std::string meaning;
  std::optional<std::uint32_t> color = {};  // of `flag_colors` (Copernicus)

  bool operator==(const Flag&) const = default;
};

struct Flags {
  std::vector<Flag> list;
  std::string problem;  // why there are none, if attributes contradict each other; else empty

  bool operator==(const Flags&) const = default;
};

// 0xRRGGBB from six digits, with or without a # before them; empty for anything else.
std::optional<std::uint32_t> parse_color(std::string_view text);

// The flags that the attributes of an array state. `seen` is the type of its elements: see
// seen_type(). Only integers have flags.
Flags find_flags(const zarrcore::Json& attributes, const zarrcore::DataType& seen);

// The meanings by value, as GDAL has categories; empty for flags with masks, for negative values
// and for those above 65,535. Values without a flag have an empty name.
std::vector<std::string> category_names(const std::vector<Flag>& flags);

// The attributes with flags that give these names to the values from 0 on; a value with an empty
// name gets no flag. Characters that a meaning cannot have become '_'. Without names, flags that
// are categories are removed. Attributes with masks, and attributes of arrays whose elements cannot
// have the values, stay unchanged.
zarrcore::Json with_categories(zarrcore::Json attributes, std::span<const std::string> names,
                               const zarrcore::DataType& seen);

}  // namespace gdal_zarr::cf
