#include "zarrcore/array/partial_decoding.h"

#include <algorithm>

namespace zarrcore {
namespace {

// Older chunks count half when there are so many: programs change.
constexpr std::uint32_t kRemembered = 128;
// After so many chunks that were decoded as a whole, one is decoded in part, to learn from it.
constexpr std::uint32_t kWholesBetween = 32;

}  // namespace

bool PartialDecoding::takes_whole(const Costs& costs) {
  if (costs.part >= costs.whole) return true;
  const std::uint32_t parts = parts_.load(std::memory_order_relaxed);
  const std::uint32_t rests = std::min(parts, rests_.load(std::memory_order_relaxed));
  // As long as little is known, the rest is expected to be wanted of half the chunks.
  const double share = (rests + 1.0) / (parts + 2.0);
  if (costs.part + share * costs.rest >= costs.whole &&
      wholes_.fetch_add(1, std::memory_order_relaxed) % kWholesBetween != kWholesBetween - 1) {
    return true;
  }
  if (parts_.fetch_add(1, std::memory_order_relaxed) + 1 >= kRemembered) {
    parts_.store(kRemembered / 2, std::memory_order_relaxed);
    rests_.store(rests / 2, std::memory_order_relaxed);
  }
  return false;
}

}  // namespace zarrcore
