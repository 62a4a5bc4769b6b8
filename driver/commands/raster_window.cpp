#include "driver/commands/raster_window.h"

#include <gdal.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "zarrcore/base/error.h"

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

}  // namespace

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

}  // namespace gdal_zarr
