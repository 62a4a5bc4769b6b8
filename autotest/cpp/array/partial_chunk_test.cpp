// Reading parts of chunks that need not be fetched, or decoded, as a whole.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "autotest/cpp/support/expect_error.h"
#include "autotest/cpp/support/layout.h"
#include "autotest/cpp/support/observed_store.h"
#include "autotest/cpp/support/process.h"
#include "autotest/cpp/support/stored_array.h"
#include "zarrcore/array/selection.h"
#include "zarrcore/store/memory_store.h"

namespace zarrcore::test::partial_chunk_test {
namespace {

// Fetches every range by itself, even from the chunks of a test.
class PreciseStore final : public StoreWrapper {
 public:
  using StoreWrapper::StoreWrapper;
  StoreTraits traits() const override { return {.bytes_per_range = bytes_per_range_}; }
  std::uint64_t bytes_per_range_ = 8;
};

const std::string kBloscLz4 =
    codec("blosc", R"("cname": "lz4", "clevel": 5, "shuffle": "shuffle", "typesize": 2,
                      "blocksize": 1024)");
const std::string kBloscZstd =
    codec("blosc", R"("cname": "zstd", "clevel": 1, "shuffle": "bitshuffle", "typesize": 2,
                      "blocksize": 3000)");
// Its blocks do not hold whole items.
const std::string kUneven =
    codec("blosc", R"("cname": "lz4", "clevel": 1, "shuffle": "shuffle", "typesize": 3)");

// An array of uint16 in two chunks of a size of their own.
struct Stored {
  explicit Stored(const std::vector<std::string>& codecs, const Shape& chunk_shape = kChunk) {
    Random random(71);
    values = random_bytes(random, element_count(kShape) * 2);
    // Not only noise, which Blosc would store as it is.
    for (std::size_t i = 0; i < values.size(); i += 3) values[i] = std::byte{1};
    write_array(*memory, "", array_document(kShape, chunk_shape, "\"uint16\"", codec_list(codecs)),
                values);
    array = open_array(store);
    store->take_requests();
  }

  Bytes expected(const Selection& selection) const {
    return selected(values, kShape, 2, selection);
  }

  std::uint64_t fetched_bytes() const {
    std::uint64_t total = 0;
    for (const auto& request : store->take_requests()) total += request.bytes;
    return total;
  }

  static inline const Shape kShape{60, 50, 40};
  static inline const Shape kChunk{40, 50, 40};

