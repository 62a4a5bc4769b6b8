// The overviews of the classic dataset, which are coarser levels of its pyramid, and its masks,
// which are arrays of the store or GDAL's files beside it.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "driver/gdal/messages.h"
#include "driver/gdal/options.h"
#include "driver/multidim/mask_arrays.h"
#include "driver/new_array/creation_options.h"
#include "driver/raster/overview_levels.h"
#include "driver/raster/raster_dataset.h"
#include "zarrcore/base/error.h"

namespace gdal_zarr {
namespace {

// Halving the largest raster more often leaves less than one pixel.
constexpr std::size_t kMaxOverviews = 31;

// The arrays of each coarser level, in the order of the view's arrays.
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

// Tries it on one pixel: GDAL has no list of its methods. A failure is also reported.
bool is_resampling_method(const char* name) {
  GDALDriver* memory = GetGDALDriverManager()->GetDriverByName("MEM");
  if (memory == nullptr) return true;
  const std::unique_ptr<GDALDataset> fine(memory->Create("", 2, 2, 1, GDT_Byte, nullptr));
  const std::unique_ptr<GDALDataset> coarse(memory->Create("", 1, 1, 1, GDT_Byte, nullptr));
  if (!fine || !coarse) return false;
  GDALRasterBandH target = GDALRasterBand::ToHandle(coarse->GetRasterBand(1));
  return GDALRegenerateOverviews(GDALRasterBand::ToHandle(fine->GetRasterBand(1)), 1, &target, name,
                                 GDALDummyProgress, nullptr) == CE_None;
}

void warn_of_creation_options(CSLConstList options) {
  for (CSLConstList entry = options; entry != nullptr && *entry != nullptr; ++entry) {
    if (find_creation_option(entry_name(*entry)) == nullptr) continue;
    report(CE_Warning, CPLE_AppDefined,
           "Zarr: %s has no effect: overviews are stored with the chunks and codecs of the raster",
           *entry);
  }
}

constexpr double kValid = 255;

// What is read of `fine`, and written of `coarse`, when some pixels of `fine` have changed.
struct LevelWindows {
  LevelWindows(GDALDataset& fine, GDALDataset& coarse, const char* resampling,
               const PixelWindow& changed) {
    // These use the pixels that a pixel of the level covers, and others those around it: by 3
    // pixels of the level at most.
    const bool is_exact = EQUAL(resampling, "NEAREST") || EQUAL(resampling, "AVERAGE") ||
                          EQUAL(resampling, "RMS") || EQUAL(resampling, "MODE");
    set_axis(fine.GetRasterXSize(), coarse.GetRasterXSize(), changed.x, changed.columns,
             is_exact ? 0 : 4, &PixelWindow::x, &PixelWindow::columns);
    set_axis(fine.GetRasterYSize(), coarse.GetRasterYSize(), changed.y, changed.rows,
             is_exact ? 0 : 4, &PixelWindow::y, &PixelWindow::rows);
  }

  PixelWindow read{};
  PixelWindow written{};

