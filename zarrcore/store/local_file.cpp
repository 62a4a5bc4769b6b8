#include "zarrcore/store/local_file.h"

#include <chrono>

namespace zarrcore {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

// Whether a file that is written now could get the same time: file systems count time in ticks of
// some milliseconds, or in seconds, and reuse the numbers of files at once.
bool is_too_young(std::int64_t time) {
  const std::int64_t tick = time % kSecond == 0 ? 2 * kSecond : kSecond / 40;
  const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
  const std::int64_t now = std::chrono::duration_cast<std::chrono::nanoseconds>(since_1970).count();
  // Without overflow, whatever the time is.
  const auto age =
      static_cast<std::int64_t>(static_cast<std::uint64_t>(now) - static_cast<std::uint64_t>(time));
  return age > -tick && age < tick;
}

}  // namespace

void LocalFile::lock(LockWait& wait) {
  while (!try_lock()) {
    if (!wait.pause()) throw LockTimeout(holder());
  }
}

ValueVersion file_version(std::uint64_t number, std::uint64_t size, std::int64_t changed,
                          std::int64_t properties_changed) {
  return ValueVersion({number, size, static_cast<std::uint64_t>(changed),
                       static_cast<std::uint64_t>(properties_changed)},
                      !is_too_young(changed) && !is_too_young(properties_changed));
}

}  // namespace zarrcore
