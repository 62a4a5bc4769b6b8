// Predicts a program's next requests from its requests so far: whether they walk through the array,
// and which chunks the walk will need; whether each window is requested twice; whether partly used
// chunks are used again, and how often more of them is needed then.
//
// Each request queries this once, when it begins, and reports once, when it ends.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "zarrcore/array/selection.h"
#include "zarrcore/base/process.h"
#include "zarrcore/chunk/chunk_grid.h"
#include "zarrcore/codec/codec_chain.h"
#include "zarrcore/store/store.h"

namespace zarrcore {

// Recognizes requests that walk through an array: row by row, tile by tile, slice by slice, in
// either direction, overlapping or not. It knows neither chunks nor stores.
//
// The walk of the latest requests, as nested loops: the innermost moves the box along one dimension
// by a constant step; at the end of a line, that dimension returns to its start and the next loop
// makes a step. The boxes at the ends of the array may be smaller, and the boxes of a warp may
// differ a little.
class Walk {
 public:
  // `shape` is the array's.
  explicit Walk(Shape shape) : shape_(std::move(shape)) {}

  // The walk that continues after `box` through all of `within`, which contains it, in C order.
  static Walk through(const Box& box, const Box& within);

  // When it throws, it must be forgotten.
  void observe(const Box& box);
  // Forgets all observed requests.
  void forget() noexcept;

  // Returns true if this was the last request.
  bool is_at(const Box& box) const { return last_ == box; }
  // How many of the latest requests were steps of the walk; 0 if the last one was not.
  std::size_t steps() const { return steps_; }
  // Returns true if the walk so far began at the start of the array along its dimension, and each
  // box has begun where the previous one ended.
  bool is_scan() const { return is_scan_; }

  // The number of requests of the walk, at least 1, that begin within `unit` elements along each
  // dimension, for example within a chunk.
  std::uint64_t requests_within(const Shape& unit) const;

  // Calls `body` with the boxes of the next requests, in order, until it returns false or the walk
  // ends. Steps that are shorter than `unit` along their dimension are combined. `guesses`: after
  // the first line, the walk is expected to continue with the next line, before it has.
  void predict(const Shape& unit, bool guesses, const std::function<bool(const Box&)>& body) const;

 private:
  struct Loop {
    std::size_t axis;
    std::int64_t step;
    std::uint64_t first;
    std::optional<std::uint64_t> last = {};  // known after the first line
  };

  bool follows(const Box& box);
  bool has_similar_count(const Box& box) const;
  bool is_near(std::size_t axis, std::uint64_t expected, std::uint64_t actual) const;
  // Returns true if, along all dimensions but `axis`, `box` begins about where the last box began,
  // or where their loop begins for the first `loops` loops.
  bool is_step(const Box& box, std::size_t loops, std::size_t axis) const;
  std::uint64_t steps_left(const Loop& loop, const Shape& start) const;
  Box clipped(const Shape& start) const;

  Shape shape_;
  std::optional<Box> last_;
  Shape count_;              // of a box that the end of the array does not cut off
  std::vector<Loop> loops_;  // the innermost first
  std::size_t steps_ = 0;
  bool is_scan_ = false;
};

// How a program divides its time between calls, such as reads of an array, and its own work between
// the calls.
//
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

  // Returns true if the program works between calls for at least twice as long as they take, or for
  // less. Both are false until the first call has ended.
  bool is_mostly_work() const { return pause_ > 2 * call_; }
  bool is_mostly_calls() const { return pause_ < 2 * call_; }

 private:
  using Duration = std::chrono::steady_clock::duration;

  Duration pause_{};
  Duration call_{};
  std::optional<TimePoint> ended_;  // the last call
};

// How the chunks that a request uses as a whole are treated.
enum class WholeChunks : std::uint8_t {
  pass,     // they are not expected to be needed again
  keep,     // the same request is expected to come again
  release,  // it has come again, for which they were cached
};

