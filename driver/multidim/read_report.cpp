#include "driver/multidim/read_report.h"

#include <cpl_string.h>

#include <cstddef>
#include <exception>

#include "driver/gdal/messages.h"

namespace gdal_zarr {
namespace {

using Clock = std::chrono::steady_clock;
using zarrcore::ReadStatistics;
using zarrcore::RequestStatistics;

double seconds_since(Clock::time_point began) {
  return std::chrono::duration<double>(Clock::now() - began).count();
}

std::string text_of(const ReadStatistics& statistics) {
  constexpr double kNanoseconds = 1e-9;
  return CPLOPrintf(
      "chunks: %llu fetched, %llu decoded, %llu from the cache, %llu missing; "
      "seconds of all threads: %.3f fetching, %.3f decoding",
      static_cast<unsigned long long>(statistics.fetched_chunks),
      static_cast<unsigned long long>(statistics.decoded_chunks),
      static_cast<unsigned long long>(statistics.cached_chunks),
      static_cast<unsigned long long>(statistics.missing_chunks),
      static_cast<double>(statistics.fetch_nanoseconds) * kNanoseconds,
      static_cast<double>(statistics.decode_nanoseconds) * kNanoseconds);
}

// Empty for stores that do not count.
std::string text_of(const RequestStatistics* now, const RequestStatistics::Counts& before) {
  if (now == nullptr) return {};
  const RequestStatistics::Counts counts = now->counts();
  return CPLOPrintf("; requests: %llu in %llu round trips, %llu bytes",
                    static_cast<unsigned long long>(counts.requests - before.requests),
                    static_cast<unsigned long long>(counts.round_trips - before.round_trips),
                    static_cast<unsigned long long>(counts.bytes - before.bytes));
}

std::string text_of(const zarrcore::Selection& selection) {
  std::string text;
  for (std::size_t i = 0; i < selection.start.size(); ++i) {
    const std::string start = std::to_string(selection.start[i]);
    const std::string count = std::to_string(selection.count[i]);
    if (i > 0) text += ", ";
    text.append(start).append("+").append(count);
    const auto step = i < selection.step.size() ? selection.step[i] : 1;
    if (step != 1) text.append("*").append(std::to_string(step));
  }
  return text;
}

}  // namespace

std::unique_ptr<ReadReports> ReadReports::make() {
  return debugs() ? std::make_unique<ReadReports>() : nullptr;
}

void ReadReports::report_sum(const std::string& path, const zarrcore::Store* store) const noexcept {
  try {
    debug("closing " + path + ": " + std::to_string(reads_) + " reads; " + text_of(sum_) +
          text_of(store != nullptr ? store->traits().request_statistics : nullptr, {}) +
          CPLOPrintf("; open for %.3f s", seconds_since(began_)));
  } catch (const std::exception&) {
    debug("closing");
  }
}

void ReadReports::propose_listing(const zarrcore::Store& store) {
  constexpr std::uint64_t kFewRequests = 100;
  if (store.traits().request_statistics == nullptr) return;
  const RequestStatistics::Counts counts = store.traits().request_statistics->counts();
  if (counts.requests < kFewRequests || counts.missing_chunks <= counts.requests / 2) return;
  if (proposed_listing_.exchange(true)) return;
  debug(store.description() + ": " + std::to_string(counts.missing_chunks) + " of " +
        std::to_string(counts.requests) +
        " requests were for missing chunks. With the open option CACHE_TILE_PRESENCE=YES, folders "
        "are listed instead.");
}

void ReadReports::run(const zarrcore::Store& store, const char* verb, const std::string& array,
                      const zarrcore::Selection& selection, zarrcore::ReadOptions& options,
                      const std::function<void()>& read) {
  ReadStatistics statistics;
  options.statistics = &statistics;
  const RequestStatistics* requests = store.traits().request_statistics;
  const auto before = requests != nullptr ? requests->counts() : RequestStatistics::Counts();
  const Clock::time_point began = Clock::now();
  const auto finish = [&]() noexcept {
    ++reads_;
    for (const auto count :
         {&ReadStatistics::fetched_chunks, &ReadStatistics::decoded_chunks,
          &ReadStatistics::cached_chunks, &ReadStatistics::missing_chunks,
          &ReadStatistics::fetch_nanoseconds, &ReadStatistics::decode_nanoseconds}) {
      sum_.*count += statistics.*count;
    }
    try {
      debug(std::string(verb) + ' ' + array + " [" + text_of(selection) +
            CPLOPrintf("] in %.3f s; ", seconds_since(began)) + text_of(statistics) +
            text_of(requests, before));
      propose_listing(store);
    } catch (const std::exception&) {
      debug(verb);
    }
  };
  try {
    read();
  } catch (...) {
    finish();
    throw;
  }
  finish();
}

}  // namespace gdal_zarr
