// Requests of slow stores: counting them, and requesting several documents at once instead of one
// after the other.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "zarrcore/base/buffer.h"
#include "zarrcore/base/process.h"

namespace zarrcore {

// Counts the requests that a store makes, to find out why reading is slow. Safe to use from several
// threads at once.
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

// Calls `body(i)` for every i below `count`, up to `at_once` of them at the same time, and waits
// for all calls.
using RunTogether = std::function<void(std::size_t count, std::size_t at_once,
                                       const std::function<void(std::size_t i)>& body)>;

// The text of a document; null if it does not exist.
using DocumentText = std::shared_ptr<const Buffer>;

// The answers are cached only while the returned object exists: later requests get the present
// documents. Safe to use from several threads at once.
class DocumentRequests {
 public:
  // Keeps the answers to requests until it is destroyed.
  using AnswerScope = std::shared_ptr<void>;

  // Calls `get` for each key that has no answer, for up to `at_once` keys at the same time. An
  // exception of `get` is stored as the answer: one document that cannot be read does not hide the
  // others.
  AnswerScope request(const std::vector<std::string>& keys, std::size_t at_once,
                      const RunTogether& run,
                      const std::function<DocumentText(const std::string& key)>& get);

  // Returns the answer for a key; nullopt if there is none. Throws the exception of the request.
  std::optional<DocumentText> find(const std::string& key) const;

 private:
  struct Answer {
    DocumentText text;
    std::exception_ptr error;
  };
  using Answers = std::map<std::string, std::shared_ptr<const Answer>>;

  mutable ForkMutex mutex_;
  Answers answers_;
};

}  // namespace zarrcore
