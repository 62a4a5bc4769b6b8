// Counts the requests that a store makes, to find out why reading is slow.
#pragma once

#include <atomic>
#include <cstdint>

namespace zarrcore {

// Safe to use from several threads at once.
class RequestStatistics {
 public:
  struct Counts {
    std::uint64_t requests = 0;
    std::uint64_t bytes = 0;  // received
    // The length of the longest series of requests in which each began after the previous one had
    // ended.
    std::uint64_t round_trips = 0;
    std::uint64_t missing_chunks = 0;  // that were requested
  };
  Counts counts() const { return {requests_, bytes_, round_trips_, missing_chunks_}; }

  void count_missing_chunk() { ++missing_chunks_; }

 private:
  friend class CountedRequest;

  std::atomic<std::uint64_t> requests_{0};
  std::atomic<std::uint64_t> bytes_{0};
  std::atomic<std::uint64_t> round_trips_{0};  // of requests that have ended
  std::atomic<std::uint64_t> missing_chunks_{0};
};

// One request, from its construction to its destruction.
class CountedRequest {
 public:
  // Nothing is counted if `statistics` is null.
  explicit CountedRequest(RequestStatistics* statistics) : statistics_(statistics) {
    if (statistics_ == nullptr) return;
    ++statistics_->requests_;
    round_trip_ = statistics_->round_trips_ + 1;
  }
  ~CountedRequest() {
    if (statistics_ == nullptr) return;
    std::uint64_t last = statistics_->round_trips_;
    while (last < round_trip_ &&
           !statistics_->round_trips_.compare_exchange_weak(last, round_trip_)) {
    }
  }
  CountedRequest(const CountedRequest&) = delete;
  CountedRequest& operator=(const CountedRequest&) = delete;

  void add_bytes(std::uint64_t count) {
    if (statistics_ != nullptr) statistics_->bytes_ += count;
  }

 private:
  RequestStatistics* statistics_;
  std::uint64_t round_trip_ = 0;
};

}  // namespace zarrcore