 private:
  void set_axis(int fine, int coarse, int start, int count, int reach, int PixelWindow::* first,
                int PixelWindow::* length) {
    constexpr int kAround = 8;  // pixels of the level; more than any method uses
    const double ratio = static_cast<double>(fine) / coarse;
    const int from = std::max(0, static_cast<int>(start / ratio) - reach);
    const double end = (static_cast<double>(start) + count) / ratio;
    const int to = std::min(coarse, static_cast<int>(std::ceil(end)) + reach);
    written.*first = from;
    written.*length = to - from;
    read.*first = std::max(0, static_cast<int>((from - kAround) * ratio));
    read.*length =
        static_cast<int>(std::min<double>(fine, std::ceil((to + kAround) * ratio))) - read.*first;
  }
};

}  // namespace

// Overview datasets are not destroyed, because GDAL's callers may still refer to them.
void RasterDataset::forget_overviews() {
  if (!overviews_) return;
  for (auto& overview : *overviews_) old_overviews_.push_back(std::move(overview));
  overviews_.reset();
}

const std::vector<std::unique_ptr<RasterDataset>>& RasterDataset::overviews() {
  const std::uint64_t generation = view_.array().session()->pyramids().generation();
  if (!is_overview_ && generation != overviews_generation_) forget_overviews();
  if (overviews_) return *overviews_;
  overviews_.emplace();
  overviews_generation_ = generation;
  guarded(false, [this] {
    for (const auto& arrays : overview_arrays(view_)) {
      const Array& array = *arrays.front();
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
  const CPLErr made = guarded(CE_Failure, [&] {
    std::set<int> wanted;
    for (int i = 0; i < count; ++i) {
      if (factors[i] < 2) {
        throw zarrcore::Error(std::to_string(factors[i]) +
                              " is not a valid overview factor: it must be at least 2");
      }
      wanted.insert(factors[i]);
    }
    warn_of_creation_options(options);
    const bool is_filled = !wanted.empty() && !EQUAL(resampling, "NONE");
    if (is_filled && !is_resampling_method(resampling)) return CE_Failure;
    if (flush_to_store() != CE_None) return CE_Failure;
    const GDALProgressFunc report_progress = progress != nullptr ? progress : GDALDummyProgress;
    if (!wanted.empty() && band_count != nBands) {
      const std::span<const int> some(bands, static_cast<std::size_t>(band_count));
      if (!refill_overviews(resampling, wanted, some, report_progress, progress_data)) {
        return CE_Failure;
      }
    } else if (!make_overviews(is_filled ? resampling : "NONE", wanted,
                               wanted.empty() || CPLFetchBool(options, kReplacesOverviews, false),
                               report_progress, progress_data)) {
      return CE_Failure;
    }
    return flush_to_store();
  });
  // A transaction does not commit half of the levels.
  if (made != CE_None) view_.array().session()->set_failed();
  return made;
}

// A reader sees no level before all are complete, but those that exist with the same layout: their
// chunks are replaced one by one.
bool RasterDataset::make_overviews(const char* resampling, const std::set<int>& factors,
                                   bool replaces_all, GDALProgressFunc progress,
                                   void* progress_data) {
  OverviewLevels levels(view_);
  forget_overviews();
  if (replaces_all || EQUAL(resampling, "NONE") || !levels.exist(factors)) {
    replaces_all ? levels.remove_all() : levels.remove(factors);
    levels.describe({});
  }
  std::vector<std::unique_ptr<RasterDataset>> datasets;
  const bool is_filled = guarded(false, [&] {
    std::vector<RasterDataset*> targets;
    for (const int factor : factors) {
      datasets.emplace_back(new RasterDataset(levels.make(factor), *this));
      targets.push_back(datasets.back().get());
    }
    std::vector<int> bands(static_cast<std::size_t>(nBands));
    std::iota(bands.begin(), bands.end(), 1);
    return EQUAL(resampling, "NONE") ||
           fill_overviews(resampling, targets, bands, progress, progress_data);
  });
  if (!is_filled) FirstFailure::note();
  for (const auto& dataset : datasets) {
    if (!is_filled) dataset->discard();
  }
  if (!is_filled) levels.remove(factors);
  levels.describe(resampling);
  return is_filled;
}

void RasterDataset::make_empty_overviews(std::span<const OverviewSize> sizes) {
  OverviewLevels levels(view_);
  forget_overviews();
  for (const OverviewSize& size : sizes) levels.make(size);
  levels.describe("NONE");
}

bool RasterDataset::refill_overviews(const char* resampling, const std::set<int>& factors,
                                     std::span<const int> bands, GDALProgressFunc progress,
                                     void* progress_data) {
  std::vector<RasterDataset*> targets;
  for (const int factor : factors) {
    const auto length = [&](int fine) {
      return static_cast<int>(overview_length(static_cast<std::uint64_t>(fine), factor));
    };
    const auto it = std::ranges::find_if(overviews(), [&](const auto& level) {
      return level->nRasterXSize == length(nRasterXSize) &&
             level->nRasterYSize == length(nRasterYSize);
    });
    if (it == overviews().end()) {
      throw zarrcore::Error("array " + view_.array().GetFullName() +
                            ": the overview at a factor of " + std::to_string(factor) +
                            " does not exist yet, and is built for all bands at once");
    }
    targets.push_back(it->get());
  }
  return fill_overviews(resampling, targets, bands, progress, progress_data);
}

// Each level is computed from the previous one.
bool RasterDataset::fill_overviews(const char* resampling, std::span<RasterDataset* const> levels,
                                   std::span<const int> bands, GDALProgressFunc progress,
                                   void* progress_data, std::optional<PixelWindow> changed) {
  std::vector<double> pixels;  // that are read for each level
  double total = 0;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const RasterDataset& source = i == 0 ? *this : *levels[i - 1];
    pixels.push_back(static_cast<double>(source.nRasterXSize) * source.nRasterYSize);
    total += pixels.back() * static_cast<double>(bands.size());
  }
  double done = 0;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    RasterDataset& source = i == 0 ? *this : *levels[i - 1];
    const PixelWindow whole{0, 0, source.nRasterXSize, source.nRasterYSize};
    const LevelWindows windows(source, *levels[i], resampling, changed.value_or(whole));
    for (const int band : bands) {
      PartialProgress part(done / total, (done + pixels[i]) / total, progress, progress_data);
      done += pixels[i];
      WindowBand read_part(*source.GetRasterBand(band), windows.read);
      WindowBand written_part(*levels[i]->GetRasterBand(band), windows.written);
      GDALRasterBand& fine = changed ? read_part : *source.GetRasterBand(band);
      GDALRasterBand& coarse = changed ? written_part : *levels[i]->GetRasterBand(band);
      GDALRasterBandH target = GDALRasterBand::ToHandle(&coarse);
      if (GDALRegenerateOverviews(GDALRasterBand::ToHandle(&fine), 1, &target, resampling,
                                  part.function(), part.data()) != CE_None) {
        return false;
      }
      // GDAL ignores what its last report returns.
      if (!part(1)) {
        report_stop("array " + view_.array().GetFullName());
        return false;
      }
    }
    if (levels[i]->flush_to_store() != CE_None) return false;
    if (changed) changed = windows.written;
  }
  return true;
}

bool RasterDataset::refresh_overviews(const std::string& resampling, const PixelWindow& changed,
                                      GDALProgressFunc progress, void* progress_data) {
  const bool is_done = guarded(false, [&] {
    std::vector<RasterDataset*> targets;
    for (const auto& level : overviews()) targets.push_back(level.get());
    std::vector<int> bands(static_cast<std::size_t>(nBands));
    std::iota(bands.begin(), bands.end(), 1);
    return fill_overviews(resampling.c_str(), targets, bands, progress, progress_data, changed) &&
           flush_to_store() == CE_None;
  });
  if (!is_done) view_.array().session()->set_failed();
  return is_done;
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

// A mask for each array, or one for all.
const std::vector<std::unique_ptr<RasterDataset>>& RasterDataset::masks() {
  if (masks_) return *masks_;
  masks_.emplace();
  guarded(false, [this] {
    const zarrcore::Shape& shape = view_.array().core().shape();
    const auto has_all = [&](const Array& mask) { return mask.core().shape() == shape; };
    // Others are for the array's own X and Y.
    const bool has_own_axes =
        shape.size() >= 2 && view_.x_axis() && view_.y_axis() &&
        RasterAxes{*view_.x_axis(), *view_.y_axis()} == view_.array().raster_axes();
    std::vector<std::shared_ptr<Array>> arrays;
    for (const auto& array : view_.arrays()) {
      arrays.push_back(find_mask(*array));
      if (arrays.back() && !has_own_axes && !has_all(*arrays.back())) arrays.back() = nullptr;
    }
    if (std::ranges::adjacent_find(arrays, std::not_equal_to<>()) == arrays.end()) {
      arrays.resize(1);
      if (!arrays[0]) return;
    }
    std::vector<std::unique_ptr<RasterDataset>> found;
    found.reserve(arrays.size());
    for (const auto& mask : arrays) {
      found.emplace_back();
      if (!mask) continue;
      RasterView view = has_all(*mask) ? view_.of({mask}) : RasterView(mask, 1, 0, {});
      if (view.is_flipped() != view_.is_flipped()) view.flip();
      found.back().reset(new RasterDataset(std::move(view), *this));
    }
    masks_ = std::move(found);
  });
  return *masks_;
}

GDALRasterBand* RasterDataset::mask_of(int band) {
  if (masks().empty()) return nullptr;
  const auto& mask = masks()[masks().size() > 1 ? static_cast<std::size_t>(band - 1) : 0];
  if (!mask) return nullptr;
  return mask->GetRasterBand(mask->nBands > 1 ? band : 1);
}

CPLErr RasterDataset::CreateMaskBand(int flags) {
  return create_mask(flags | GMF_PER_DATASET, 1);
}

CPLErr RasterDataset::create_mask(int flags, int band) {
  const bool is_of_dataset = (flags & GMF_PER_DATASET) != 0;
  if (!is_writable() || is_overview_ || view_.range() || view_.array().session()->root_is_array()) {
    return is_of_dataset ? GDALPamDataset::CreateMaskBand(flags)
                         : GetRasterBand(band)->GDALRasterBand::CreateMaskBand(flags);
  }
  return guarded(CE_Failure, [&] {
    if (mask_of(band) != nullptr) return CE_None;
    const bool is_of_array = !is_of_dataset && view_.arrays().size() > 1;
    const RasterView view = is_of_array
                                ? RasterView(view_.arrays()[static_cast<std::size_t>(band) - 1],
                                             view_.x_axis(), view_.y_axis(), {})
                                : view_;
    const bool has_all = view.array().core().shape().size() <= 2 || !is_of_dataset;
    create_mask_array(view, has_all);
    for (auto& mask : *masks_) {
      if (mask) old_overviews_.push_back(std::move(mask));
    }
    masks_.reset();
    // The other slices of the array have no mask, so all of their pixels are valid.
    if (has_all && view.band_count() > 1) {
      for (int other = 1; other <= nBands; ++other) {
        if (other != band && mask_of(other)->Fill(kValid) != CE_None) return CE_Failure;
      }
    }
    return CE_None;
  });
}

}  // namespace gdal_zarr
