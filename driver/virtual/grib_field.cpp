#include "driver/virtual/grib_field.h"

#include <cpl_string.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>

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

// A product definition template (4.x): the places, counted from 0, of the perturbation number, of
// what else distinguishes products, and of the kind of statistics over time; -1 for none.
struct Product {
  int number;
  int member;
  int first;
  int last;
  int statistics;
};
constexpr Product kProducts[] = {{1, 16, -1, -1, -1},  {2, -1, 15, 15, -1},  {5, -1, 15, 21, -1},
                                 {6, -1, 15, 15, -1},  {8, -1, -1, -1, 23},  {9, -1, 15, 21, 30},
                                 {10, -1, 15, 15, 24}, {11, 16, -1, -1, 26}, {12, -1, 15, 15, 25}};

void describe_product(GDALRasterBand& band, GribField& field) {
  constexpr const char* kStatistics[] = {"average", "accumulation", "maximum", "minimum",
                                         "difference"};
  const std::string definition = item_of(band, "GRIB_PDS_PDTN");
  const CPLStringList values(
      CSLTokenizeString(item_of(band, "GRIB_PDS_TEMPLATE_ASSEMBLED_VALUES").c_str()));
  const auto value_at = [&](int place) -> std::string {
    return place >= 0 && place < values.size() ? values[place] : "";
  };
  const auto* product =
      std::ranges::find(kProducts, std::atoi(definition.c_str()), &Product::number);
  if (product == std::end(kProducts)) {
    field.kind = definition == "0" ? "" : definition;
    return;
  }
  field.member = number_of(value_at(product->member));
  for (int place = product->first; place >= 0 && place <= product->last; ++place) {
    field.kind += value_at(place) + ' ';
  }
  if (!field.kind.empty()) field.kind = definition + ": " + field.kind;
  if (product->statistics < 0) return;
  const std::string statistics = value_at(product->statistics);
  field.kind += '/' + statistics;
  const int number = statistics.empty() ? -1 : std::atoi(statistics.c_str());
  if (number >= 0 && number < static_cast<int>(std::size(kStatistics))) {
    field.comment += std::string(", ") + kStatistics[number];
  }
}

}  // namespace

bool GribField::is_alike(const GribField& other) const {
  return element == other.element && comment == other.comment && kind == other.kind &&
         level_type == other.level_type && level.has_value() == other.level.has_value() &&
         member.has_value() == other.member.has_value();
}

GribField describe_grib_band(GDALRasterBand& band) {
  GribField field;
  field.element = item_of(band, "GRIB_ELEMENT");
  if (field.element.empty()) field.element = "unknown";
  field.comment = item_of(band, "GRIB_COMMENT");
  describe_product(band, field);
  field.level_type = item_of(band, "GRIB_SHORT_NAME");
  const auto dash = field.level_type.rfind('-');
  if (dash == std::string::npos) return field;
  field.level = number_of(field.level_type.substr(0, dash));
  if (field.level) field.level_type.erase(0, dash + 1);
  return field;
}

}  // namespace gdal_zarr
