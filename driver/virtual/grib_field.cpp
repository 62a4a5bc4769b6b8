#include "driver/virtual/grib_field.h"

#include <cpl_string.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iterator>
#include <span>

#include "zarrcore/base/error.h"

namespace gdal_zarr {
namespace {

std::string item_of(GDALRasterBand& band, const char* name) {
  const char* const value = band.GetMetadataItem(name);
  return value != nullptr ? value : "";
}

std::optional<double> number_of(const std::string& text) {
  char* end = nullptr;
  const double value = CPLStrtod(text.c_str(), &end);
  const bool is_number = !text.empty() && end == text.c_str() + text.size();
  return is_number ? std::optional(value) : std::nullopt;
}

// What a code of a code table means; empty if the table has no such code.
std::string meaning(std::span<const char* const> table, std::size_t code) {
  return code < table.size() ? table[code] : "";
}

constexpr const char* kStatistics[] = {
    "average",   "accumulation", "maximum",    "minimum", "difference", "root mean square",
    "deviation", "covariance",   "difference", "ratio",   "anomaly",    "sum"};
constexpr const char* kDerived[] = {"ensemble mean",      "weighted ensemble mean",
                                    "ensemble deviation", "normalized ensemble deviation",
                                    "ensemble spread",    "ensemble anomaly index",
                                    "cluster mean",       "ensemble interquartile range",
                                    "ensemble minimum",   "ensemble maximum"};

// A product definition template (4.x): the places, counted from 0, of the member of an ensemble, of
// what else distinguishes products, and of the first kind of statistics over time; -1 for none.
struct Product {
  enum class Told : std::uint8_t { nowhere, by_gdal, by_code };

