// Reads that walk through an array are the same with prefetched chunks as without.
#include "zarrcore/array/prefetcher.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "autotest/cpp/support/bytes.h"
#include "autotest/cpp/support/layout.h"
#include "autotest/cpp/support/observed_store.h"
#include "autotest/cpp/support/stored_array.h"
#include "zarrcore/array/array_writer.h"
#include "zarrcore/store/memory_store.h"

namespace zarrcore::test::prefetcher_test {
namespace {

ReadOptions ahead_options(std::size_t threads = 3) {
  ReadOptions options;
  options.threads = threads;
  options.lasting_scope = [] { return WorkerScope(); };
  return options;
}

const std::string kCompressed = codec_list({bytes_codec(), codec("zstd")});

std::string in_shards(const Shape& inner) {
  return codec_list({sharding_codec(inner, kCompressed, index_codecs())});
}

// A store whose requests are slow, and which knows versions if `inner` does.
class SlowStore final : public StoreWrapper {
 public:
  SlowStore(std::shared_ptr<Store> inner, std::size_t parallel_requests,
            std::chrono::microseconds delay = {})
      : StoreWrapper(inner),
        inner_(std::move(inner)),
        parallel_requests_(parallel_requests),
        delay_(delay) {}

  std::optional<Buffer> get(std::string_view key, std::uint64_t max_size) override {
    const Counted counted(*this);
    return StoreWrapper::get(key, max_size);
  }
  std::optional<std::vector<Buffer>> get_ranges(std::string_view key,
                                                std::span<const ByteRange> ranges) override {
    const Counted counted(*this);
    return StoreWrapper::get_ranges(key, ranges);
  }
  ValueVersion current_version(std::string_view key) override {
    return inner_->current_version(key);
  }
  StoreTraits traits() const override {
    return {.knows_versions = inner_->traits().knows_versions,
            .parallel_requests = parallel_requests_};
  }

  std::size_t most_at_once() const { return most_; }

 private:
  struct Counted {
    explicit Counted(SlowStore& counted_store) : store(counted_store) {
      const std::size_t now = ++store.running_;
      std::size_t most = store.most_;
      while (most < now && !store.most_.compare_exchange_weak(most, now)) {
      }
      std::this_thread::sleep_for(store.delay_);
    }
    ~Counted() { --store.running_; }
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;
    SlowStore& store;
  };

  std::shared_ptr<Store> inner_;
  std::size_t parallel_requests_;
  std::chrono::microseconds delay_;
  std::atomic<std::size_t> running_{0};
  std::atomic<std::size_t> most_{0};
};

// An array of uint16 and its elements.
struct WalkedArray {
  WalkedArray(Shape array_shape, const Shape& chunk_shape, const std::string& codecs)
      : shape(std::move(array_shape)) {
    Random random(5);
    values = random_bytes(random, element_count(shape) * 2);
    write_array(*memory, "", array_document(shape, chunk_shape, "\"uint16\"", codecs), values);
  }

  Bytes expected(const Selection& selection) const { return selected(values, shape, 2, selection); }

