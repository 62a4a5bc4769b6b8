#include <gdal.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "driver/commands/examined.h"
#include "driver/commands/raster_window.h"
#include "driver/conventions/multiscales.h"
#include "driver/raster/raster_dataset.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"

namespace gdal_zarr {

using zarrcore::Error;

namespace {

constexpr std::array<std::string_view, 10> kMethods{
    "nearest", "average",     "average_magphase", "rms",      "gauss",
    "cubic",   "cubicspline", "lanczos",          "bilinear", "mode"};
constexpr int kSmallestLength = 256;  // of the coarsest level, in pixels

int level_of(const std::string& text) {
  int level = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), level);
  if (code != std::errc() || end != text.data() + text.size() || level < 2) {
    throw Error("levels are numbers from 2 on, not " + text);
  }
  return level;
}

// Those that exist, or 2, 4, 8… until one level has less than 256 pixels along both axes.
std::vector<int> usual_levels(GDALDataset& dataset) {
  std::vector<int> levels;
  GDALRasterBand& band = *dataset.GetRasterBand(1);
  for (int i = 0; i < band.GetOverviewCount(); ++i) {
    GDALRasterBand* const overview = band.GetOverview(i);
    if (overview == nullptr) continue;
    levels.push_back(GDALComputeOvFactor(overview->GetXSize(), band.GetXSize(),
                                         overview->GetYSize(), band.GetYSize()));
  }
  if (!levels.empty()) return levels;
  const int longest = std::max(band.GetXSize(), band.GetYSize());
  for (int level = 2; longest / level >= kSmallestLength / 2; level *= 2) levels.push_back(level);
  return levels;
}

// The method of the levels that exist; else one that makes no new values of classes. A part of a
// level takes no other method than the rest.
std::string usual_resampling(GDALDataset& dataset, bool is_part) {
  if (const auto* raster = dynamic_cast<const RasterDataset*>(&dataset)) {
    const Array& array = raster->view().array();
    const auto attributes =
        array.session()->attributes(std::string(zarrcore::parent_path(array.node_path())));
    const std::string* method = resampling_method(*attributes);
    if (method != nullptr && std::ranges::find(kMethods, *method) != kMethods.end()) return *method;
  }
  if (is_part) throw Error("the levels do not state how they were made: use --resampling");
  GDALRasterBand& band = *dataset.GetRasterBand(1);
  return band.GetColorTable() != nullptr || band.GetCategoryNames() != nullptr ? "nearest"
                                                                               : "average";
}

}  // namespace

CommandResult run_overviews(const Arguments& arguments, const CommandProgress& progress) {
  const std::string name = arguments.text("store");
  const bool removes = arguments.has("remove");
  std::vector<int> levels;
  for (const std::string& level : arguments.list("levels")) levels.push_back(level_of(level));
  if (removes && !levels.empty()) throw Error("--remove removes all levels");
  const char* const drivers[] = {"Zarr", nullptr};
  std::unique_ptr<GDALDataset> dataset(GDALDataset::Open(
      name.c_str(), GDAL_OF_RASTER | GDAL_OF_UPDATE | GDAL_OF_VERBOSE_ERROR, drivers));
  if (!dataset) throw Error(name + " cannot be opened: " + CPLGetLastErrorMsg());
  if (dataset->GetRasterCount() == 0) {
    throw Error(name + R"( has several rasters: name one, such as ZARR:"path":/array)");
  }
  const auto window = window_of(arguments, *dataset);
  auto* const raster = dynamic_cast<RasterDataset*>(dataset.get());
  if (window) {
    if (removes || !levels.empty()) throw Error("a part of all levels that exist is refreshed");
    if (raster == nullptr || dataset->GetRasterBand(1)->GetOverviewCount() == 0) {
      throw Error(name + " has no overviews");
    }
  }
  if (!removes && levels.empty()) levels = usual_levels(*dataset);
  const std::string resampling = arguments.has("resampling")
                                     ? arguments.text("resampling")
                                     : usual_resampling(*dataset, window.has_value());
  if (EQUAL(resampling.c_str(), "none")) throw Error("levels have values: --resampling is none");
  CPLErrorReset();
  const bool is_done =
      (!removes && levels.empty()) ||
      (window ? raster->refresh_overviews(resampling, *window, call_progress,
                                          as_progress_data(progress))
              : GDALBuildOverviews(GDALDataset::ToHandle(dataset.get()),
                                   removes ? "NONE" : resampling.c_str(),
                                   static_cast<int>(levels.size()), levels.data(), 0, nullptr,
                                   call_progress, as_progress_data(progress)) == CE_None);
  if (is_done) dataset->FlushCache(true);
  dataset.reset();
  if (!is_done || CPLGetLastErrorType() >= CE_Failure) {
    throw Error(name + ": " + CPLGetLastErrorMsg());
  }
  std::string text;
  for (const int level : levels) text += (text.empty() ? "" : ", ") + std::to_string(level);
  return {{{"store", name}, {"levels", levels}},
          name + (levels.empty() ? ": there are no overviews" : ": overviews at " + text) + '\n'};
}

}  // namespace gdal_zarr
