// How a program divides its time between calls, such as reads of an array, and what it does between
// them.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

namespace zarrcore {

// Averages in which the latest calls weigh most. The program's calls may overlap; the functions of
// this class must be called by one thread at a time.
class Pace {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  static TimePoint now() { return std::chrono::steady_clock::now(); }

  // A call has begun. It may have waited since for a lock.
  void begin(TimePoint began) {
    if (ended_) pause_ = (pause_ + std::max(Duration{}, began - *ended_)) / 2;
  }
  void end(TimePoint began) {
    ended_ = now();
    call_ = (call_ + (*ended_ - began)) / 2;
  }

  // Whether the program works between calls for at least twice as long as they take, or for less.
  // Both are false until the first call has ended.
  bool is_mostly_work() const { return pause_ > 2 * call_; }
  bool is_mostly_calls() const { return pause_ < 2 * call_; }

 private:
  using Duration = std::chrono::steady_clock::duration;

  Duration pause_{};
  Duration call_{};
  std::optional<TimePoint> ended_;  // the last call
};

}  // namespace zarrcore
