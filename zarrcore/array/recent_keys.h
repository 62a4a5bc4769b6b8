// The keys of the chunks of an array's latest request. Programs that read row by row need the same
// chunks in request after request.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace zarrcore {

// Of one array. Safe to use from several threads at once.
class RecentKeys {
 public:
  using Key = std::shared_ptr<const std::string>;
  // The positions of chunks in the grid, and their keys.
  using Known = std::vector<std::pair<std::vector<std::uint64_t>, Key>>;

  // The keys of one request. While it has those of the latest one, other requests have none.
  class Use {
   public:
    explicit Use(RecentKeys& keys) : keys_(keys) {
      const std::lock_guard lock(keys_.mutex_);
      known_.swap(keys_.known_);
    }
    ~Use() {
      known_.resize(std::min(next_, known_.size()));
      const std::lock_guard lock(keys_.mutex_);
      known_.swap(keys_.known_);
    }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

    // The key of the request's next chunk, which is at `chunk` in the grid; `make` makes it unless
    // the latest request had the same chunk at the same place.
    template <typename Make>
    Key next(const std::vector<std::uint64_t>& chunk, const Make& make) {
      const std::size_t at = next_++;
      if (at >= kMaxKeys) return make();
      if (at >= known_.size()) {
        known_.emplace_back(chunk, make());
      } else if (known_[at].first != chunk) {
        known_[at] = {chunk, make()};
      }
      return known_[at].second;
    }

   private:
    RecentKeys& keys_;
    Known known_;
    std::size_t next_ = 0;
  };

 private:
  // Requests of more chunks spend their time elsewhere.
  static constexpr std::size_t kMaxKeys = 1024;

  std::mutex mutex_;
  Known known_;
};

}  // namespace zarrcore