  Shape shape;
  Bytes values;
  std::shared_ptr<MemoryStore> memory = std::make_shared<MemoryStore>();
};

// Tiles of a size along rows, or backwards.
std::vector<Selection> tile_walk(const Shape& shape, const Shape& size, const Shape& step,
                                 bool is_backward = false) {
  std::vector<Selection> walk;
  for (std::uint64_t y = 0; y < shape[0]; y += step[0]) {
    for (std::uint64_t x = 0; x < shape[1]; x += step[1]) {
      walk.push_back(
          {{y, x}, {std::min(size[0], shape[0] - y), std::min(size[1], shape[1] - x)}, {}});
    }
  }
  if (is_backward) std::ranges::reverse(walk);
  return walk;
}

void wait_for(const std::function<bool()>& condition) {
  for (int i = 0; i < 20'000 && !condition(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_TRUE(condition());
}

// How often each key was requested, without the metadata.
std::map<std::string, int> fetch_counts(ObservedStore& store) {
  std::map<std::string, int> counts;
  for (const auto& request : store.take_requests()) ++counts[request.key];
  counts.erase("zarr.json");
  return counts;
}

TEST(Prefetcher, ReadsTheNextChunksWhileTheProgramDoesNot) {
  const WalkedArray stored({40, 40}, {10, 10}, kCompressed);
  const auto store = std::make_shared<ObservedStore>(stored.memory);
  const auto array = open_array(store);
  store->take_requests();
  const auto walk = tile_walk(stored.shape, {10, 10}, {10, 10});
  for (std::size_t i = 0; i < 2; ++i) read(*array, walk[i], ahead_options());
  std::map<std::string, int> counts;
  wait_for([&] {
    for (const auto& [key, count] : fetch_counts(*store)) counts[key] += count;
    return counts.size() == 4;
  });
  EXPECT_EQ(counts,
            (std::map<std::string, int>{{"c/0/0", 1}, {"c/0/1", 1}, {"c/0/2", 1}, {"c/0/3", 1}}));
  // The program gets them without another request.
  EXPECT_EQ(read(*array, walk[2], ahead_options()), stored.expected(walk[2]));
  EXPECT_EQ(fetch_counts(*store).count("c/0/2"), 0);
}

// Rows of the same chunks keep one thread busy with copying.
TEST(Prefetcher, ReadsTheNextChunksWhileTheProgramReadsRowsOfTheLast) {
  const WalkedArray stored({64, 2048}, {32, 32}, kCompressed);
  const auto store = std::make_shared<ObservedStore>(stored.memory);
  const auto array = open_array(store);
  store->take_requests();
  const ReadOptions options = ahead_options();
  for (const auto& row : tile_walk({16, 2048}, {1, 2048}, {1, 2048})) read(*array, row, options);
  std::map<std::string, int> counts;
  wait_for([&] {
    for (const auto& [key, count] : fetch_counts(*store)) counts[key] += count;
    return counts.size() == 128;
  });
}

// Their chunks are fetched as a whole once the walk is known, instead of range by range.
TEST(Prefetcher, ReadsUncompressedChunksOfWhichAWalkNeedsAllRows) {
  const WalkedArray stored({128, 2048}, {64, 1024}, codec_list({bytes_codec()}));
  const auto store = std::make_shared<ObservedStore>(stored.memory);
  const auto array = open_array(store);
  store->take_requests();
  const auto rows = tile_walk(stored.shape, {1, 2048}, {1, 2048});
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(read(*array, rows[i], ahead_options()), stored.expected(rows[i]));
  }
  std::map<std::string, int> ranges;
  std::map<std::string, int> wholes;
  wait_for([&] {
    for (const auto& request : store->take_requests()) {
      ++(request.is_whole ? wholes : ranges)[request.key];
    }
    return wholes.size() == 4;
  });
  EXPECT_EQ(ranges, (std::map<std::string, int>{{"c/0/0", 1}, {"c/0/1", 1}}));
  for (const auto& [key, count] : wholes) EXPECT_EQ(count, 1) << key;
  for (const auto& row : rows) {
    EXPECT_EQ(read(*array, row, ahead_options()), stored.expected(row));
  }
}

TEST(Prefetcher, LeavesUncompressedChunksOfWhichAWalkNeedsFewRows) {
  const WalkedArray stored({128, 2048}, {64, 1024}, codec_list({bytes_codec()}));
  const auto store = std::make_shared<ObservedStore>(stored.memory);
  const auto array = open_array(store);
  store->take_requests();
  for (const auto& row : tile_walk(stored.shape, {1, 2048}, {32, 2048})) {
    EXPECT_EQ(read(*array, row, ahead_options()), stored.expected(row));
  }
  for (const auto& request : store->take_requests()) {
    EXPECT_FALSE(request.is_whole) << request.key;
  }
}

TEST(Prefetcher, AWalkFetchesEachChunkOnce) {
  for (const std::size_t requests : {1, 4, 16}) {
    for (const bool is_backward : {false, true}) {
      for (const std::uint64_t length : {8, 16, 80}) {
        const WalkedArray stored({64, 80}, {8, 8}, kCompressed);
        const auto store = std::make_shared<ObservedStore>(
            std::make_shared<SlowStore>(stored.memory, requests, std::chrono::microseconds(200)));
        const auto array = open_array(store);
        store->take_requests();
        for (const auto& selection :
             tile_walk(stored.shape, {8, length}, {8, length}, is_backward)) {
          ASSERT_EQ(read(*array, selection, ahead_options()), stored.expected(selection));
        }
        const auto counts = fetch_counts(*store);
        EXPECT_EQ(counts.size(), 80);
        for (const auto& [key, count] : counts) EXPECT_EQ(count, 1) << key;
      }
    }
  }
}

TEST(Prefetcher, InnerChunksAreFetchedOnce) {
  for (const std::size_t requests : {1, 8}) {
    const WalkedArray stored({64, 96}, {32, 48}, in_shards({8, 8}));
    const auto bytes_of_walk = [&](const ReadOptions& options) {
      const auto store = std::make_shared<ObservedStore>(
          std::make_shared<SlowStore>(stored.memory, requests, std::chrono::microseconds(100)));
      const auto array = open_array(store);
      store->take_requests();
      for (const auto& selection : tile_walk(stored.shape, {8, 8}, {8, 8})) {
        EXPECT_EQ(read(*array, selection, options), stored.expected(selection));
      }
      std::uint64_t bytes = 0;
      for (const auto& request : store->take_requests()) bytes += request.bytes;
      return bytes;
    };
    EXPECT_EQ(bytes_of_walk(ahead_options()), bytes_of_walk({}));
  }
}

TEST(Prefetcher, IsNeverAheadByMoreThanTheWalkHasRead) {
  for (const std::size_t requests : {1, 16}) {
    for (std::size_t count = 1; count < 20; ++count) {
      const WalkedArray stored({8, 400}, {8, 8}, kCompressed);
      const auto slow = std::make_shared<SlowStore>(stored.memory, requests);
      const auto store = std::make_shared<ObservedStore>(slow);
      auto array = open_array(store);
      store->take_requests();
      // From the second chunk on: a walk that may be another one than a scan.
      const auto walk = tile_walk(stored.shape, {8, 8}, {8, 8});
      for (std::size_t i = 1; i <= count; ++i) read(*array, walk[i], ahead_options(2));
      array.reset();  // waits for what is running
      const std::size_t fetched = fetch_counts(*store).size();
      EXPECT_GE(fetched, count);
      EXPECT_LE(fetched, count < (requests > 1 ? 4 : 3) ? count : 2 * count);
      EXPECT_LE(fetched, count + std::max<std::size_t>(3 * requests, 6));
      EXPECT_LE(slow->most_at_once(), requests == 1 ? 2 : 2 * requests);
    }
  }
}

TEST(Prefetcher, WhatIsExpectedIsReadFromTheFirstRequestOn) {
  const WalkedArray stored({16, 160}, {8, 8}, kCompressed);
  const auto store = std::make_shared<ObservedStore>(stored.memory);
  auto array = open_array(store);
  store->take_requests();
  array->expect_reads({{0, 80}, {16, 80}, {}}, ahead_options(2));
  read(*array, {{0, 80}, {8, 24}, {}}, ahead_options(2));
  std::map<std::string, int> counts;
  wait_for([&] {
    for (const auto& [key, count] : fetch_counts(*store)) counts[key] += count;
    return counts.size() == 9;
  });
  EXPECT_TRUE(counts.contains("c/0/13"));
  EXPECT_TRUE(counts.contains("c/0/18"));
  // Requests of other sizes continue in the same order; one that goes back does not.
  for (const std::uint64_t x : {104, 128, 136}) {
    const Selection selection{{0, x}, {8, x == 128 ? 8u : 24u}, {}};
    EXPECT_EQ(read(*array, selection, ahead_options(2)), stored.expected(selection));
  }
  read(*array, {{0, 96}, {8, 8}, {}}, ahead_options(2));
  array.reset();
  for (const auto& [key, count] : fetch_counts(*store)) counts[key] += count;
  for (const auto& [key, count] : counts) {
    EXPECT_FALSE(key.starts_with("c/0/0"));
    EXPECT_EQ(count, key == "c/0/12" ? 2 : 1) << key;
  }
}

TEST(Prefetcher, RequestsThatDoNotWalkReadNothingElse) {
  const WalkedArray stored({80, 80}, {8, 8}, kCompressed);
  const auto store = std::make_shared<ObservedStore>(stored.memory);
  auto array = open_array(store);
  store->take_requests();
  std::set<std::string> wanted;
  // The steps of a knight never repeat.
  for (std::uint64_t i = 0; i < 9; ++i) {
    const std::uint64_t y = i * i * 3 % 10;
    const std::uint64_t x = (i * 7 + i / 2) % 10;
    read(*array, {{y * 8, x * 8}, {8, 8}, {}}, ahead_options());
    wanted.insert("c/" + std::to_string(y) + "/" + std::to_string(x));
  }
  array.reset();
  const auto counts = fetch_counts(*store);
  EXPECT_EQ(counts.size(), wanted.size());
}

TEST(Prefetcher, MissingChunksAreAskedForOnce) {
  for (const bool is_sharded : {false, true}) {
    WalkedArray stored({8, 160}, {8, is_sharded ? 16u : 8u},
                       is_sharded ? in_shards({8, 8}) : kCompressed);
    std::fill(stored.values.begin(), stored.values.end(), std::byte{0});
    for (int i = 0; i < 20; ++i) stored.memory->erase("c/0/" + std::to_string(i));
    const auto store = std::make_shared<ObservedStore>(
        std::make_shared<SlowStore>(stored.memory, 8, std::chrono::microseconds(100)));
    const auto array = open_array(store);
    store->take_requests();
    for (const auto& selection : tile_walk(stored.shape, {8, 8}, {8, 8})) {
      ASSERT_EQ(read(*array, selection, ahead_options()), stored.expected(selection));
    }
    std::size_t total = 0;
    for (const auto& [key, count] : fetch_counts(*store)) {
      if (!is_sharded) {
        EXPECT_EQ(count, 1) << key;
      }
      total += count;
    }
    // Each of the 20 inner chunks once by a task and once by the reader would be 40. A request that
    // overtakes a task makes the task ask again, as what is missing is known for one use.
    EXPECT_LE(total, 30);
    ReadOptions strict = ahead_options();
    strict.missing_chunks_are_errors = true;
    EXPECT_THROW(read(*array, {{0, 0}, {8, 8}, {}}, strict), Error);
  }
}

// Walks with random sizes, steps and directions, one after the other in one array.
TEST(Prefetcher, RandomWalksReadTheSame) {
  Random random(18);
  for (int round = 0; round < 60; ++round) {
    const Shape shape{random() % 60 + 20, random() % 60 + 20};
    const Shape chunk{random() % 3 * 4 + 4, random() % 3 * 4 + 4};
    const Shape shard{chunk[0] * 2, chunk[1] * 3};
    const bool is_sharded = round % 3 == 0;
    const WalkedArray stored(shape, is_sharded ? shard : chunk,
                             is_sharded ? in_shards(chunk) : kCompressed);
    const auto store = std::make_shared<SlowStore>(
        stored.memory, round % 2 == 0 ? 1 : 5, std::chrono::microseconds(round % 4 == 0 ? 50 : 0));
    const auto array = open_array(store);
    for (int walks = 0; walks < 4; ++walks) {
      const Shape size{random() % 20 + 1, random() % 20 + 1};
      const Shape step{random() % size[0] + 1, random() % size[1] + 1};
      auto walk = tile_walk(shape, size, step, random() % 2 == 0);
      const std::size_t first = random() % walk.size();
      const std::size_t count = std::min<std::size_t>(walk.size() - first, 60);
      for (std::size_t i = first; i < first + count; ++i) {
        if (random() % 30 == 0) i = random() % walk.size();  // breaks the walk
        ASSERT_EQ(read(*array, walk[i], ahead_options()), stored.expected(walk[i]));
      }
    }
  }
}

TEST(Prefetcher, ErrorsAreThoseOfTheChunksThatAreAskedFor) {
  Random random(7);
  for (int round = 0; round < 40; ++round) {
    const WalkedArray stored({32, 64}, {8, 8}, kCompressed);
    std::set<std::string> broken;
    for (int i = 0; i < 4; ++i) {
      broken.insert("c/" + std::to_string(random() % 4) + "/" + std::to_string(random() % 8));
    }
    const auto store = std::make_shared<FailingStore>(
        std::make_shared<SlowStore>(stored.memory, round % 2 == 0 ? 1 : 4),
        [&](std::string_view key) { return broken.contains(std::string(key)); });
    const auto array = open_array(store);
    for (const auto& selection : tile_walk(stored.shape, {8, 8}, {8, 8})) {
      const std::string key = "c/" + std::to_string(selection.start[0] / 8) + "/" +
                              std::to_string(selection.start[1] / 8);
      if (broken.contains(key)) {
        EXPECT_THROW(read(*array, selection, ahead_options()), Error);
      } else {
        EXPECT_EQ(read(*array, selection, ahead_options()), stored.expected(selection));
      }
    }
  }
}

// Chunks of one byte value each, which other programs replace while they are being walked through.
TEST(Prefetcher, ReplacedChunksAreReadAsTheyAre) {
  Random random(3);
  for (int round = 0; round < 20; ++round) {
    const WalkedArray stored({8, 160}, {8, 8}, kCompressed);
    const auto array = open_array(stored.memory);
    const auto other = std::make_shared<MemoryStore>();
    Bytes values = stored.values;
    const auto walk = tile_walk(stored.shape, {8, 8}, {8, 8});
    for (std::size_t i = 0; i < walk.size(); ++i) {
      if (random() % 2 == 0) {
        const std::size_t chunk = std::min<std::size_t>(i + random() % 4, walk.size() - 1);
        const Bytes replacement = random_bytes(random, 128);
        const CodecChain chain(array->metadata().codecs,
                               {{8, 8}, array->data_type(), array->fill_value()});
        stored.memory->put("c/0/" + std::to_string(chunk), chain.encode(replacement).span());
        for (std::size_t y = 0; y < 8; ++y) {
          std::copy_n(replacement.begin() + static_cast<std::ptrdiff_t>(y * 16), 16,
                      values.begin() + static_cast<std::ptrdiff_t>(y * 320 + chunk * 16));
        }
      }
      ASSERT_EQ(read(*array, walk[i], ahead_options()), selected(values, stored.shape, 2, walk[i]));
    }
  }
}

// A writer of the same array goes through it again and again; each read sees at least what had been
// written before it began.
TEST(Prefetcher, ReadersSeeWhatHasBeenWritten) {
  const WalkedArray stored({8, 160}, {8, 8}, kCompressed);
  const auto store = std::make_shared<SlowStore>(stored.memory, 1);
  const auto array = open_array(store);
  constexpr int kChunks = 20;
  std::vector<std::atomic<std::uint16_t>> written(kChunks);
  std::atomic<bool> is_done = false;
  const auto write = [&](ArrayWriter& writer, std::size_t chunk, std::uint16_t value) {
    const std::vector<std::uint16_t> values(64, value);
    writer.write({{0, chunk * 8}, {8, 8}, {}},
                 {reinterpret_cast<const std::byte*>(values.data()), {16, 2}}, {});
    writer.flush({});
    written[chunk] = value;
  };
  ArrayWriter writer(array, {});
  for (std::size_t chunk = 0; chunk < kChunks; ++chunk) write(writer, chunk, 1);
  std::thread other([&] {
    for (std::uint16_t value = 2; !is_done; ++value) {
      for (std::size_t chunk = 0; chunk < kChunks && !is_done; ++chunk) write(writer, chunk, value);
    }
  });
  for (int round = 0; round < 30; ++round) {
    for (std::size_t chunk = 0; chunk < kChunks; ++chunk) {
      const std::uint16_t before = written[chunk];
      std::vector<std::uint16_t> values(64);
      array->read({{0, chunk * 8}, {8, 8}, {}}, values.data(), 128, ahead_options());
      EXPECT_EQ(std::ranges::count(values, values[0]), 64);
      EXPECT_GE(values[0], before);
    }
  }
  is_done = true;
  other.join();
}

// The store does not know versions.
TEST(Prefetcher, WhatWasReadAheadOfAPutIsNotUsed) {
  const WalkedArray stored({8, 160}, {8, 8}, kCompressed);
  const auto store = std::make_shared<ObservedStore>(stored.memory);
  const auto array = open_array(store);
  const auto walk = tile_walk(stored.shape, {8, 8}, {8, 8});
  for (std::size_t i = 0; i < 3; ++i) read(*array, walk[i], ahead_options());
  std::map<std::string, int> counts;
  wait_for([&] {
    counts.merge(fetch_counts(*store));
    return counts.contains("c/0/3");
  });
  const Bytes values(128, std::byte{1});
  ArrayWriter writer(array);
  writer.write(walk[3], {values.data(), {16, 2}, nullptr});
  writer.flush();
  EXPECT_EQ(read(*array, walk[3], ahead_options()), values);
}

TEST(Prefetcher, SeveralThreadsMayWalk) {
  for (const std::size_t requests : {1, 6}) {
    const WalkedArray stored({64, 96}, {16, 24}, in_shards({8, 8}));
    const auto array = open_array(std::make_shared<SlowStore>(stored.memory, requests));
    const auto walk = tile_walk(stored.shape, {8, 8}, {8, 8});
    std::atomic<std::size_t> next = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&, i] {
        if (i % 2 == 0) {
          for (std::size_t k = next++; k < walk.size(); k = next++) {
            EXPECT_EQ(read(*array, walk[k], ahead_options()), stored.expected(walk[k]));
          }
        } else {
          for (const auto& selection : walk) {
            EXPECT_EQ(read(*array, selection, ahead_options()), stored.expected(selection));
          }
        }
      });
    }
    for (auto& thread : threads) thread.join();
  }
}

