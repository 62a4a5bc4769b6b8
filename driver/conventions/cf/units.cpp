#include "driver/conventions/cf/units.h"

#include <cpl_conv.h>
#include <cpl_string.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>

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
    {"cm", "centimetre", 0.01},
    {"centimetre", "centimetre", 0.01},
    {"centimetres", "centimetre", 0.01},
    {"centimeter", "centimetre", 0.01},
    {"centimeters", "centimetre", 0.01},
    {"mm", "millimetre", 0.001},
    {"millimetre", "millimetre", 0.001},
    {"millimetres", "millimetre", 0.001},
    {"millimeter", "millimetre", 0.001},
    {"millimeters", "millimetre", 0.001},
    {"ft", "foot", 0.3048},
    {"foot", "foot", 0.3048},
    {"feet", "foot", 0.3048},
    {"international_foot", "foot", 0.3048},
    {"international_feet", "foot", 0.3048},
    {"US_survey_foot", "US survey foot", 1200.0 / 3937.0},
    {"US_survey_feet", "US survey foot", 1200.0 / 3937.0},
    {"US survey foot", "US survey foot", 1200.0 / 3937.0},
};

constexpr double kDegree = std::numbers::pi / 180;

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
    {"deg", "degree", kDegree},
    {"degree", "degree", kDegree},
    {"degrees", "degree", kDegree},
    {"arc_minute", "arc minute", kDegree / 60},
    {"arcminute", "arc minute", kDegree / 60},
    {"arcmin", "arc minute", kDegree / 60},
    {"arc_second", "arc second", kDegree / 3600},
    {"arcsecond", "arc second", kDegree / 3600},
    {"arcseconds", "arc second", kDegree / 3600},
    {"arcsec", "arc second", kDegree / 3600},
};

constexpr const char* kCounts[] = {"1",     "-",      "none",  "unitless", "dimensionless",
                                   "count", "counts", "index", "pixel",    "pixels"};

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

Unit read_unit(const std::string& text) {
  const bool is_count = std::any_of(std::begin(kCounts), std::end(kCounts),
                                    [&](const char* word) { return EQUAL(word, text.c_str()); });
  if (text.empty() || is_count) return {};
  // "degrees_east" and its other spellings.
  if (STARTS_WITH_CI(text.c_str(), "degree")) return {UnitKind::angle, kDegree, "degree"};
  char* word = nullptr;
  double factor = CPLStrtod(text.c_str(), &word);
  if (word == text.c_str()) factor = 1;
  while (*word == ' ') ++word;
  if (factor > 0 && std::isfinite(factor)) {
    if (const UnitWord* length = find_word(kLengths, word)) {
      const double metres = factor * length->size;
      const UnitWord* known = find_length(metres);
      return known != nullptr ? Unit{UnitKind::length, known->size, known->name}
                              : Unit{UnitKind::length, metres, text};
    }
    if (const UnitWord* angle = find_word(kAngles, word)) {
      return {UnitKind::angle, factor * angle->size, angle->name};
    }
  }
  return {UnitKind::other, 1, text};
}

std::string format_linear_unit(double metres) {
  const UnitWord* known = find_length(metres);
  return known != nullptr ? known->word : zarrcore::dump_json(metres) + " m";
}

}  // namespace gdal_zarr::cf
