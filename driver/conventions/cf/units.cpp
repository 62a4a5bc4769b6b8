#include "driver/conventions/cf/units.h"

#include <cpl_conv.h>
#include <cpl_string.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>
#include <span>

#include "driver/conventions/cf/attributes.h"
#include "zarrcore/base/json.h"
#include "zarrcore/base/text.h"

namespace gdal_zarr::cf {
namespace {

struct UnitWords {
  std::string_view words;  // the first is written; longer ones have a plural
  const char* name;
  double size;  // in metres or radians
};

constexpr UnitWords kLengths[] = {
    {"m metre", "metre", 1},
    {"km kilometre", "kilometre", 1000},
    {"cm centimetre", "centimetre", 0.01},
    {"mm millimetre", "millimetre", 0.001},
    {"ft foot feet international_foot international_feet", "foot", 0.3048},
    {"US_survey_foot US_survey_feet", "US survey foot", 1200.0 / 3937.0},
};

constexpr double kDegree = std::numbers::pi / 180;

constexpr UnitWords kAngles[] = {
    {"rad radian", "radian", 1},
    {"mrad milliradian", "milliradian", 1e-3},
    {"urad microradian", "microradian", 1e-6},
    {"deg degree", "degree", kDegree},
    {"arc_minute arcminute arcmin", "arc minute", kDegree / 60},
    {"arc_second arcsecond arcsec", "arc second", kDegree / 3600},
};

constexpr const char* kCounts[] = {"1",     "-",      "none",  "unitless", "dimensionless",
                                   "count", "counts", "index", "pixel",    "pixels"};

// A word in lower case and British spelling, and without the plural.
std::string singular(const char* word) {
  std::string text = zarrcore::lower_case(word);
  if (text.ends_with("meters") || text.ends_with("metres")) text.pop_back();
  if (text.ends_with("meter")) text.replace(text.size() - 2, 2, "re");
  if (text.size() > 6 && text.ends_with('s')) text.pop_back();
  if (text == "us survey foot") text = "us_survey_foot";
  return text;
}

const UnitWords* find_word(std::span<const UnitWords> table, const char* word) {
  const std::string wanted = singular(word);
  const auto found = std::ranges::find_if(table, [&](const UnitWords& unit) {
    return is_word_of(zarrcore::lower_case(unit.words), wanted);
  });
  return found == table.end() ? nullptr : &*found;
}

const UnitWords* find_length(double metres) {
  const auto* found =
      std::find_if(std::begin(kLengths), std::end(kLengths),
                   [&](const UnitWords& unit) { return std::abs(metres / unit.size - 1) < 1e-12; });
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
    if (const UnitWords* length = find_word(kLengths, word)) {
      const double metres = factor * length->size;
      const UnitWords* known = find_length(metres);
      return known != nullptr ? Unit{UnitKind::length, known->size, known->name}
                              : Unit{UnitKind::length, metres, text};
    }
    if (const UnitWords* angle = find_word(kAngles, word)) {
      return {UnitKind::angle, factor * angle->size, angle->name};
    }
  }
  return {UnitKind::other, 1, text};
}

std::string format_linear_unit(double metres) {
  const UnitWords* known = find_length(metres);
  return known != nullptr ? std::string(known->words.substr(0, known->words.find(' ')))
                          : zarrcore::dump_json(metres) + " m";
}

}  // namespace gdal_zarr::cf