  int number;
  int member;
  int first;
  int last;
  int statistics;
  // What distinguishes it: in the comment of GDAL, or a code of kDerived.
  Told told = Told::nowhere;
};
constexpr int kEnd = 255;  // of any template
using Told = Product::Told;
constexpr Product kProducts[] = {{0, -1, -1, -1, -1},
                                 {1, 16, -1, -1, -1},
                                 {2, -1, 15, 15, -1, Told::by_code},
                                 {5, -1, 15, 21, -1, Told::by_gdal},
                                 {6, -1, 15, 15, -1, Told::by_gdal},
                                 {8, -1, -1, -1, 23},
                                 {9, -1, 15, 21, 30, Told::by_gdal},
                                 {10, -1, 15, 15, 24, Told::by_gdal},
                                 {11, 16, -1, -1, 26},
                                 {12, -1, 15, 15, 25, Told::by_code},
                                 {15, -1, 15, kEnd, -1},
                                 {32, -1, 9, kEnd, -1},
                                 {40, -1, 2, 2, -1},
                                 {48, -1, 2, 12, -1}};
constexpr Product kUnknown{-1, -1, 2, kEnd, -1};

void describe_product(GDALRasterBand& band, const std::string& definition, GribField& field) {
  const CPLStringList values(
      CSLTokenizeString(item_of(band, "GRIB_PDS_TEMPLATE_ASSEMBLED_VALUES").c_str()));
  const auto value_at = [&](int place) -> std::string {
    return place >= 0 && place < values.size() ? values[place] : "";
  };
  const auto code_at = [&](int place) -> std::size_t {
    const std::string value = value_at(place);
    return value.empty() ? std::size_t{kEnd} : std::strtoul(value.c_str(), nullptr, 10);
  };
  const auto* product =
      std::ranges::find(kProducts, std::atoi(definition.c_str()), &Product::number);
  if (product == std::end(kProducts)) product = &kUnknown;
  field.member = number_of(value_at(product->member));
  for (int place = product->first; place >= 0 && place <= product->last; ++place) {
    if (place < values.size()) field.kind += ' ' + value_at(place);
  }
  if (!field.kind.empty()) field.kind = "product 4." + definition + ':' + field.kind;
  if (product->told == Told::nowhere) field.words = field.kind;
  if (product->told == Told::by_code) field.words = meaning(kDerived, code_at(product->first));
  if (product->statistics < 0) return;
  // Statistics of statistics, such as means of maxima, have several ranges of time.
  constexpr int kRange = 6;
  std::string words;
  const int count = std::atoi(value_at(product->statistics - 2).c_str());
  for (int i = 0; i < std::min(count, values.size()); ++i) {
    const int place = product->statistics + i * kRange;
    field.kind += '/' + value_at(place);
    const std::string word = meaning(kStatistics, code_at(place));
    if (!word.empty()) words += (words.empty() ? "" : " of ") + word;
  }
  if (!words.empty() && !field.words.empty()) words += ", ";
  field.words = words + field.words;
}

// How values of edition 1 relate to time.
struct TimeRange {
  const char* words;
  std::array<unsigned, 5> indicators;  // code table 5; zeros fill the rest
};
constexpr TimeRange kTimeRanges[] = {{"", {0, 1, 10}},
                                     {"range", {2}},
                                     {"average", {3, 113, 115, 117, 123}},
                                     {"accumulation", {4, 114, 116, 124}},
                                     {"difference", {5}},
                                     {"climatological mean", {51}},
                                     {"variance", {118}},
                                     {"deviation", {119, 125}}};

// Edition 1. Octets are counted from 1 as in the manual.
void describe_product(zarrcore::ByteSpan section, GribField& field) {
  const auto octet = [&](std::size_t number) {
    return number <= section.size() ? std::to_integer<unsigned>(section[number - 1]) : 0;
  };
  section = section.first(
      std::min<std::size_t>(section.size(), octet(1) << 16 | octet(2) << 8 | octet(3)));
  const unsigned indicator = octet(21);
  const auto* range = std::ranges::find_if(kTimeRanges, [&](const TimeRange& candidate) {
    return std::ranges::count(candidate.indicators, indicator) != 0;
  });
  if (range != std::begin(kTimeRanges)) {
    field.kind = "time range " + std::to_string(indicator);
    field.words = range != std::end(kTimeRanges) ? range->words : field.kind;
  }
  // ECMWF's labels of MARS: the type of a field, and the number of a member of an ensemble.
  constexpr unsigned kEcmwf = 98;
  constexpr unsigned kDefinitions[] = {1, 30, 36};
  if (octet(5) != kEcmwf || std::ranges::count(kDefinitions, octet(41)) == 0) return;
  constexpr unsigned kAtATime[] = {2, 9, 10, 11};  // analysis, forecast, control, perturbed
  const unsigned type = octet(43);
  if (std::ranges::count(kAtATime, type) == 0) {
    const std::string words = "type " + std::to_string(type);
    field.kind += '/' + words;
    field.words += (field.words.empty() ? "" : ", ") + words;
  }
  if (octet(50) != 0 || octet(51) != 0) field.member = octet(50);
}

}  // namespace

bool GribField::is_alike(const GribField& other) const {
  return element == other.element && comment == other.comment && kind == other.kind &&
         level_type == other.level_type && level.has_value() == other.level.has_value() &&
         member.has_value() == other.member.has_value();
}

GribField describe_grib_band(GDALRasterBand& band, zarrcore::ByteSpan product) {
  GribField field;
  field.element = item_of(band, "GRIB_ELEMENT");
  if (field.element.empty()) field.element = "unknown";
  field.comment = item_of(band, "GRIB_COMMENT");
  const std::string definition = item_of(band, "GRIB_PDS_PDTN");
  if (definition.empty()) {
    describe_product(product, field);
  } else if (field.comment == "unknown") {
    throw zarrcore::Error("GDAL does not know its product definition template 4." + definition);
  } else {
    describe_product(band, definition, field);
  }
  field.level_type = item_of(band, "GRIB_SHORT_NAME");
  const auto dash = field.level_type.rfind('-');
  if (dash == std::string::npos) return field;
  field.level = number_of(field.level_type.substr(0, dash));
  if (field.level) field.level_type.erase(0, dash + 1);
  return field;
}

}  // namespace gdal_zarr
