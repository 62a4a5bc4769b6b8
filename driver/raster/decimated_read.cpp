#include "driver/raster/decimated_read.h"

#include <cmath>
#include <cstddef>

namespace gdal_zarr {
namespace {

// Each run of columns is read with each run of rows, in a request of its own.
constexpr std::size_t kMaxRuns = 8;

}  // namespace

std::optional<std::vector<PixelRun>> nearest_pixels(int first, int length, int count) {
  const auto start = static_cast<std::uint64_t>(first);
  const auto wanted = static_cast<std::uint64_t>(count);
  if (length % count == 0) {
    const auto step = static_cast<std::uint64_t>(length / count);
    return std::vector{PixelRun{start + step / 2, step, wanted, 0}};
  }
  // GDAL counts a centre that is a little before a pixel as in it. It adds the steps up along X and
  // multiplies them along Y.
  constexpr double kLittle = 1e-10;
  constexpr double kRounding = 1e-11;
  const double step = length / static_cast<double>(count);
  const auto is_on_edge = [](double centre) {
    return std::abs(centre - std::round(centre)) < kRounding;
  };
  std::vector<PixelRun> runs;
  double sum = 0.5 * step + first + kLittle;
  for (std::uint64_t i = 0; i < wanted; ++i, sum += step) {
    const double product = (static_cast<double>(i) + 0.5) * step + first + kLittle;
    const auto pixel = static_cast<std::uint64_t>(product);
    if (static_cast<std::uint64_t>(sum) != pixel || is_on_edge(sum) || is_on_edge(product)) {
      return std::nullopt;
    }
    if (!runs.empty() && runs.back().count == 1) runs.back().step = pixel - runs.back().first;
    if (!runs.empty() && pixel == runs.back().first + runs.back().count * runs.back().step) {
      ++runs.back().count;
      continue;
    }
    if (runs.size() == kMaxRuns) return std::nullopt;
    runs.push_back({pixel, 1, 1, i});
  }
  return runs;
}

}  // namespace gdal_zarr
