#include "driver/stores/references/neighbour_reads.h"

#include <algorithm>
#include <utility>

#include "zarrcore/base/error.h"
#include "zarrcore/store/store.h"

namespace gdal_zarr {

using zarrcore::Buffer;

namespace {

// Of values that are read by one request, in bytes; and between them.
constexpr std::uint64_t kMaxRunBytes = std::uint64_t{4} << 20;
constexpr std::uint64_t kMaxValueBytes = std::uint64_t{1} << 20;
constexpr std::uint64_t kMaxGap = std::uint64_t{16} << 10;

}  // namespace

struct NeighbourReads::Run {
  Reference all;
  std::size_t count = 0;  // of the values that nobody has taken yet
  std::mutex mutex;
  std::optional<Buffer> bytes;
  bool is_over = false;

  // Nullopt if the value is to be read by itself: all are taken, or the run cannot be read.
  std::optional<Buffer> take(const Reference& part, TargetFiles& targets) {
    const std::lock_guard lock(mutex);
    if (is_over) return std::nullopt;
    try {
      if (!bytes) bytes = targets.get(all, kMaxRunBytes);
    } catch (const zarrcore::Error&) {
      is_over = true;
      return std::nullopt;
    }
    Buffer value = Buffer::copy_of(bytes->span().subspan(part.offset - all.offset, *part.length));
    is_over = --count == 0;
    if (is_over) bytes.reset();
    return value;
  }
};

// Forgets them at the end.
struct NeighbourReads::Expected {
  explicit Expected(NeighbourReads& of) : reads(of) {}
  ~Expected() {
    const std::lock_guard lock(reads.mutex_);
    for (const auto& place : places) reads.runs_.erase(place);
  }
  Expected(const Expected&) = delete;
  Expected& operator=(const Expected&) = delete;

  NeighbourReads& reads;
  std::vector<decltype(runs_)::iterator> places;
};

std::optional<Buffer> NeighbourReads::take(const Reference& part, std::uint64_t max_size) {
  std::shared_ptr<Run> run;
  {
    const std::lock_guard lock(mutex_);
    if (runs_.empty()) return std::nullopt;
    if (const auto found = runs_.find(place_of(part)); found != runs_.end()) run = found->second;
  }
  if (!run) return std::nullopt;
  zarrcore::check_value_size(*part.length, max_size);
  return run->take(part, targets_);
}

std::shared_ptr<void> NeighbourReads::expect(std::vector<Reference> parts) {
  std::erase_if(parts, [](const Reference& part) {
    const std::uint64_t length = part.length.value_or(0);
    return length == 0 || length > kMaxValueBytes || !is_network_path(part.target);
  });
  std::ranges::sort(parts, {}, place_of);
  auto runs = std::make_shared<Expected>(*this);
  for (std::size_t first = 0, end = 0; first < parts.size(); first = end) {
    auto run = std::make_shared<Run>();
    run->all.target = parts[first].target;
    run->all.is_path = true;
    run->all.offset = parts[first].offset;
    std::uint64_t length = *parts[first].length;
    for (end = first + 1; end < parts.size(); ++end) {
      const Reference& next = parts[end];
      const std::uint64_t distance = next.offset - run->all.offset;
      if (next.target != run->all.target || distance > length + kMaxGap ||
          distance + *next.length > kMaxRunBytes) {
        break;
      }
      length = std::max(length, distance + *next.length);
    }
    if (end == first + 1) continue;
    run->all.length = length;
    run->count = end - first;
    const std::lock_guard lock(mutex_);
    for (std::size_t i = first; i < end; ++i) {
      runs->places.push_back(runs_.emplace(place_of(parts[i]), run));
    }
  }
  return runs;
}

}  // namespace gdal_zarr
