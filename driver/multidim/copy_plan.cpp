#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_set>
#include <utility>

#include "driver/multidim/copied_array.h"
#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/strided.h"

namespace gdal_zarr {

using zarrcore::Box;
using zarrcore::ceil_divide;

namespace {

// A plan is the best of about this many.
constexpr double kMaxPlans = 50'000;
// Slabs have different lengths along this many of the last dimensions.
constexpr std::size_t kMaxVaried = 15;

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
  std::ranges::sort(counts);
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  const std::size_t kept = std::min(counts.size(), max_count);
  std::vector<Length> lengths;
  for (std::size_t i = 0; i < kept; ++i) {
    // The first and the last, and others between them.
    const std::uint64_t count = counts[kept == 1 ? 0 : i * (counts.size() - 1) / (kept - 1)];
    const std::uint64_t slab = count >= units ? length : count * target;
    lengths.push_back({slab, reads_along(length, source, slab)});
  }
  return lengths;
}

struct SlabCandidate {
  zarrcore::Shape slab;
  std::uint64_t size;
  double reads;
};

// Of slabs that read equally little and have about as many elements as wanted, those that are long
// along the last dimensions are best: many sources are stored in this order.
bool is_better(const SlabCandidate& a, const SlabCandidate& b, std::uint64_t wanted) {
  if (std::abs(a.reads - b.reads) > 1e-6) return a.reads < b.reads;
  if (a.size < wanted || b.size < wanted) return a.size > b.size;
  if (a.size / 2 >= wanted || b.size / 2 >= wanted) return a.size < b.size;
  return std::lexicographical_compare(b.slab.rbegin(), b.slab.rend(), a.slab.rbegin(),
                                      a.slab.rend());
}

}  // namespace

std::optional<CopyPlan> plan_copy(std::span<const std::uint64_t> shape,
                                  std::span<const std::uint64_t> source,
                                  std::span<const std::uint64_t> target,
                                  std::uint64_t wanted_elements, std::uint64_t max_elements) {
  const std::size_t rank = shape.size();
  const std::size_t varied = std::min(rank, kMaxVaried);
  const auto max_count = static_cast<std::size_t>(
      std::pow(kMaxPlans, 1.0 / static_cast<double>(std::max<std::size_t>(1, varied))));
  std::vector<std::vector<Length>> lengths;
  lengths.reserve(rank);
  for (std::size_t i = 0; i < rank; ++i) {
    lengths.push_back(
        lengths_along(shape[i], source[i], target[i], rank - i > varied ? 1 : max_count));
  }
  std::optional<SlabCandidate> best;
  SlabCandidate candidate{zarrcore::Shape(rank), 0, 1};
  std::vector<std::uint64_t> position(rank, 0);
  do {
    auto& [slab, slab_size, reads] = candidate;
    reads = 1;
    for (std::size_t i = 0; i < rank; ++i) {
      const Length& length = lengths[i][position[i]];
      slab[i] = length.length;
      reads *= length.reads;
    }
    const auto size = zarrcore::checked_product(slab);
    if (!size || *size > max_elements) continue;
    slab_size = *size;
    if (!best || is_better(candidate, *best, wanted_elements)) best = candidate;
  } while (zarrcore::advance_position(
      position, [&](std::size_t i) { return lengths[i].size(); },
      [](std::size_t, std::ptrdiff_t) {}));
  if (!best) return std::nullopt;
  return CopyPlan{std::move(best->slab), best->reads};
}

Slabs::Slabs(Box whole, zarrcore::Shape slab) : whole_(std::move(whole)), slab_(std::move(slab)) {
  for (std::size_t i = 0; i < slab_.size(); ++i) size_ *= ceil_divide(whole_.count[i], slab_[i]);
}

void Slabs::keep(const std::function<void(const VisitBox&)>& visit_boxes) {
  std::unordered_set<std::size_t> met;
  visit_boxes([&](const Box& box) {
    const auto common = intersection(box, whole_);
    if (!common) return;
    std::vector<std::uint64_t> first;
    std::vector<std::uint64_t> counts;
    for (std::size_t i = 0; i < slab_.size(); ++i) {
      const std::uint64_t start = common->start[i] - whole_.start[i];
      first.push_back(start / slab_[i]);
      counts.push_back((start + common->count[i] - 1) / slab_[i] - first[i] + 1);
    }
    std::vector<std::uint64_t> position(slab_.size(), 0);
    do {
      std::size_t index = 0;
      for (std::size_t i = 0; i < slab_.size(); ++i) {
        index = index * ceil_divide(whole_.count[i], slab_[i]) + first[i] + position[i];
      }
      met.insert(index);
    } while (zarrcore::advance_position(
        position, [&](std::size_t i) { return counts[i]; }, [](std::size_t, std::ptrdiff_t) {}));
  });
  has_all_ = false;
  kept_.assign(met.begin(), met.end());
  std::ranges::sort(kept_);
}

Box Slabs::operator[](std::size_t i) const {
  if (!has_all_) i = kept_[i];
  Box box = whole_;
  for (std::size_t axis = slab_.size(); axis-- > 0;) {
    const std::uint64_t slabs = ceil_divide(whole_.count[axis], slab_[axis]);
    const std::uint64_t start = i % slabs * slab_[axis];
    box.start[axis] += start;
    box.count[axis] = std::min(slab_[axis], whole_.count[axis] - start);
    i /= slabs;
  }
  return box;
}

bool for_each_region(std::span<const std::uint64_t> shape, std::span<const std::uint64_t> source,
                     const zarrcore::Shape& chunk, const zarrcore::Shape& inner_chunk,
                     std::uint64_t wanted_elements, std::uint64_t max_elements,
                     const std::function<bool(const CopyRegion&, double share)>& visit) {
  const Box whole{std::vector<std::uint64_t>(shape.size(), 0), {shape.begin(), shape.end()}};
  if (auto plan = plan_copy(shape, source, chunk, wanted_elements, max_elements)) {
    return visit({whole, chunk, *std::move(plan)}, 1);
  }
  const Slabs chunks(whole, chunk);
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    CopyRegion region{chunks[i], inner_chunk, {}};
    auto plan = plan_copy(region.box.count, source, region.unit, wanted_elements, max_elements);
    if (!plan) {
      region.unit.assign(shape.size(), 1);
      plan = plan_copy(region.box.count, source, region.unit, wanted_elements,
                       std::max<std::uint64_t>(1, max_elements));
    }
    region.plan = *std::move(plan);
    if (!visit(region, static_cast<double>(i + 1) / static_cast<double>(chunks.size()))) {
      return false;
    }
  }
  return true;
}

}  // namespace gdal_zarr
