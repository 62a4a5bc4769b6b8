// Whether a chunk of which only a part is wanted is decoded in part or as a whole. A part costs
// less, unless the rest is wanted later: how often that happens is learned for each array.
#pragma once

#include <atomic>
#include <cstdint>

namespace zarrcore {

// Of one array. Safe to use from several threads at once.
class PartialDecoding {
 public:
  // In bytes that are decoded as a whole in the same time.
  struct Costs {
    double part = 0;   // of decoding what is wanted now
    double rest = 0;   // of decoding what else may be wanted later
    double whole = 0;  // of decoding all now
  };

  // Decides for a chunk of which nothing is decoded. One that is decoded in part counts.
  bool takes_whole(const Costs& costs);
  // More of a chunk is wanted that has been decoded in part. Once for each.
  void count_rest() { rests_.fetch_add(1, std::memory_order_relaxed); }

 private:
  std::atomic<std::uint32_t> parts_ = 0;  // chunks that were decoded in part
  std::atomic<std::uint32_t> rests_ = 0;  // those of which more was wanted
  std::atomic<std::uint32_t> wholes_ = 0;
};

}  // namespace zarrcore
