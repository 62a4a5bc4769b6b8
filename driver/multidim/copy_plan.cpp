#include "driver/multidim/copy_plan.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/odometer.h"

namespace gdal_zarr {
namespace {

using zarrcore::ceil_divide;

// A plan is the best of about this many.
constexpr double kMaxPlans = 50'000;
// Slabs have different lengths along this many of the last dimensions.
constexpr std::size_t kMaxVaried = 15;
// Among slabs that read equally little, smaller ones take less memory; but each should have enough
// chunks for all threads.
constexpr std::uint64_t kGoodElements = std::uint64_t{16} << 20;

// The length of slabs along one dimension, and how often a source chunk is read because of it.
struct Length {
  std::uint64_t length;
  double reads;
};

// The parts that the ends of slabs and of source chunks cut a dimension into, for each source
// chunk.
double reads_along(std::uint64_t length, std::uint64_t source, std::uint64_t slab) {
  if (source == 0) return 1;
  const std::uint64_t chunks = ceil_divide(length, source);
  const std::uint64_t step = slab / std::gcd(source, slab);
  const auto common = zarrcore::checked_multiply(step, source);
  const std::uint64_t both = common ? ceil_divide(length, *common) : 1;
  return static_cast<double>(chunks + ceil_divide(length, slab) - both) /
         static_cast<double>(chunks);
}

// At most `max_count` multiples of `target` that are worth trying: the least for each number of
// slabs, and those that end where source chunks end.
std::vector<Length> lengths_along(std::uint64_t length, std::uint64_t source, std::uint64_t target,
                                  std::size_t max_count) {
  const std::uint64_t units = ceil_divide(length, target);
  std::vector<std::uint64_t> counts{1};
  for (std::uint64_t slabs = 1; slabs < units && counts.size() < max_count; ++slabs) {
    counts.push_back(ceil_divide(units, slabs));
  }
  const std::uint64_t even = source == 0 ? 1 : source / std::gcd(source, target);
  for (std::uint64_t count = even; count < units && counts.size() < 2 * max_count; count += even) {
    counts.push_back(count);
  }
  std::sort(counts.begin(), counts.end());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  std::vector<Length> lengths;
  const std::size_t kept = std::min(counts.size(), max_count);
  for (std::size_t i = 0; i < kept; ++i) {
    const std::uint64_t count =
        counts[kept == 1 ? 0
                         : i * (counts.size() - 1) / (kept - 1)];  // the first and the last, too
    const std::uint64_t slab = count >= units ? length : count * target;
    lengths.push_back({slab, reads_along(length, source, slab)});
  }
  return lengths;
}

bool is_better(const CopyPlan& plan, std::uint64_t size, const CopyPlan& best,
               std::uint64_t best_size) {
  if (std::abs(plan.reads - best.reads) > 1e-6) return plan.reads < best.reads;
  if (best_size < kGoodElements) return size > best_size;
  return size >= kGoodElements && size < best_size;
}

}  // namespace

std::optional<CopyPlan> plan_copy(std::span<const std::uint64_t> shape,
                                  std::span<const std::uint64_t> source,
                                  std::span<const std::uint64_t> target,
                                  std::uint64_t max_elements) {
  const std::size_t rank = shape.size();
  const std::size_t varied = std::min(rank, kMaxVaried);
  const auto max_count = static_cast<std::size_t>(
      std::pow(kMaxPlans, 1.0 / static_cast<double>(std::max<std::size_t>(1, varied))));
  std::vector<std::vector<Length>> lengths;
  for (std::size_t i = 0; i < rank; ++i) {
    lengths.push_back(
        lengths_along(shape[i], source[i], target[i], rank - i > varied ? 1 : max_count));
  }
  std::optional<CopyPlan> best;
  std::uint64_t best_size = 0;
  std::vector<std::uint64_t> position(rank, 0);
  do {
    CopyPlan plan;
    for (std::size_t i = 0; i < rank; ++i) {
      const Length& length = lengths[i][position[i]];
      plan.slab.push_back(length.length);
      plan.reads *= length.reads;
    }
    const auto size = zarrcore::checked_product(plan.slab);
    if (!size || *size > max_elements) continue;
    if (best && !is_better(plan, *size, *best, best_size)) continue;
    best = std::move(plan);
    best_size = *size;
  } while (zarrcore::advance_position(
      position, [&](std::size_t i) { return lengths[i].size(); },
      [](std::size_t, std::ptrdiff_t) {}));
  return best;
}

std::uint64_t Box::size() const {
  return zarrcore::checked_product(count).value_or(UINT64_MAX);
}

std::vector<Box> divide(std::span<const std::uint64_t> shape, std::span<const std::uint64_t> slab) {
  std::vector<Box> boxes;
  std::vector<std::uint64_t> position(shape.size(), 0);
  do {
    Box box;
    for (std::size_t i = 0; i < shape.size(); ++i) {
      box.start.push_back(position[i] * slab[i]);
      box.count.push_back(std::min(slab[i], shape[i] - box.start[i]));
    }
    boxes.push_back(std::move(box));
  } while (zarrcore::advance_position(
      position, [&](std::size_t i) { return ceil_divide(shape[i], slab[i]); },
      [](std::size_t, std::ptrdiff_t) {}));
  return boxes;
}

std::optional<Box> intersection(const Box& a, const Box& b) {
  Box common;
  for (std::size_t i = 0; i < a.start.size(); ++i) {
    const std::uint64_t start = std::max(a.start[i], b.start[i]);
    const std::uint64_t end = std::min(a.start[i] + a.count[i], b.start[i] + b.count[i]);
    if (start >= end) return std::nullopt;
    common.start.push_back(start);
    common.count.push_back(end - start);
  }
  return common;
}

}  // namespace gdal_zarr
