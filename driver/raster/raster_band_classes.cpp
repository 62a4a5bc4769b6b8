// What the values of bands mean: the flags of CF as category names and as an attribute table, and
// what products say of spectral bands.
#include <gdal_rat.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "driver/conventions/attribute_change.h"
#include "driver/conventions/cf/flags.h"
#include "driver/conventions/packing.h"
#include "driver/gdal/error_guard.h"
#include "driver/gdal/messages.h"
#include "driver/raster/group_raster.h"
#include "driver/raster/raster_band.h"
#include "zarrcore/base/text.h"

namespace gdal_zarr {
namespace {

std::unique_ptr<GDALDefaultRasterAttributeTable> make_table(const std::vector<cf::Flag>& flags) {
  auto table = std::make_unique<GDALDefaultRasterAttributeTable>();
  const auto is_small = [](std::int64_t number) { return std::in_range<std::int32_t>(number); };
  const auto are_small = std::ranges::all_of(flags, [&](const cf::Flag& flag) {
    return is_small(flag.value) && is_small(flag.mask.value_or(0));
  });
  const GDALRATFieldType number = are_small ? GFT_Integer : GFT_Real;
  const bool have_masks = flags.front().mask.has_value();
  const bool have_colors =
      std::ranges::all_of(flags, [](const cf::Flag& flag) { return flag.color.has_value(); });
  table->CreateColumn("Value", number, have_masks ? GFU_Generic : GFU_MinMax);
  if (have_masks) table->CreateColumn("Mask", number, GFU_Generic);
  table->CreateColumn("Class", GFT_String, GFU_Name);
  if (have_colors) {
    table->CreateColumn("Red", GFT_Integer, GFU_Red);
    table->CreateColumn("Green", GFT_Integer, GFU_Green);
    table->CreateColumn("Blue", GFT_Integer, GFU_Blue);
  }
  table->SetTableType(GRTT_THEMATIC);
  table->SetRowCount(static_cast<int>(flags.size()));
  for (int row = 0; row < static_cast<int>(flags.size()); ++row) {
    const cf::Flag& flag = flags[static_cast<std::size_t>(row)];
    int column = 0;
    table->SetValue(row, column++, static_cast<double>(flag.value));
    if (have_masks) table->SetValue(row, column++, static_cast<double>(*flag.mask));
    table->SetValue(row, column++, flag.meaning.c_str());
    for (const unsigned shift : {16U, 8U, 0U}) {
      if (have_colors) table->SetValue(row, column++, static_cast<int>(*flag.color >> shift & 255));
    }
  }
  return table;
}

// Of STAC's common names. GDAL before 3.10 knows the first three.
GDALColorInterp color_of(const std::string& common_name) {
  static constexpr std::pair<std::string_view, const char*> kNames[] = {{"red", "Red"},
                                                                        {"green", "Green"},
                                                                        {"blue", "Blue"},
                                                                        {"pan", "Pan"},
                                                                        {"coastal", "Coastal"},
                                                                        {"rededge", "RedEdge"},
                                                                        {"rededge071", "RedEdge"},
                                                                        {"rededge075", "RedEdge"},
                                                                        {"rededge078", "RedEdge"},
                                                                        {"nir", "NIR"},
                                                                        {"nir08", "NIR"},
                                                                        {"nir09", "NIR"},
                                                                        {"swir16", "SWIR"},
                                                                        {"swir22", "SWIR"}};
  for (const auto& [common, name] : kNames) {
    if (common == common_name) return GDALGetColorInterpretationByName(name);
  }
  return GCI_Undefined;
}

}  // namespace

void RasterBand::read_flags() {
  cf::Flags flags = cf::find_flags(array().metadata().attributes, seen_type(array().metadata()));
  if (flags == flags_) return;
  if (!flags.problem.empty()) {
    report(CE_Warning, CPLE_AppDefined, "Zarr: %s: array %s has no categories: %s",
           poDS->GetDescription(), array().GetFullName().c_str(), flags.problem.c_str());
  }
  categories_.Clear();
  for (const std::string& name : cf::category_names(flags.list))
    categories_.AddString(name.c_str());
  flag_table_ = flags.list.empty() ? nullptr : make_table(flags.list);
  flags_ = std::move(flags);
}

void RasterDataset::set_spectral_bands() {
  const auto stated = spectral_bands_of(view_.array());
  for (int number = 1; number <= nBands; ++number) {
    const std::string name = zarrcore::lower_case(view_.array_of(number - 1).GetName());
    const auto found = std::ranges::find(stated, name, &SpectralBand::name);
    if (found == stated.end()) continue;
    RasterBand& shown = band(number);
    shown.stated_color_ = color_of(found->common_name);
    // The domain and the items of GDAL 3.10.
    const auto set = [&](const char* key, const std::optional<double>& micrometres) {
      if (!micrometres) return;
      const std::string text = zarrcore::dump_json(*micrometres);
      shown.GDALRasterBand::SetMetadataItem(key, text.c_str(), "IMAGERY");
    };
    set("CENTRAL_WAVELENGTH_UM", found->wavelength_um);
    set("FWHM_UM", found->full_width_um);
  }
}

char** RasterBand::GetCategoryNames() {
  if (char** names = GDALPamRasterBand::GetCategoryNames()) return names;
  return guarded<char**>(nullptr, [&] {
    read_flags();
    return categories_.List();
  });
}

CPLErr RasterBand::SetCategoryNames(char** names) {
  return guarded(CE_Failure, [&] {
    const std::vector<std::string> list(names, names + CSLCount(names));
    const zarrcore::Json& old = array().metadata().attributes;
    const bool has_place = array().convention() == GeoreferencingConvention::cf ||
                           zarrcore::find_member(old, "flag_meanings") != nullptr;
    if (is_writable() && view().bands_are_arrays() && has_place) {
      const AttributeChange change =
          difference(old, cf::with_categories(old, list, seen_type(array().metadata())));
      if (!change.empty()) {
        array().change([&](zarrcore::ArrayMetadata& metadata) {
          metadata.attributes = apply_change(std::move(metadata.attributes), change);
        });
        for (const char* name : {"flag_values", "flag_meanings", "flag_colors"}) {
          dataset().show_attribute(name);
        }
      }
      read_flags();
      char** flags = categories_.List();
      if (list == std::vector<std::string>(flags, flags + categories_.size())) names = nullptr;
    }
    const bool has_changed = names != nullptr || GDALPamRasterBand::GetCategoryNames() != nullptr;
    return has_changed ? GDALPamRasterBand::SetCategoryNames(names) : CE_None;
  });
}

GDALRasterAttributeTable* RasterBand::GetDefaultRAT() {
  if (auto* table = GDALPamRasterBand::GetDefaultRAT()) return table;
  return guarded<GDALRasterAttributeTable*>(nullptr, [&] {
    read_flags();
    return flag_table_.get();
  });
}

}  // namespace gdal_zarr
