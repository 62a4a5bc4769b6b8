#include "driver/conventions/cf/units.h"

#include <cpl_conv.h>
#include <cpl_string.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "zarrcore/base/error.h"
#include "zarrcore/base/json.h"

namespace gdal_zarr::cf {
namespace {

struct UnitWord {
  const char* word;
  const char* name;
  double size;  // in metres or radians
};

// Of the words for one length the first is the one to write.
constexpr UnitWord kLengths[] = {
    {"m", "metre", 1},
    {"metre", "metre", 1},
    {"metres", "metre", 1},
    {"meter", "metre", 1},
    {"meters", "metre", 1},
    {"km", "kilometre", 1000},
    {"kilometre", "kilometre", 1000},
    {"kilometres", "kilometre", 1000},
    {"kilometer", "kilometre", 1000},
    {"kilometers", "kilometre", 1000},
    {"ft", "foot", 0.3048},
    {"foot", "foot", 0.3048},
    {"feet", "foot", 0.3048},
    {"international_foot", "foot", 0.3048},
    {"international_feet", "foot", 0.3048},
    {"US_survey_foot", "US survey foot", 1200.0 / 3937.0},
    {"US_survey_feet", "US survey foot", 1200.0 / 3937.0},
    {"US survey foot", "US survey foot", 1200.0 / 3937.0},
};

constexpr UnitWord kAngles[] = {
    {"rad", "radian", 1},
    {"radian", "radian", 1},
    {"radians", "radian", 1},
    {"mrad", "milliradian", 1e-3},
    {"milliradian", "milliradian", 1e-3},
    {"milliradians", "milliradian", 1e-3},
    {"urad", "microradian", 1e-6},
    {"microradian", "microradian", 1e-6},
    {"microradians", "microradian", 1e-6},
};

template <std::size_t Size>
const UnitWord* find_word(const UnitWord (&table)[Size], const char* word) {
  const auto* found = std::find_if(std::begin(table), std::end(table),
                                   [&](const UnitWord& unit) { return EQUAL(unit.word, word); });
  return found == std::end(table) ? nullptr : found;
}

const UnitWord* find_length(double metres) {
  const auto* found =
      std::find_if(std::begin(kLengths), std::end(kLengths),
                   [&](const UnitWord& unit) { return std::abs(metres / unit.size - 1) < 1e-12; });
  return found == std::end(kLengths) ? nullptr : found;
}

}  // namespace

LinearUnit read_linear_unit(const std::string& text, std::optional<double> satellite_height) {
  if (text.empty()) return {"metre", 1};
  char* word = nullptr;
  double factor = CPLStrtod(text.c_str(), &word);
  if (word == text.c_str()) factor = 1;
  while (*word == ' ') ++word;
  if (factor > 0 && std::isfinite(factor)) {
    if (const UnitWord* length = find_word(kLengths, word)) {
      const double metres = factor * length->size;
      const UnitWord* known = find_length(metres);
      return known != nullptr ? LinearUnit{known->name, known->size} : LinearUnit{text, metres};
    }
    if (const UnitWord* angle = find_word(kAngles, word); angle != nullptr && satellite_height) {
      return {std::string(angle->name) + " at satellite height",
              factor * angle->size * *satellite_height};
    }
  }
  throw zarrcore::Error("the unit of the coordinates is no length: " + text);
}

std::string format_linear_unit(double metres) {
  const UnitWord* known = find_length(metres);
  return known != nullptr ? known->word : zarrcore::dump_json(metres) + " m";
}

}  // namespace gdal_zarr::cf