  Bytes values;
  std::shared_ptr<MemoryStore> memory = std::make_shared<MemoryStore>();
  std::shared_ptr<PreciseStore> precise = std::make_shared<PreciseStore>(memory);
  std::shared_ptr<ObservedStore> store = std::make_shared<ObservedStore>(precise);
  std::shared_ptr<const Array> array;
};

class PartialChunk : public testing::TestWithParam<std::vector<std::string>> {};

TEST_P(PartialChunk, AnyRegionIsWhatTheModelSays) {
  const Stored stored(GetParam());
  Random random(72);
  for (int round = 0; round < 300; ++round) {
    // Now and then anew, so that chunks are met in every state.
    const auto array = round % 7 == 0 ? open_array(stored.store) : stored.array;
    const Selection selection = random_selection(random, Stored::kShape);
    ASSERT_EQ(read(*array, selection, {.threads = 1 + round % 2u}), stored.expected(selection))
        << "round " << round;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Codecs, PartialChunk,
    testing::Values(
        std::vector{bytes_codec()}, std::vector{bytes_codec("big")},
        std::vector{transpose_codec({2, 0, 1}), bytes_codec("big")},
        std::vector{sharding_codec({20, 25, 20}, codec_list({bytes_codec("big")}), index_codecs())},
        std::vector{bytes_codec(), kBloscLz4}, std::vector{bytes_codec("big"), kBloscLz4},
        std::vector{bytes_codec(), kBloscZstd}, std::vector{bytes_codec(), kUneven},
        std::vector{transpose_codec({1, 2, 0}), bytes_codec(), kBloscLz4},
        std::vector{
            sharding_codec({20, 25, 20}, codec_list({bytes_codec(), kBloscLz4}), index_codecs())}));

TEST(PartialChunk, OfUncompressedElementsOnlyThoseThatAreWantedAreFetched) {
  const Stored stored({bytes_codec()});
  for (const Selection& selection :
       {Selection{{3, 7, 9}, {1, 1, 20}, {}}, Selection{{0, 7, 9}, {40, 1, 1}, {}},
        Selection{{39, 49, 39}, {20, 2, 3}, {-2, -20, -1}}}) {
    EXPECT_EQ(read(*stored.array, selection), stored.expected(selection));
    EXPECT_EQ(stored.fetched_bytes(), 2 * element_count(selection.count));
  }
}

// Who reads row after row shall not pay for each what the chunk as a whole costs.
TEST(PartialChunk, OfWhichMuchHasBeenReadIsFetchedAsAWholeAndKept) {
  const Stored stored({bytes_codec()});
  const std::uint64_t chunk = 2 * element_count(Stored::kChunk);
  stored.precise->bytes_per_range_ = chunk / 4;
  const Selection half{{0, 0, 0}, {20, 50, 40}, {}};
  std::vector<std::uint64_t> fetched;
  for (int round = 0; round < 4; ++round) {
    EXPECT_EQ(read(*stored.array, half), stored.expected(half));
    fetched.push_back(stored.fetched_bytes());
  }
  EXPECT_EQ(fetched, (std::vector<std::uint64_t>{chunk / 2, chunk / 2, chunk, 0}));
}

TEST(PartialChunk, AnUncompressedChunkOfAnotherSizeIsAnErrorInPartAsWell) {
  const Stored stored({bytes_codec()});
  const Selection first{{0, 0, 0}, {1, 1, 1}, {}};
  stored.memory->put("c/0/0/0", Bytes(2 * element_count(Stored::kChunk) + 1));
  EXPECT_ERROR(read(*stored.array, first), "c/0/0/0", "160001 bytes where 160000 are expected");
  stored.memory->put("c/0/0/0", Bytes(1000));
  EXPECT_ERROR(read(*stored.array, first), "1000 bytes where 160000 are expected");
  stored.memory->erase("c/0/0/0");
  EXPECT_EQ(read(*stored.array, first), Bytes(2));
}

// The second half of what Blosc made is damaged: reads that do not need it do not notice.
TEST(PartialChunk, OfABloscChunkOnlyTheBlocksThatAreWantedAreDecoded) {
  const Stored stored({bytes_codec(), kBloscZstd});
  Bytes chunk = to_bytes(stored.memory->get("c/0/0/0", kNoSizeLimit)->span());
  std::fill(chunk.begin() + static_cast<std::ptrdiff_t>(chunk.size() / 2), chunk.end(),
            std::byte{0xff});
  stored.memory->put("c/0/0/0", chunk);
  const Selection first{{3, 0, 0}, {1, 50, 40}, {}};
  const Selection last{{39, 0, 0}, {1, 50, 40}, {}};
  EXPECT_EQ(read(*stored.array, first), stored.expected(first));
  EXPECT_ERROR(read(*stored.array, last), "c/0/0/0", "blosc");
  EXPECT_EQ(stored.fetched_bytes(), chunk.size()) << "fetched once for both";
  EXPECT_EQ(read(*stored.array, first), stored.expected(first));
  EXPECT_ERROR(read(*stored.array, everything(Stored::kShape)), "blosc");
}

TEST(PartialChunk, EncodedBytesAreKeptAsLongAsBlocksAreMissing) {
  const Stored stored({bytes_codec(), kBloscLz4});
  const std::uint64_t encoded = stored.memory->get("c/0/0/0", kNoSizeLimit)->size();
  const std::uint64_t decoded = element_count(Stored::kChunk) * 2;
  constexpr std::uint64_t kOfAnEntry = 1000;
  ASSERT_GT(encoded, kOfAnEntry);
  const auto context = std::make_shared<Context>();
  const auto in_part = open_array(stored.store, "", context);
  const auto as_a_whole = open_array(stored.store, "", context);
  read(*in_part, {{0, 0, 0}, {1, 50, 40}, {}});
  EXPECT_GE(context->chunks.byte_count(), decoded + encoded);
  read(*as_a_whole, {{0, 0, 0}, {39, 50, 40}, {}});
  EXPECT_GE(context->chunks.byte_count(), 2 * decoded + encoded);
  EXPECT_LT(context->chunks.byte_count(), 2 * decoded + encoded + 2 * kOfAnEntry);
}

TEST(PartialChunk, ABloscHeaderThatLiesIsAnError) {
  const Stored stored({bytes_codec(), kBloscLz4});
  const Bytes chunk = to_bytes(stored.memory->get("c/0/0/0", kNoSizeLimit)->span());
  const Selection first{{3, 0, 0}, {1, 50, 40}, {}};
  Random random(73);
  for (std::size_t i = 0; i < 400; ++i) {
    Bytes damaged = chunk;
    damaged[i % 200] = static_cast<std::byte>(random_number(random, 0, 255));
    stored.memory->put("c/0/0/0", damaged);
    const auto array = open_array(stored.store);
    try {
      EXPECT_EQ(read(*array, first).size(), 4000);
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("c/0/0/0"), std::string::npos);
    }
  }
}

using Runs = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

Runs runs_of(const std::vector<AxisSlice>& axes, std::uint64_t max_gap = 0) {
  Runs runs;
  for_each_run(axes, Shape{4, 5, 6}, 2, max_gap, [&](std::uint64_t offset, std::uint64_t length) {
    runs.emplace_back(offset, length);
  });
  return runs;
}

TEST(Runs, AreAsLongAsCanBe) {
  const AxisSlice all4{0, 4, 1};
  const AxisSlice all5{0, 5, 1};
  const AxisSlice all6{0, 6, 1};
  EXPECT_EQ(runs_of({all4, all5, all6}), (Runs{{0, 240}}));
  EXPECT_EQ(runs_of({{1, 2, 1}, all5, all6}), (Runs{{60, 120}}));
  EXPECT_EQ(runs_of({{1, 2, 2}, {1, 3, 1}, all6}), (Runs{{72, 36}, {192, 36}}));
  EXPECT_EQ(runs_of({all4, {2, 1, 1}, {1, 2, 3}}), (Runs{{26, 8}, {86, 8}, {146, 8}, {206, 8}}));
  EXPECT_EQ(runs_of({{0, 2, 3}, {0, 2, 4}, {5, 1, 1}}),
            (Runs{{10, 2}, {58, 2}, {190, 2}, {238, 2}}));
}

TEST(Runs, CrossGapsThatAreSmallEnough) {
  const AxisSlice all4{0, 4, 1};
  const AxisSlice all5{0, 5, 1};
  // One column, one plane and every other row of 4 x 5 x 6 elements.
  EXPECT_EQ(runs_of({all4, all5, {3, 1, 1}}, 10), (Runs{{6, 230}}));
  EXPECT_EQ(runs_of({all4, all5, {3, 1, 1}}, 9).size(), 20);
  EXPECT_EQ(runs_of({all4, {2, 1, 1}, {0, 6, 1}}, 48), (Runs{{24, 192}}));
  EXPECT_EQ(runs_of({all4, {0, 3, 2}, {0, 6, 1}}, 12), (Runs{{0, 240}}));
  EXPECT_EQ(runs_of({all4, {0, 2, 2}, {0, 6, 1}}, 12),
            (Runs{{0, 36}, {60, 36}, {120, 36}, {180, 36}}));
}

// With gaps that are smaller than a block, runs touch the blocks that elements do.
TEST(Runs, TouchTheBlocksThatTheirElementsDo) {
  Random random(75);
  for (int round = 0; round < 2000; ++round) {
    const Shape shape = random_shape(random, 4, 9);
    if (element_count(shape) == 0) continue;
    std::vector<AxisSlice> axes;
    for (std::size_t i = 0; i < shape.size(); ++i) {
      const std::uint64_t start = random_number(random, 0, shape[i] - 1);
      // The innermost is taken without steps, which count as wanted.
      const std::uint64_t step = i + 1 < shape.size() ? random_number(random, 1, 3) : 1;
      axes.push_back({start, random_number(random, 1, (shape[i] - 1 - start) / step + 1), step});
    }
    constexpr std::uint64_t kItem = 2;
    const std::uint64_t block = kItem * random_number(random, 1, 40);
    std::vector<bool> expected(element_count(shape) * kItem / block + 1);
    std::vector<bool> actual = expected;
    const SliceLayout layout = layout_of(axes, shape, kItem);
    for_each_index(layout.counts, [&](const Shape& index) {
      expected[(layout.offset + offset_of(index, layout.in_chunk)) / block] = true;
    });
    for_each_run(axes, shape, kItem, block - 1, [&](std::uint64_t offset, std::uint64_t length) {
      for (std::uint64_t b = offset / block; b <= (offset + length - 1) / block; ++b) {
        actual[b] = true;
      }
    });
    ASSERT_EQ(actual, expected) << testing::PrintToString(shape) << ", blocks of " << block;
  }
}

#if !defined(__SANITIZE_THREAD__)
TEST(PartialChunk, AForkedChildDecodesWhatAThreadOfItsParentWasDecoding) {
  // Four blocks, each of which takes some milliseconds.
  const Shape shape{4096, 512};
  Random random(37);
  Bytes values = random_bytes(random, 2 << 20);
  for (std::byte& value : values) value &= std::byte{0x1f};
  const auto store = std::make_shared<MemoryStore>();
  write_array(
      *store, "",
      array_document(
          shape, shape, "\"uint8\"",
          codec_list({bytes_codec(),
                      codec("blosc", R"("cname": "zlib", "clevel": 1, "shuffle": "noshuffle",
                    "typesize": 1, "blocksize": 524288)")})),
      values);
  const auto row = [&](std::uint64_t block) { return Selection{{block * 1024, 0}, {1, 16}, {}}; };
  for (int round = 0; round < 3; ++round) {
    const auto array = open_array(store);
    read(*array, row(0));
    std::atomic<bool> has_begun = false;
    std::thread thread([&] {
      has_begun = true;
      for (std::uint64_t block = 1; block < 4; ++block) read(*array, row(block));
    });
    while (!has_begun) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ChildProcess child([&] {
      ::alarm(20);
      for (std::uint64_t block = 0; block < 4; ++block) {
        if (read(*array, row(block)) != selected(values, shape, 1, row(block))) ::_exit(2);
      }
    });
    EXPECT_EQ(child.wait(), 0);
    thread.join();
  }
}
#endif

}  // namespace
}  // namespace zarrcore::test::partial_chunk_test