// The reads of one array. Safe to use from several threads at once.
class AccessPattern {
 public:
  using Key = std::shared_ptr<const std::string>;

  // `unit` is the shape of what `chain` decodes at once: a chunk or an inner chunk.
  AccessPattern(const Store& store, const Shape& shape, const ChunkGrid& grid,
                const CodecChain& chain, Shape unit, std::uint64_t item_size);

  // Announces that the program will read these elements, in C order.
  void expect(const Box& box);

  struct RequestOptions {
    // True if other threads may read chunks that the next requests will need. `threads` limits the
    // threads of the request and of prefetching together, `max_prefetched_bytes` the prefetched
    // bytes.
    bool may_prefetch = false;
    std::size_t threads = 1;
    std::uint64_t max_prefetched_bytes = 0;
    // True if the cache has room for all chunks of the array.
    bool fits_cache = false;
    // True if the program gets the elements. Else they are for later requests.
    bool is_read = true;
  };

  // One request, while it is being read. All functions except key() may be called by several
  // threads at once.
  class Request {
   public:
    // The selection has been checked (check_selection).
    Request(AccessPattern& pattern, const Selection& selection, const RequestOptions& options);
    ~Request();
    Request(const Request&) = delete;
    Request& operator=(const Request&) = delete;

    WholeChunks whole_chunks() const { return whole_chunks_; }
    // So many requests, this one among them, are expected to need elements of each chunk.
    std::uint64_t requests_per_chunk() const { return requests_per_chunk_; }
    // The elements of the request, if it belongs to a walk whose chunks are prefetched.
    const std::optional<Box>& walk() const { return walk_; }
    // The chunks that the walk needs next, in the order of need, if that has changed.
    const std::optional<std::vector<Box>>& next_chunks() const { return next_chunks_; }

    // A part of a chunk has been found in the cache.
    void count_reuse() { ++used_before_; }
    // Returns true if a chunk of which a part has been used should be cached. `is_known`: an
    // earlier request has used another part. If chunks are not cached, the last `capacity` ones are
    // remembered by a hash of their keys, and are cached when they are used again.
    bool caches_part(bool is_known, std::size_t hash, std::uint64_t capacity);

    // Returns true if a chunk of which only a part is needed should be decoded as a whole. A part
    // costs less, unless the rest is needed later. The unit of the costs is bytes: what takes as
    // long as decoding so many bytes of a whole chunk. Must be called while nothing of the chunk is
    // decoded: the answer false is counted.
    struct DecodingCosts {
      double part = 0;   // of decoding the part that is needed now
      double rest = 0;   // of decoding the part that may be needed later
      double whole = 0;  // of decoding all now
    };
    bool decodes_whole(const DecodingCosts& costs);
    // Called once for each chunk that was decoded in part and of which more is needed.
    void count_rest() { ++rests_; }

    // The key of the request's next chunk, which is at `chunk` in the grid; `make` makes it unless
    // the latest request had the same chunk at the same place.
    template <typename Make>
    Key key(const std::vector<std::uint64_t>& chunk, const Make& make) {
      const std::size_t at = next_key_++;
      if (at >= kMaxKeys) return make();
      if (at >= keys_.size()) {
        keys_.emplace_back(chunk, make());
      } else if (keys_[at].first != chunk) {
        keys_[at] = {chunk, make()};
      }
      return keys_[at].second;
    }

   private:
    friend class AccessPattern;

