#include "driver/conventions/dimension_units.h"

#include <charconv>
#include <cmath>
#include <string_view>

#include "zarrcore/base/error.h"

namespace gdal_zarr {
namespace {

using zarrcore::Error;
using zarrcore::Json;

void skip_spaces(std::string_view& text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
}

DimensionUnit parse_unit_text(std::string_view text) {
  DimensionUnit unit;
  skip_spaces(text);
  // Names such as "nanometre" and "inch" do not begin with a number, though "nan" may look like
  // one.
  const bool may_be_number = text.find_first_of("0123456789.") <= (text.starts_with('-') ? 1U : 0U);
  if (may_be_number) {
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), unit.multiplier);
    if (error == std::errc::result_out_of_range) {
      throw Error('"' + std::string(text) + "\" is out of range");
    }
    if (error == std::errc()) {
      text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    }
  }
  skip_spaces(text);
  while (text.ends_with(' ')) text.remove_suffix(1);
  unit.base = text;
  return unit;
}

std::optional<DimensionUnit> parse_unit(const Json& value) {
  if (value.is_null()) return std::nullopt;
  std::optional<DimensionUnit> unit;
  if (value.is_string()) unit = parse_unit_text(value.get_ref<const std::string&>());
  const bool is_pair =
      value.is_array() && value.size() == 2 && value[0].is_number() && value[1].is_string();
  if (is_pair) unit = DimensionUnit{value[0].get<double>(), value[1].get<std::string>()};
  if (!unit) throw Error(value.dump() + " is not a unit");
  if (unit->multiplier == 0 || !std::isfinite(unit->multiplier)) {
    throw Error(value.dump() + " is not a length of a step");
  }
  return unit;
}

}  // namespace

std::vector<std::optional<DimensionUnit>> dimension_units(const Json& array_attributes,
                                                          std::size_t rank) {
  std::vector<std::optional<DimensionUnit>> units;
  const Json* list = zarrcore::find_member(array_attributes, "dimension_units");
  if (list == nullptr) return units;
  try {
    if (!list->is_array()) throw Error("it is not a list");
    if (list->size() != rank) {
      throw Error("it has " + std::to_string(list->size()) + " members, and the array has " +
                  std::to_string(rank) + " dimensions");
    }
    for (const Json& value : *list) units.push_back(parse_unit(value));
  } catch (const Error& error) {
    throw Error(std::string("the attribute dimension_units is not used: ") + error.what());
  }
  return units;
}

}  // namespace gdal_zarr
