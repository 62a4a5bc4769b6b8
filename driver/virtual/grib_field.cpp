#include "driver/virtual/grib_field.h"

#include <cpl_string.h>

#include <algorithm>
#include <cstdlib>

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

// Of the product definition templates 4.1 and 4.11: the perturbation number.
std::optional<double> member_of(GDALRasterBand& band) {
  constexpr int kPlace = 16;
  const std::string definition = item_of(band, "GRIB_PDS_PDTN");
  if (definition != "1" && definition != "11") return std::nullopt;
  const CPLStringList values(
      CSLTokenizeString(item_of(band, "GRIB_PDS_TEMPLATE_ASSEMBLED_VALUES").c_str()));
  return values.size() > kPlace ? number_of(values[kPlace]) : std::nullopt;
}

}  // namespace

bool GribField::is_alike(const GribField& other) const {
  return element == other.element && comment == other.comment && level_type == other.level_type &&
         level.has_value() == other.level.has_value() &&
         member.has_value() == other.member.has_value();
}

GribField describe_grib_band(GDALRasterBand& band) {
  GribField field;
  field.element = item_of(band, "GRIB_ELEMENT");
  if (field.element.empty()) field.element = "unknown";
  field.comment = item_of(band, "GRIB_COMMENT");
  field.member = member_of(band);
  field.level_type = item_of(band, "GRIB_SHORT_NAME");
  const auto dash = field.level_type.rfind('-');
  if (dash == std::string::npos) return field;
  field.level = number_of(field.level_type.substr(0, dash));
  if (field.level) field.level_type.erase(0, dash + 1);
  return field;
}

}  // namespace gdal_zarr
