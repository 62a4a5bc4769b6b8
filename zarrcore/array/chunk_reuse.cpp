#include "zarrcore/array/chunk_reuse.h"

#include <algorithm>

namespace zarrcore {

void ChunkReuse::observe(const Counts& counts) {
  const std::uint64_t all = counts.used_before + counts.is_new;
  if (all == 0) return;
  constexpr float kWeight = 1.0F / 8;
  const auto share = static_cast<float>(counts.used_before) / static_cast<float>(all);
  const std::lock_guard lock(mutex_);
  rate_ = rate_ + kWeight * (share - rate_);
}

bool ChunkReuse::remember(std::size_t hash, std::uint64_t capacity) {
  const auto most =
      static_cast<std::size_t>(std::clamp<std::uint64_t>(capacity, 1, kMaxRemembered));
  const std::lock_guard lock(mutex_);
  if (std::ranges::find(remembered_, hash) != remembered_.end()) return true;
  if (remembered_.size() < most) {
    remembered_.push_back(hash);
  } else {
    remembered_[next_] = hash;
    next_ = (next_ + 1) % remembered_.size();
  }
  return false;
}

}  // namespace zarrcore
