// The table of creation options, for creation_options.cpp alone.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include "driver/new_array/creation_options.h"

namespace gdal_zarr {

enum class ValueType : std::uint8_t {
  text,
  boolean,
  integer,  // from `low` to `high`
  real,     // likewise
  choice,   // one of `values`
  lengths,  // "256,256"
};

// A value of a choice.
struct OptionValue {
  std::string_view name;
  std::string_view alias = {};
};

struct Option {
  std::string_view name;
  OptionScope scope;
  ValueType type;
  std::string_view default_value;  // empty for none
  std::string_view description;
  std::span<const OptionValue> values = {};
  double low = std::numeric_limits<double>::lowest();
  double high = std::numeric_limits<double>::max();
  std::string_view alias = {};
  // What other options have to be, or this one has no effect: "COMPRESS=ZSTD", "A=B or C=D".
  std::string_view needed = {};
};

std::span<const Option> creation_options();

// The option of this name or alias, in letters of any case, or null.
const Option* find_creation_option(std::string_view name);

}  // namespace gdal_zarr
