#include "zarrcore/store/local_file.h"

#include <chrono>

namespace zarrcore {
namespace {

// Whether a file that is written now could get the same time: file systems count time in ticks of
// some milliseconds, or in seconds, and reuse the numbers of files at once.
bool is_too_young(std::int64_t seconds, std::int64_t nanoseconds) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  const std::int64_t tick = nanoseconds == 0 ? 2 * kSecond : kSecond / 40;
  const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
  const std::int64_t now = std::chrono::duration_cast<std::chrono::nanoseconds>(since_1970).count();
  const std::int64_t age_in_seconds = now / kSecond - seconds;
  if (age_in_seconds < -4 || age_in_seconds > 4) return false;
  const std::int64_t age = age_in_seconds * kSecond + now % kSecond - nanoseconds;
  return age > -tick && age < tick;
}

}  // namespace

void LocalFile::lock(LockWait& wait) {
  while (!try_lock()) {
    if (!wait.pause()) throw LockTimeout(holder());
  }
}

ValueVersion file_version(std::uint64_t number, std::uint64_t size, std::int64_t seconds,
                          std::int64_t nanoseconds) {
  return ValueVersion(
      {number, size, static_cast<std::uint64_t>(seconds), static_cast<std::uint64_t>(nanoseconds)},
      !is_too_young(seconds, nanoseconds));
}

}  // namespace zarrcore
