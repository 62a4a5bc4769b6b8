// A band's structure, its colours, and the meaning of its values: the flags of CF as category names
// and as an attribute table, and products' metadata of spectral bands. The chunks below a window:
// reading them in advance, and whether they are stored.
#include "driver/raster/raster_band.h"

#include <cpl_minixml.h>
#include <cpl_string.h>
#include <gdal_rat.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "driver/conventions/cf/flags.h"
#include "driver/conventions/gdal_attributes.h"
#include "driver/conventions/packing.h"
#include "driver/gdal/messages.h"
#include "driver/raster/candidates.h"
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

// For STAC's common names. GDAL before 3.10 knows the first three.
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

bool is_same_number(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

}  // namespace

RasterBand::RasterBand(RasterDataset* dataset, int band) {
  poDS = dataset;
  nBand = band;
  eDataType = array().GetDataType().GetNumericDataType();
  std::tie(nBlockXSize, nBlockYSize) = view().block_size();
}

const RasterView& RasterBand::view() const {
  return static_cast<RasterDataset*>(poDS)->view();
}

Array& RasterBand::array() const {
  return view().array_of(nBand - 1);
}

GDALRasterBand* RasterBand::GetMaskBand() {
  GDALRasterBand* mask = dataset().mask_of(nBand);
  return mask != nullptr ? mask : GDALPamRasterBand::GetMaskBand();
}

int RasterBand::GetMaskFlags() {
  if (dataset().mask_of(nBand) == nullptr) return GDALPamRasterBand::GetMaskFlags();
  const auto& masks = dataset().masks();
  return masks.size() == 1 && masks[0]->nBands == 1 ? GMF_PER_DATASET : 0;
}

CPLErr RasterBand::CreateMaskBand(int flags) {
  return dataset().create_mask(flags, nBand);
}

int RasterBand::GetOverviewCount() {
  const auto count = static_cast<int>(dataset().overviews().size());
  return count > 0 ? count : GDALPamRasterBand::GetOverviewCount();
}

GDALRasterBand* RasterBand::GetOverview(int index) {
  const auto& overviews = dataset().overviews();
  if (overviews.empty()) return GDALPamRasterBand::GetOverview(index);
  if (index < 0 || index >= static_cast<int>(overviews.size())) return nullptr;
  return overviews[static_cast<std::size_t>(index)]->GetRasterBand(nBand);
}

// In the list of an array's slices.
std::size_t RasterBand::color_place() const {
  return view().arrays().size() > 1 ? 0 : static_cast<std::size_t>(view().slice_number(nBand - 1));
}

GDALColorInterp RasterBand::GetColorInterpretation() {
  return guarded(GCI_Undefined, [&] {
    const zarrcore::Json* value =
        zarrcore::find_member(array().metadata().attributes, kColorInterpretation);
    const std::size_t place = color_place();
    if (value != nullptr && value->is_array() && value->size() > place) value = &(*value)[place];
    if (value != nullptr && value->is_string()) {
      return GDALGetColorInterpretationByName(value->get_ref<const std::string&>().c_str());
    }
    const GDALColorInterp saved = GDALPamRasterBand::GetColorInterpretation();
    if (saved != GCI_Undefined) return saved;
    if (stated_color_ != GCI_Undefined) return stated_color_;
    const auto shown = channel();
    const std::uint32_t color = shown ? shown->channel.color.value_or(0) : 0;
    return color == 0xff0000   ? GCI_RedBand
           : color == 0x00ff00 ? GCI_GreenBand
           : color == 0x0000ff ? GCI_BlueBand
                               : GCI_Undefined;
  });
}

CPLErr RasterBand::SetColorInterpretation(GDALColorInterp interpretation) {
  if (!is_writable()) return GDALPamRasterBand::SetColorInterpretation(interpretation);
  return guarded(CE_Failure, [&] {
    const std::uint64_t count = view().arrays().size() == 1 ? view().slice_count() : 1;
    if (count > RasterView::kMaxBands) {
      return GDALPamRasterBand::SetColorInterpretation(interpretation);
    }
    zarrcore::Json names = GDALGetColorInterpretationName(interpretation);
    if (count > 1) {
      const zarrcore::Json* stored =
          zarrcore::find_member(array().metadata().attributes, kColorInterpretation);
      zarrcore::Json list = zarrcore::Json::array();
      if (stored != nullptr && stored->is_array() && stored->size() == count) list = *stored;
      while (list.size() < count) {
        list.push_back(GDALGetColorInterpretationName(GCI_Undefined));
      }
      for (int band = 1; band <= view().band_count() && view().arrays().size() == 1; ++band) {
        const GDALColorInterp of_band =
            band == nBand ? interpretation : poDS->GetRasterBand(band)->GetColorInterpretation();
        list[static_cast<RasterBand*>(poDS->GetRasterBand(band))->color_place()] =
            GDALGetColorInterpretationName(of_band);
      }
      names = std::move(list);
    }
    array().set_attribute(kColorInterpretation, names);
    return CE_None;
  });
}