TEST(Prefetcher, MemoryIsBoundedAndGivenBack) {
  const WalkedArray stored({16, 1600}, {16, 16}, kCompressed);  // 512 bytes a chunk
  const auto context = std::make_shared<Context>(16 * 512);  // 8 prefetched chunks have a quarter
  auto array = open_array(stored.memory, "", context);
  for (const auto& selection : tile_walk(stored.shape, {16, 16}, {16, 16})) {
    EXPECT_EQ(read(*array, selection, ahead_options(8)), stored.expected(selection));
    EXPECT_LE(context->chunks.prefetched_bytes(), 4 * 512);
  }
  array.reset();
  EXPECT_EQ(context->chunks.prefetched_bytes(), 0);
}

TEST(Prefetcher, OneThreadReadsNothingAhead) {
  const WalkedArray stored({8, 160}, {8, 8}, kCompressed);
  const auto store = std::make_shared<ObservedStore>(stored.memory);
  auto array = open_array(store);
  store->take_requests();
  const auto walk = tile_walk(stored.shape, {8, 8}, {8, 8});
  for (std::size_t i = 0; i < 10; ++i) read(*array, walk[i], ahead_options(1));
  array.reset();
  EXPECT_EQ(fetch_counts(*store).size(), 10);
}

#if !defined(__SANITIZE_THREAD__)
TEST(Prefetcher, AForkedChildGoesOnWithAWalk) {
  const WalkedArray stored({64, 64}, {8, 8}, kCompressed);
  const auto walk = tile_walk(stored.shape, {8, 8}, {8, 8});
  for (std::size_t fork_at = 1; fork_at < walk.size(); fork_at += 7) {
    const auto array = open_array(std::make_shared<SlowStore>(stored.memory, 1 + fork_at % 5,
                                                              std::chrono::microseconds(100)));
    const auto go_on = [&](std::size_t first) {
      return std::ranges::all_of(walk.begin() + static_cast<std::ptrdiff_t>(first), walk.end(),
                                 [&](const Selection& selection) {
                                   return read(*array, selection, ahead_options()) ==
                                          stored.expected(selection);
                                 });
    };
    for (std::size_t i = 0; i < fork_at; ++i) read(*array, walk[i], ahead_options());
    const pid_t child = ::fork();
    if (child == 0) ::_exit(go_on(fork_at) ? 0 : 1);
    EXPECT_TRUE(go_on(fork_at));
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
}
#endif

}  // namespace
}  // namespace zarrcore::test::prefetcher_test
