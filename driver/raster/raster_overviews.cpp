// The overviews of the classic dataset: coarser levels of its pyramid.
#include <algorithm>

#include "driver/gdal/error_guard.h"
#include "driver/gdal/messages.h"
#include "driver/gdal/partial_progress.h"
#include "driver/raster/build_overviews.h"
#include "driver/raster/raster_dataset.h"
#include "zarrcore/base/error.h"

namespace gdal_zarr {
namespace {

// Halving the longest raster more often leaves nothing of it.
constexpr std::size_t kMaxOverviews = 31;

// The arrays of each coarser level, in the order of those of the view.
std::vector<std::vector<std::shared_ptr<Array>>> overview_arrays(const RasterView& view) {
  std::vector<std::vector<std::shared_ptr<Array>>> levels;
  for (const auto& array : view.arrays()) {
    const auto overviews = array->overviews();
    if (array == view.arrays().front()) levels.resize(overviews.size());
    levels.resize(std::min(levels.size(), overviews.size()));
    for (std::size_t i = 0; i < levels.size(); ++i) levels[i].push_back(overviews[i]);
  }
  return levels;
}

}  // namespace

const std::vector<std::unique_ptr<RasterDataset>>& RasterDataset::overviews() {
  if (overviews_) return *overviews_;
  overviews_.emplace();
  guarded(false, [this] {
    for (const auto& arrays : overview_arrays(view_)) {
      const Array& array = *arrays.front();
      if (array.GetDimensions().size() != view_.array().GetDimensions().size()) continue;
      RasterView coarse = view_.of(arrays);
      const RasterDataset& finer = overviews_->empty() ? *this : *overviews_->back();
      const bool is_coarser =
          coarse.width() <= finer.nRasterXSize && coarse.height() <= finer.nRasterYSize &&
          (coarse.width() < finer.nRasterXSize || coarse.height() < finer.nRasterYSize);
      if (!is_coarser || coarse.band_count() != nBands || overviews_->size() >= kMaxOverviews) {
        report(CE_Warning, CPLE_AppDefined, "Zarr: array %s is not an overview of %s",
               array.GetFullName().c_str(), view_.array().GetFullName().c_str());
        continue;
      }
      overviews_->push_back(
          std::unique_ptr<RasterDataset>(new RasterDataset(std::move(coarse), *this)));
    }
    return true;
  });
  return *overviews_;
}

CPLErr RasterDataset::IBuildOverviews(const char* resampling, int count, const int* factors,
                                      int band_count, const int* bands, GDALProgressFunc progress,
                                      void* progress_data, CSLConstList options) {
  if (!is_writable() || view_.array().session()->root_is_array()) {
    return GDALPamDataset::IBuildOverviews(resampling, count, factors, band_count, bands, progress,
                                           progress_data, options);
  }
  return guarded(CE_Failure, [&] {
    if (view_.is_slice()) {
      throw zarrcore::Error(std::string(GetDescription()) +
                            ": overviews are built for the array, not for a slice of it");
    }
    if (flush(false) != CE_None) return CE_Failure;
    overviews_.reset();
    if (count == 0) {
      remove_overview_levels(view_);
    } else {
      const std::span<const int> all_factors(factors, static_cast<std::size_t>(count));
      make_overview_levels(view_, all_factors, band_count == nBands, resampling);
      if (!fill_overviews(resampling, all_factors, {bands, static_cast<std::size_t>(band_count)},
                          progress, progress_data)) {
        return CE_Failure;
      }
    }
    return flush(false);
  });
}

bool RasterDataset::fill_overviews(const char* resampling, std::span<const int> factors,
                                   std::span<const int> bands, GDALProgressFunc progress,
                                   void* progress_data) {
  std::vector<RasterDataset*> levels;
  for (const auto& overview : overviews()) {
    const bool is_wanted = std::any_of(factors.begin(), factors.end(), [&](int factor) {
      const auto length = [&](int fine) {
        return static_cast<int>(overview_length(static_cast<std::uint64_t>(fine), factor));
      };
      return overview->nRasterXSize == length(nRasterXSize) &&
             overview->nRasterYSize == length(nRasterYSize);
    });
    if (is_wanted) levels.push_back(overview.get());
  }
  const auto total = static_cast<double>(bands.size());
  for (std::size_t i = 0; i < bands.size(); ++i) {
    std::vector<GDALRasterBandH> targets;
    targets.reserve(levels.size());
    for (RasterDataset* level : levels) {
      targets.push_back(GDALRasterBand::ToHandle(level->GetRasterBand(bands[i])));
    }
    const auto done = static_cast<double>(i);
    const PartialProgress part(done / total, (done + 1) / total, progress, progress_data);
    if (GDALRegenerateOverviews(GDALRasterBand::ToHandle(GetRasterBand(bands[i])),
                                static_cast<int>(targets.size()), targets.data(), resampling,
                                part.function(), part.data()) != CE_None) {
      return false;
    }
  }
  return true;
}

bool RasterDataset::build_default_overviews(GDALProgressFunc progress, void* progress_data) {
  constexpr int kTile = 256;
  std::vector<int> factors;
  for (int factor = 2; std::max(nRasterXSize, nRasterYSize) > kTile * factor / 2; factor *= 2) {
    factors.push_back(factor);
  }
  if (factors.empty()) return true;
  const bool has_colors = GetRasterBand(1)->GetColorTable() != nullptr;
  return BuildOverviews(has_colors ? "NEAREST" : "AVERAGE", static_cast<int>(factors.size()),
                        factors.data(), 0, nullptr, progress, progress_data, nullptr) == CE_None;
}

}  // namespace gdal_zarr
