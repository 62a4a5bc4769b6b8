#include "driver/raster/raster_band.h"

#include <cpl_minixml.h>
#include <cpl_string.h>

#include <string>
#include <tuple>
#include <vector>

#include "driver/gdal/error_guard.h"

namespace gdal_zarr {

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
  return dataset().has_one_mask() ? GMF_PER_DATASET : 0;
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

GDALColorInterp RasterBand::GetColorInterpretation() {
  const zarrcore::Json* value =
      zarrcore::find_member(array().metadata().attributes, kColorInterpretation);
  if (value != nullptr && value->is_array() && static_cast<int>(value->size()) >= nBand) {
    value = &(*value)[static_cast<std::size_t>(nBand - 1)];
  }
  if (value != nullptr && value->is_string()) {
    return GDALGetColorInterpretationByName(value->get_ref<const std::string&>().c_str());
  }
  const GDALColorInterp saved = GDALPamRasterBand::GetColorInterpretation();
  if (saved != GCI_Undefined) return saved;
  if (stated_color_ != GCI_Undefined) return stated_color_;
  return guarded(GCI_Undefined, [&] {
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
    const bool is_shared = view().arrays().size() == 1 && view().band_count() > 1;
    zarrcore::Json names = GDALGetColorInterpretationName(interpretation);
    if (is_shared) {
      zarrcore::Json list = zarrcore::Json::array();
      for (int band = 1; band <= view().band_count(); ++band) {
        const GDALColorInterp of_band =
            band == nBand ? interpretation : poDS->GetRasterBand(band)->GetColorInterpretation();
        list.push_back(GDALGetColorInterpretationName(of_band));
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

}  // namespace gdal_zarr
