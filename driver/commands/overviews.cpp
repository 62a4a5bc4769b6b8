// Overviews of a raster: all levels, or a part of them that is refreshed.
#include <gdal.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "driver/commands/examined.h"
#include "driver/conventions/multiscales.h"
#include "driver/raster/raster_dataset.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"

namespace gdal_zarr {

using zarrcore::Error;

namespace {

std::array<double, 4> four_numbers(const Arguments& arguments, const std::string& option) {
  const std::string text = arguments.text(option);
  const CPLStringList parts(CSLTokenizeString2(text.c_str(), ",", 0));
  std::array<double, 4> numbers{};
  for (int i = 0; i < 4; ++i) {
    char* end = nullptr;
    if (parts.size() == 4) numbers[i] = CPLStrtod(parts[i], &end);
    if (end == nullptr || end == parts[i] || *end != '\0' || !std::isfinite(numbers[i])) {
      throw Error(
          std::string("--").append(option).append(" is not 4 numbers such as 0,0,512,512: ") +
          text);
    }
  }
  return numbers;
}

// The part of the raster that --window says in pixels, or --bbox in the raster's CRS; nullopt if
// neither was given. Throws Error when that is no part of the raster.
std::optional<PixelWindow> window_of(const Arguments& arguments, GDALDataset& dataset) {
  const bool has_bbox = arguments.has("bbox");
  if (!has_bbox && !arguments.has("window")) return std::nullopt;
  if (has_bbox && arguments.has("window")) throw Error("--bbox and --window exclude each other");
  auto [left, top, right, bottom] = four_numbers(arguments, has_bbox ? "bbox" : "window");
  if (has_bbox) {
    std::array<double, 6> transform{};
    std::array<double, 6> inverse{};
    if (dataset.GetGeoTransform(transform.data()) != CE_None ||
        GDALInvGeoTransform(transform.data(), inverse.data()) == 0) {
      throw Error("the raster has no geotransform: use --window");
    }
    std::array<double, 4> columns{};
    std::array<double, 4> lines{};
    for (std::size_t i = 0; i < 4; ++i) {
      GDALApplyGeoTransform(inverse.data(), i % 2 == 0 ? left : right, i < 2 ? top : bottom,
                            &columns[i], &lines[i]);
    }
    // What is less than a millionth of a pixel is a rounding error.
    constexpr double kError = 1e-6;
    left = std::floor(*std::ranges::min_element(columns) + kError);
    right = std::ceil(*std::ranges::max_element(columns) - kError);
    top = std::floor(*std::ranges::min_element(lines) + kError);
    bottom = std::ceil(*std::ranges::max_element(lines) - kError);
  } else {
    right += left;
    bottom += top;
  }
  left = std::max(left, 0.0);
  top = std::max(top, 0.0);
  right = std::min<double>(right, dataset.GetRasterXSize());
  bottom = std::min<double>(bottom, dataset.GetRasterYSize());
  if (!(left < right && top < bottom)) throw Error("the raster has no pixel there");
  const PixelWindow window{static_cast<int>(left), static_cast<int>(top),
                           static_cast<int>(std::ceil(right)) - static_cast<int>(left),
                           static_cast<int>(std::ceil(bottom)) - static_cast<int>(top)};
  return window;
}

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

// The levels that exist, or 2, 4, 8… until one level has less than 256 pixels along both axes.
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
// level has the same method as the rest.
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