CPLErr RasterBand::SetColorTable(GDALColorTable* table) {
  const CPLErr stored = GDALPamRasterBand::SetColorTable(table);
  if (stored != CE_None || table == nullptr) return stored;
  const GDALColorInterp color = GetColorInterpretation();
  const bool is_undecided = color == GCI_Undefined || color == GCI_GrayIndex;
  return is_undecided ? SetColorInterpretation(GCI_PaletteIndex) : CE_None;
}

CPLErr RasterBand::SetStatistics(double min, double max, double mean, double deviation) {
  // Blocks that are written later would drop them.
  if (is_writable()) FlushCache(false);
  return GDALPamRasterBand::SetStatistics(min, max, mean, deviation);
}

void RasterBand::drop_statistics() {
  std::vector<std::string> names;
  const CSLConstList items = GDALPamRasterBand::GetMetadata();
  for (int i = 0; i < CSLCount(items); ++i) {
    if (!STARTS_WITH_CI(items[i], "STATISTICS_")) continue;
    const std::string item = items[i];
    names.push_back(item.substr(0, item.find('=')));
  }
  for (const std::string& name : names) {
    GDALPamRasterBand::SetMetadataItem(name.c_str(), nullptr);
  }
  if (psPam == nullptr || psPam->psSavedHistograms == nullptr) return;
  CPLDestroyXMLNode(psPam->psSavedHistograms);
  psPam->psSavedHistograms = nullptr;
  MarkPamDirty();
}

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

CPLErr RasterDataset::AdviseRead(int x, int y, int columns, int rows, int buffer_columns,
                                 int buffer_rows, GDALDataType type, int band_count, int* bands,
                                 OptionList options) {
  // Before GDAL 3.11, Python passes this to request all bands.
  if (band_count == 0 && bands == nullptr) band_count = nBands;
  return GDALPamDataset::AdviseRead(x, y, columns, rows, buffer_columns, buffer_rows, type,
                                    band_count, bands, options);
}

CPLErr RasterBand::AdviseRead(int x, int y, int columns, int rows, int buffer_columns,
                              int buffer_rows, GDALDataType type, OptionList options) {
  // Overviews are read instead.
  if (buffer_columns < columns && buffer_rows < rows && GetOverviewCount() > 0) {
    return GDALPamRasterBand::AdviseRead(x, y, columns, rows, buffer_columns, buffer_rows, type,
                                         options);
  }
  return guarded(CE_Failure, [&] {
    const auto selection = view().selection(nBand - 1, x, y, columns, rows);
    // Programs announce whole images, which they read window by window.
    const bool is_bounded = CSLFetchNameValue(options, "CACHE_SIZE") != nullptr;
    if (is_bounded || !array().expect_reads(selection)) array().advise(selection, options);
  });
}

bool RasterDataset::shares_nodata() {
  if (!shares_nodata_) {
    const auto nodata_of = [this](int number) {
      int has_nodata = FALSE;
      const double value = band(number).GetNoDataValue(&has_nodata);
      return has_nodata != FALSE ? std::optional(value) : std::nullopt;
    };
    const auto first = nodata_of(1);
    shares_nodata_ = true;
    for (int number = 2; number <= nBands; ++number) {
      const auto other = nodata_of(number);
      *shares_nodata_ &=
          other.has_value() == first.has_value() && (!first || is_same_number(*first, *other));
    }
  }
  return *shares_nodata_;
}

// Returns true if missing chunks read as the nodata value that all bands share, or as zero without
// one.
bool RasterBand::missing_is_nodata() {
  if (!dataset().shares_nodata()) return false;
  int has_nodata = FALSE;
  const double nodata = GetNoDataValue(&has_nodata);
  GByte element[2 * sizeof(double)] = {};
  array().gdal_element(array().core().fill_value(), element);
  double parts[2] = {};
  GDALCopyWords(element, eDataType, 0, parts, GDT_CFloat64, 0, 1);
  return is_same_number(parts[0], has_nodata != FALSE ? nodata : 0) && parts[1] == 0;
}

int RasterBand::IGetDataCoverageStatus(int x, int y, int columns, int rows, int stop_mask,
                                       double* percentage) {
  constexpr int kUnknown = GDAL_DATA_COVERAGE_STATUS_UNIMPLEMENTED | GDAL_DATA_COVERAGE_STATUS_DATA;
  if (percentage != nullptr) *percentage = 100;
  return guarded(kUnknown, [&] {
    const auto covered = array().coverage(view().selection(nBand - 1, x, y, columns, rows),
                                          (stop_mask & GDAL_DATA_COVERAGE_STATUS_DATA) != 0,
                                          (stop_mask & GDAL_DATA_COVERAGE_STATUS_EMPTY) != 0);
    if (!covered) return kUnknown;
    auto [stored, all] = *covered;
    // Programs do not copy empty areas: in the copy, they would read as nodata, or as zero without
    // nodata.
    if (stored < all && !missing_is_nodata()) stored = all;
    if (percentage != nullptr) {
      *percentage = 100.0 * static_cast<double>(stored) / static_cast<double>(all);
    }
    int status = 0;
    if (stored > 0) status |= GDAL_DATA_COVERAGE_STATUS_DATA;
    if (stored < all) status |= GDAL_DATA_COVERAGE_STATUS_EMPTY;
    return status;
  });
}

}  // namespace gdal_zarr
