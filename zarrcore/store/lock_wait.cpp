#include "zarrcore/store/lock_wait.h"

#include <algorithm>
#include <atomic>
#include <thread>

namespace zarrcore {
namespace {

using std::chrono::steady_clock;

// Between a half and the whole of `longest`. Two processes seldom draw the same numbers: clocks
// count nanoseconds.
std::chrono::microseconds random_part(std::chrono::microseconds longest) {
  static std::atomic<std::uint64_t> draws{0};
  const auto now = static_cast<std::uint64_t>(steady_clock::now().time_since_epoch().count());
  std::uint64_t bits = now + 0x9e3779b97f4a7c15 * ++draws;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
  const auto half = static_cast<std::uint64_t>(longest.count()) / 2;
  return std::chrono::microseconds(half + (bits >> 32) % (half + 1));
}

}  // namespace

bool LockWait::pause() {
  constexpr std::chrono::microseconds kLongest{20'000};
  const auto now = steady_clock::now();
  if (now >= end_) return false;
  const steady_clock::duration left = end_ - now;
  std::this_thread::sleep_for(std::min<steady_clock::duration>(random_part(pause_), left));
  pause_ = std::min(2 * pause_, kLongest);
  return true;
}

std::chrono::milliseconds LockPatience::limit_of(const std::string& path) {
  constexpr std::chrono::milliseconds kShort{100};
  const std::lock_guard lock(mutex_);
  const auto it = held_.find(path);
  if (it == held_.end()) return limit_;
  if (it->second > steady_clock::now()) return std::min(kShort, limit_);
  held_.erase(it);
  return limit_;
}

void LockPatience::set_held(const std::string& path) {
  const std::lock_guard lock(mutex_);
  held_[path] = steady_clock::now() + limit_;
}

}  // namespace zarrcore
