// Reading ahead: while requests walk through an array (walk.h), threads that are idle fetch and
// decode the chunks that the next requests will need.
//
// It begins when a walk has gone on for some requests, and ends when the walk does. It never is
// ahead by more chunks than the walk has read, unless the program has said what it will read, nor
// by more than a request needs or a small multiple of the threads (in stores with slow requests, of
// the requests that run in parallel), nor by more bytes than a quarter of the cache of decoded
// chunks. A reader takes what is decoded, waits for what is being read, and reads the rest itself.
//
// Errors are dropped: the reader then reads the chunk itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "zarrcore/array/array_state.h"
#include "zarrcore/array/chunks_ahead.h"
#include "zarrcore/array/pace.h"
#include "zarrcore/array/read_options.h"
#include "zarrcore/array/selection.h"
#include "zarrcore/array/task_group.h"
#include "zarrcore/array/walk.h"

namespace zarrcore {

// Of one array, which must outlive it. Safe to use from several threads at once.
class ReadAhead {
 public:
  // `unit` is the shape of what is decoded at once (Array::inner_chunk_shape).
  ReadAhead(const ArrayState& array, Shape unit);
  // Waits for the tasks that are running.
  ~ReadAhead();
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  // The program says that it will read these elements, in C order.
  void expect(const Box& box);

  // A request, while it is being read.
  class Request {
   public:
    // `ahead` may be null. The selection has been checked (check_selection).
    Request(ReadAhead* ahead, const Selection& selection, const ReadOptions& options) noexcept;
    ~Request();
    Request(const Request&) = delete;
    Request& operator=(const Request&) = delete;

    // Null unless chunks of the request may have been read ahead.
    ReadAhead* ahead() const { return box_ ? ahead_ : nullptr; }
    // How many requests, this one among them, are expected to need elements of each chunk.
    std::uint64_t requests_per_chunk() const { return requests_per_chunk_; }

   private:
    ReadAhead* ahead_;
    std::optional<Box> box_;
    std::uint64_t requests_per_chunk_ = 1;
    Pace::TimePoint began_;
  };

  // What has been read ahead of a part; helps with other chunks while it is being read.
  ChunksAhead::Taken take(const CacheKey& key);
  ChunksAhead& chunks() { return chunks_; }

 private:
  class GivenUp;

  // The positions of chunks along each dimension: first and last.
  using Range = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

  bool is_remote() const { return array_.store->traits().parallel_requests > 1; }
  bool skips_chunks(const Selection& selection) const;
  Range range_of(const Box& box) const;
  Box box_of(const std::vector<std::uint64_t>& position) const;
  // How many requests of the walk need each chunk; nullopt unless the requests up to this one make
  // it likely that the walk goes on.
  std::optional<std::uint64_t> observe(const Box& box, const Range& range, Pace::TimePoint began);
  void note(const Box& box, const Range& range);
  bool is_repeated(const Box& box);
  // Whether the chunks of a request give work to all threads, and the program does little else than
  // reading them: decoding to its memory then takes less than copying what was decoded ahead.
  bool is_reading_only(const Box& box, const Range& range, std::size_t threads) const;
  // The part of the elements of its chunks that a request needs.
  double used_part(const Box& box, const Range& range) const;
  // Whether so many requests like this one read a chunk in parts, and not as a whole, because that
  // takes less. Chunks whose elements stand alone can be read so.
  bool reads_parts(const Box& box, std::uint64_t requests_per_chunk) const;
  void plan(const Box& box, const Range& range, const ReadOptions& options);
  std::vector<Box> next_chunks(const Box& box, const Range& range, std::size_t max_count) const;
  WorkerScope cancellable(WorkerScope scope) const;
  void post_tasks();
  void run_task();
  bool read_next();
  void read(std::span<const ChunksAhead::Chunk> chunks, const ReadOptions& options);

  const ArrayState& array_;
  std::vector<GridDimension> units_;  // of chunks or inner chunks; empty: nothing is read ahead
  Shape unit_shape_;
  std::uint64_t unit_bytes_ = 0;
  bool can_read_parts_ = false;  // CodecChain::elements_stand_alone

  std::mutex mutex_;  // guards the following
  Walk walk_;
  std::optional<Box> expected_;   // what the program has said, as long as it reads in that order
  Shape last_start_;              // of the last request; empty before the first
  Pace pace_;                     // of the requests
  std::optional<Range> last_;     // of the last request
  std::uint64_t walked_ = 0;      // the chunks that the walk has read
  std::optional<Range> planned_;  // of the last request that was planned for
  WorkerScope scope_;
  std::size_t threads_ = 1;
  std::size_t posted_ = 0;
  bool is_closing_ = false;

  ChunksAhead chunks_;
  std::shared_ptr<Cancellation> cancellation_ = std::make_shared<Cancellation>();
  TaskGroup tasks_;
};

}  // namespace zarrcore