    AccessPattern& pattern_;
    const Pace::TimePoint began_ = Pace::now();
    WholeChunks whole_chunks_ = WholeChunks::pass;
    std::uint64_t requests_per_chunk_ = 1;
    bool is_timed_ = false;
    std::optional<Box> walk_;
    std::optional<std::vector<Box>> next_chunks_;
    bool reuse_is_likely_ = true;
    // Numbers of partly used chunks that an earlier request had used or not, as far as that is
    // known.
    std::atomic<std::uint64_t> used_before_ = 0;
    std::atomic<std::uint64_t> new_ = 0;
    // Chunks that were decoded in part, such chunks of which more was needed later, and chunks that
    // were decoded as a whole although a part would have sufficed.
    double rest_share_ = 0.5;  // of earlier requests
    std::atomic<std::uint64_t> parts_ = 0;
    std::atomic<std::uint64_t> rests_ = 0;
    std::atomic<std::uint64_t> wholes_ = 0;  // including earlier requests
    std::vector<std::pair<std::vector<std::uint64_t>, Key>> keys_;
    std::size_t next_key_ = 0;
  };

  // In stores whose requests are slow, as many run in parallel as the store allows.
  bool is_remote() const { return store_.traits().parallel_requests > 1; }
  std::uint64_t unit_bytes() const { return unit_bytes_; }

  static constexpr std::uint64_t kMaxRemembered = 1024;

 private:
  // Requests of more chunks spend their time elsewhere.
  static constexpr std::size_t kMaxKeys = 1024;
  // These are called with the lock held.
  WholeChunks whole_chunks(const Selection& selection);
  void begin_walk(Request& request, const Selection& selection, const RequestOptions& options);
  void note(const Box& box, const Box& range);

  bool skips_chunks(const Selection& selection) const;
  Box chunks_of(const Box& box) const;
  Box box_of_chunk(const Shape& position) const;
  // Returns true if the chunks of a request give work to all threads, and the program does little
  // besides reading them: decoding into its memory is then faster than copying prefetched chunks.
  bool is_reading_only(const Box& box, const Box& range, std::size_t threads) const;
  // The part of the elements of its chunks that a request needs.
  double used_part(const Box& box, const Box& range) const;
  // Returns true if so many requests like this one read a chunk in parts, and not as a whole,
  // because that takes less. Chunks whose elements stand alone can be read so.
  bool reads_parts(const Box& box, std::uint64_t requests_per_chunk) const;
  std::vector<Box> chunks_after(const Box& box, const Box& range, std::size_t max_count) const;

  const Store& store_;
  std::uint64_t item_size_;
  // the grid of chunks or inner chunks; empty: nothing is prefetched
  std::vector<GridDimension> units_;
  Shape unit_shape_;
  std::uint64_t unit_bytes_ = 0;
  bool can_read_parts_ = false;  // CodecChain::elements_stand_alone

  ForkMutex mutex_;  // guards the following
  // The walk of the requests:
  Walk walk_;
  std::optional<Box> expected_;  // what the program has said, as long as it reads in that order
  Shape last_start_;             // of the last request; empty before the first
  Pace pace_;                    // of the requests
  std::optional<Box> last_;      // the chunks of the last request
  std::uint64_t walked_ = 0;     // the chunks that the walk has read
  std::optional<Box> planned_;   // the chunks of the last request that was planned for
  // Windows that are requested twice, as GDAL's resampling does for values and their mask:
  Selection last_selection_;
  bool was_repeated_ = false;  // the last window
  bool is_cached_ = false;     // until it is requested again
  // How often chunks of which requests use parts have been used before. Random reads of large
  // arrays rarely use a chunk again. Caching it then costs more than it saves: a cached chunk
  // occupies memory that the system has to provide page by page, while freed memory is reused at
  // once.
  float reuse_rate_ = 0.5;
  std::vector<std::size_t> remembered_;  // hashes, a ring once it is full
  std::size_t next_remembered_ = 0;
  // Counts of chunks that were decoded in part (see Request). Older ones count half.
  std::uint64_t parts_ = 0;
  std::uint64_t rests_ = 0;
  std::uint64_t wholes_ = 0;
  // The keys of the chunks of the latest request: programs that read row by row need the same
  // chunks in request after request.
  std::vector<std::pair<std::vector<std::uint64_t>, Key>> keys_;
};

}  // namespace zarrcore
