// Reading regions of arrays.
#include "zarrcore/array/array.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "autotest/cpp/support/bytes.h"
#include "autotest/cpp/support/expect_error.h"
#include "autotest/cpp/support/layout.h"
#include "autotest/cpp/support/observed_store.h"
#include "autotest/cpp/support/stored_array.h"
#include "zarrcore/dtype/convert.h"
#include "zarrcore/store/memory_store.h"

namespace zarrcore::test::array_test {
namespace {

const std::string kPlain = codec_list({bytes_codec()});
const DataType kFloat64{TypeKind::floating, 8};

// An array in a store of its own, and its elements.
struct Stored {
  Shape shape;
  std::size_t item_size;
  Bytes values;
  std::shared_ptr<MemoryStore> store = std::make_shared<MemoryStore>();
  std::shared_ptr<const Array> array = nullptr;
};

Stored make_stored(Random& random, const Shape& shape, const Shape& chunk_shape,
                   const std::string& type, const std::string& codecs) {
  Stored stored{shape, parse_type_name(type)->item_size, {}};
  stored.values = random_bytes(random, element_count(shape) * stored.item_size);
  write_array(*stored.store, "", array_document(shape, chunk_shape, '"' + type + '"', codecs),
              stored.values);
  stored.array = open_array(stored.store);
  return stored;
}

Bytes selected(const Stored& stored, const Selection& selection) {
  return test::selected(stored.values, stored.shape, stored.item_size, selection);
}

// Codecs for chunks of a shape, of every kind.
std::string random_codecs(Random& random, const Shape& chunk_shape) {
  const std::size_t rank = chunk_shape.size();
  std::vector<std::size_t> order(rank);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), random);
  std::vector<std::string> codecs;
  Shape stored_shape = chunk_shape;
  if (random() % 2 == 0) {
    codecs.push_back(transpose_codec(order));
    for (std::size_t i = 0; i < rank; ++i) stored_shape[i] = chunk_shape[order[i]];
  }
  Shape inner_shape = stored_shape;
  for (std::uint64_t& length : inner_shape) {
    std::uint64_t divisor = random_number(random, 1, length);
    while (length % divisor != 0) --divisor;
    length = divisor;
  }
  const std::vector<std::string> compressors{codec("gzip"), codec("zstd"), codec("blosc"),
                                             codec("crc32c"), codec("zlib")};
  const std::string& compressor = compressors[random() % compressors.size()];
  const std::string& another = compressors[random() % compressors.size()];
  switch (random() % 5) {
    case 0:
      codecs.push_back(bytes_codec());
      break;
    case 1:
      codecs.insert(codecs.end(), {bytes_codec("big"), compressor});
      break;
    case 2:
      codecs.push_back(sharding_codec(inner_shape, codec_list({bytes_codec("big"), compressor}),
                                      index_codecs(), random() % 2 == 0 ? "start" : "end"));
      break;
    case 3:
      codecs.insert(
          codecs.end(),
          {sharding_codec(inner_shape, codec_list({transpose_codec(order), bytes_codec()}), kPlain,
                          random() % 2 == 0 ? "start" : "end"),
           compressor});
      break;
    default: {
      const std::string inner =
          sharding_codec(Shape(rank, 1), codec_list({bytes_codec(), another}), index_codecs());
      codecs.push_back(sharding_codec(inner_shape, codec_list({inner, codec("crc32c")}), kPlain));
      break;
    }
  }
  return codec_list(codecs);
}

TEST(Array, AnyRegionOfAnyArrayIsWhatTheModelSays) {
  Random random(16);
  const std::vector<std::string> types{"uint8",     "int16",      "uint32",
                                       "complex64", "complex128", "r24"};
  for (int round = 0; round < 300; ++round) {
    const Shape shape = random_shape(random, 4, 9);
    Shape chunk_shape;
    for (const std::uint64_t length : shape) {
      chunk_shape.push_back(random_number(random, 1, length + 3));
    }
    const std::string codecs = random_codecs(random, chunk_shape);
    const Stored stored =
        make_stored(random, shape, chunk_shape, types[random() % types.size()], codecs);
    SCOPED_TRACE(testing::PrintToString(shape) + " in " + testing::PrintToString(chunk_shape) +
                 " " + codecs);
    ASSERT_EQ(read(*stored.array, everything(shape)), stored.values);
    for (int i = 0; i < 8; ++i) {
      const Selection selection = random_selection(random, shape);
      const ReadOptions options{.threads = random_number(random, 0, 3)};
      ASSERT_EQ(read(*stored.array, selection, options), selected(stored, selection));
    }
  }
}

TEST(Array, AnyDestinationIsFilledAndNothingBesideIt) {
  Random random(17);
  for (int round = 0; round < 200; ++round) {
    const Shape shape = random_shape(random, 4, 9);
    Shape chunk_shape;
    for (const std::uint64_t length : shape) {
      chunk_shape.push_back(random_number(random, 1, length + 3));
    }
    const std::string codecs = random_codecs(random, chunk_shape);
    const Stored stored = make_stored(random, shape, chunk_shape, "int32", codecs);
    const Selection selection = random_selection(random, shape);
    const auto converter =
        round % 2 == 0 ? make_numeric_converter(stored.array->data_type(), kFloat64) : nullptr;
    const std::size_t item_size = converter ? 8 : 4;

    const Layout layout = random_layout(random, selection.count, item_size);
    Bytes expected(layout.size, std::byte{0xee});
    const Bytes dense = selected(stored, selection);
    std::size_t next = 0;
    for_each_index(selection.count, [&](const Shape& index) {
      std::byte* to = expected.data() + layout.origin + offset_of(index, layout.strides);
      if (converter) {
        converter->convert(dense.data() + next, 4, to, 8, 1);
      } else {
        std::memcpy(to, dense.data() + next, 4);
      }
      next += 4;
    });

    Bytes actual(layout.size, std::byte{0xee});
    stored.array->read(selection, {actual.data() + layout.origin, layout.strides, converter.get()},
                       {.threads = 2});
    ASSERT_EQ(actual, expected) << codecs;
  }
}

TEST(Array, AbsentChunksAreFillValues) {
  const auto store = std::make_shared<MemoryStore>();
  put_document(*store, "", array_document({4, 6}, {2, 2}, "\"int16\"", kPlain, "-7"));
  const auto array = open_array(store);
  Bytes expected;
  for (int i = 0; i < 24; ++i) {
    const Bytes element = bytes_in_memory(std::int16_t{-7});
    expected.insert(expected.end(), element.begin(), element.end());
  }
  EXPECT_EQ(read(*array, everything({4, 6})), expected);

  std::vector<double> converted(24);
  const auto converter = make_numeric_converter(array->data_type(), kFloat64);
  array->read(everything({4, 6}), {reinterpret_cast<std::byte*>(converted.data()),
                                   c_strides(Shape{4, 6}, 8), converter.get()});
  EXPECT_EQ(converted, std::vector<double>(24, -7));
}

TEST(Array, AnUndefinedFillValueReadsAsZero) {
  const auto store = std::make_shared<MemoryStore>();
  put_document(*store, "", array_document({5}, {2}, "\"int32\"", kPlain, "null"));
  EXPECT_EQ(read(*open_array(store), everything({5})), Bytes(20));
}

TEST(Array, RankZeroIsOneElement) {
  Random random(18);
  for (const std::string& codecs : {kPlain, codec_list({bytes_codec("big"), codec("gzip")}),
                                    codec_list({sharding_codec({}, kPlain, index_codecs())})}) {
    const Stored stored = make_stored(random, {}, {}, "int32", codecs);
    EXPECT_EQ(read(*stored.array, {}), stored.values);
    EXPECT_EQ(stored.array->inner_chunk_shape(), Shape{});
  }
}

TEST(Array, LengthsOfZeroHaveNothingToRead) {
  const auto inner = std::make_shared<MemoryStore>();
  const auto store = std::make_shared<ObservedStore>(inner);
  for (const Shape& chunk_shape : {Shape{0, 5}, Shape{3, 5}}) {
    put_document(*inner, "", array_document({0, 5}, chunk_shape, "\"float32\"", kPlain));
    const auto array = open_array(store);
    store->take_requests();
    EXPECT_EQ(read(*array, everything({0, 5})), Bytes{});
    EXPECT_TRUE(store->take_requests().empty());
    EXPECT_ERROR(read(*array, {{0, 0}, {1, 1}, {}}), "reaches outside dimension 0 of length 0");
  }
}

TEST(Array, NothingSelectedAsksForNothing) {
  Random random(19);
  const Stored stored = make_stored(random, {10, 10}, {5, 5}, "int16", kPlain);
  const auto store = std::make_shared<ObservedStore>(stored.store);
  const auto array = open_array(store);
  store->take_requests();
  EXPECT_EQ(read(*array, {{3, 3}, {0, 7}, {}}), Bytes{});
  EXPECT_TRUE(store->take_requests().empty());
}

TEST(Array, ShapesPast32BitsAreRead) {
  const std::uint64_t far = std::uint64_t{1} << 40;
  const auto store = std::make_shared<MemoryStore>();
  put_document(*store, "", array_document({far, 3 * far}, {1000, 1000}, "\"uint8\"", kPlain, "9"));
  const std::uint64_t row = (far - 1) / 1000;
  const std::uint64_t column = (3 * far - 1) / 1000;
  Bytes chunk(1000 * 1000, std::byte{9});
  const std::uint64_t last = (far - 1) % 1000 * 1000 + (3 * far - 1) % 1000;
  chunk[last] = std::byte{42};
  store->put("c/" + std::to_string(row) + "/" + std::to_string(column), chunk);
  const auto array = open_array(store);
  EXPECT_EQ(read(*array, {{far - 1, 3 * far - 2}, {1, 2}, {}}), bytes_of({9, 42}));
  // First, middle and last element of the second dimension, backwards.
  const auto half = static_cast<std::int64_t>((3 * far - 1) / 2);
  ASSERT_EQ((3 * far - 1) % 2, 1);
  EXPECT_EQ(read(*array, {{far - 1, 3 * far - 1}, {1, 3}, {1, -half}}), bytes_of({42, 9, 9}));
}

TEST(Array, ACornerOfATrillionChunksCostsItsChunksAlone) {
  const std::uint64_t length = 10'000'000;
  const auto inner = std::make_shared<MemoryStore>();
  put_document(*inner, "", array_document({length, length}, {10, 10}, "\"uint8\"", kPlain, "1"));
  const auto store = std::make_shared<ObservedStore>(inner);
  const auto array = open_array(store);
  EXPECT_EQ(store->take_requests().size(), 1);
  EXPECT_EQ(read(*array, {{length - 15, 0}, {15, 15}, {}}), Bytes(225, std::byte{1}));
  EXPECT_EQ(store->take_requests().size(), 4);
  // Every millionth element.
  EXPECT_EQ(read(*array, {{0, 0}, {10, 10}, {1'000'000, 1'000'000}}), Bytes(100, std::byte{1}));
  EXPECT_EQ(store->take_requests().size(), 100);
}

TEST(Array, AChunkThatIsUsedInPartIsKept) {
  Random random(20);
  const Stored stored = make_stored(random, {10, 10}, {5, 10}, "int16", kPlain);
  const auto store = std::make_shared<ObservedStore>(stored.store);
  const auto array = open_array(store);
  store->take_requests();
  for (std::uint64_t row = 0; row < 10; ++row) {
    const Selection selection{{row, 0}, {1, 10}, {}};
    EXPECT_EQ(read(*array, selection), selected(stored, selection));
  }
  EXPECT_EQ(store->take_requests().size(), 2);
}

TEST(Array, AChunkThatIsUsedWhollyIsNotKept) {
  Random random(21);
  const Stored stored = make_stored(random, {10, 10}, {5, 4}, "int16", kPlain);
  const auto context = std::make_shared<Context>();
  const auto array = open_array(stored.store, "", context);
  EXPECT_EQ(read(*array, everything({10, 10})), stored.values);
  EXPECT_EQ(context->chunks.byte_count(), 0);
}

TEST(Array, TheCacheIsBounded) {
  Random random(22);
  const Stored stored = make_stored(random, {64, 1000}, {1, 1000}, "uint32", kPlain);
  constexpr std::uint64_t kBound = 20000;
  const auto context = std::make_shared<Context>(kBound);
  const auto array = open_array(stored.store, "", context);
  for (std::uint64_t row = 0; row < 64; ++row) {
    const Selection selection{{row, 10}, {1, 20}, {}};
    EXPECT_EQ(read(*array, selection, {.threads = 2}), selected(stored, selection));
    EXPECT_LE(context->chunks.byte_count(), kBound);
  }
  EXPECT_GT(context->chunks.byte_count(), 0);
}

// A cube that is looked at slice by slice: each meets more chunks than there is room for.
TEST(Array, ASliceThatExceedsTheCacheStillFindsMostOfItThere) {
  Random random(25);
  const Stored stored = make_stored(random, {8, 10, 4096}, {8, 1, 4096}, "uint32",
                                    codec_list({bytes_codec(), codec("crc32c")}));
  const auto store = std::make_shared<ObservedStore>(stored.store);
  constexpr std::uint64_t kChunk = std::uint64_t{8} * 4096 * 4;
  const auto array = open_array(store, "", std::make_shared<Context>(9 * kChunk));
  store->take_requests();
  std::size_t requests = 0;
  for (std::uint64_t slice = 0; slice < 8; ++slice) {
    const Selection selection{{slice, 0, 0}, {1, 10, 4096}, {}};
    EXPECT_EQ(read(*array, selection), selected(stored, selection));
    requests += store->take_requests().size();
  }
  EXPECT_LE(requests, 10 + 7 * 2);
}

// Fetches are slow enough that all readers need the chunk at the same time.
TEST(Array, AChunkThatSeveralReadersNeedIsFetchedOnce) {
  class SlowStore final : public StoreWrapper {
   public:
    using StoreWrapper::StoreWrapper;
    std::optional<Buffer> get(std::string_view key, std::uint64_t max_size) override {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      return StoreWrapper::get(key, max_size);
    }
    std::optional<std::vector<Buffer>> get_ranges(std::string_view key,
                                                  std::span<const ByteRange> ranges) override {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      return StoreWrapper::get_ranges(key, ranges);
    }
  };
  const std::string zstd = codec_list({bytes_codec(), codec("zstd")});
  const std::string in_shard = codec_list({sharding_codec({8, 8}, zstd, index_codecs())});
  for (const std::string& codecs : {zstd, in_shard}) {
    Random random(29);
    const Stored stored = make_stored(random, {8, 8}, {8, 8}, "int16", codecs);
    const auto store = std::make_shared<ObservedStore>(std::make_shared<SlowStore>(stored.store));
    const auto array = open_array(store);
    store->take_requests();
    std::vector<std::thread> threads;
    for (std::uint64_t row = 0; row < 8; ++row) {
      threads.emplace_back([&, row] {
        const Selection selection{{row, 0}, {1, 8}, {}};
        EXPECT_EQ(read(*array, selection), selected(stored, selection));
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(store->take_requests().size(), codecs == in_shard ? 2 : 1);
  }
}

TEST(Array, AReaderThatMayNotWaitForOthersReadsByItself) {
  Random random(31);
  const Stored stored =
      make_stored(random, {8, 8}, {8, 8}, "int16", codec_list({bytes_codec(), codec("zstd")}));
  const auto array = open_array(stored.store);
  const ArrayState& state = array->state();
  ChunkCache& cache = state.context->chunks;
  const auto pending = cache.start(state.cached, state.key_of(std::vector<std::uint64_t>{0, 0}),
                                   {state.first_chain, 0}, cache.begin_request());
  const Selection row{{3, 0}, {1, 8}, {}};
  ReadOptions options;
  options.waits_for_others = false;
  EXPECT_EQ(read(*array, row, options), selected(stored, row));
}

TEST(Array, ItsCachedChunksAreRemovedWithIt) {
  Random random(23);
  const Stored stored = make_stored(random, {10}, {10}, "uint32", kPlain);
  const auto context = std::make_shared<Context>();
  {
    const auto array = open_array(stored.store, "", context);
    read(*array, {{0}, {1}, {}});
    EXPECT_GT(context->chunks.byte_count(), 0);
  }
  EXPECT_EQ(context->chunks.byte_count(), 0);
}

TEST(Array, TwoArraysOfOneContextAreNotMixedUp) {
  Random random(24);
  const Stored first = make_stored(random, {10}, {10}, "uint32", kPlain);
  const Stored second = make_stored(random, {10}, {10}, "uint32", kPlain);
  const auto context = std::make_shared<Context>();
  const auto one = open_array(first.store, "", context);
  const auto other = open_array(second.store, "", context);
  const Selection part{{2}, {3}, {}};
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(read(*one, part), selected(first, part));
    EXPECT_EQ(read(*other, part), selected(second, part));
  }
}

TEST(Array, SeveralThreadsMayReadIt) {
  Random random(25);
  const Shape shape{40, 50};
  for (const std::string& codecs :
       {codec_list({bytes_codec("big"), codec("zstd")}),
        codec_list(
            {sharding_codec({5, 5}, codec_list({bytes_codec(), codec("blosc")}), index_codecs())}),
        codec_list({sharding_codec({5, 5}, kPlain, index_codecs()), codec("gzip")})}) {
    const Stored stored = make_stored(random, shape, {10, 10}, "uint16", codecs);
    // So small that the threads keep on pushing each other's chunks out.
    const auto array = open_array(stored.store, "", std::make_shared<Context>(2000, 1000));
    std::vector<std::thread> threads;
    std::atomic<int> wrong = 0;
    for (unsigned t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        Random own(t);
        for (int i = 0; i < 60; ++i) {
          const Selection selection = random_selection(own, shape);
          if (read(*array, selection, {.threads = 1 + t % 3}) != selected(stored, selection)) {
            ++wrong;
          }
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0);
  }
}

TEST(Array, TheWorkerScopeIsUsed) {
  Random random(26);
  const Stored stored = make_stored(random, {64, 64}, {4, 4}, "uint8", kPlain);
  const auto caller = std::this_thread::get_id();
  std::atomic<int> outside = 0;
  thread_local bool is_inside = false;
  class Watcher final : public StoreWrapper {
   public:
    Watcher(std::shared_ptr<Store> inner, std::function<void()> seen)
        : StoreWrapper(std::move(inner)), seen_(std::move(seen)) {}
    std::optional<Buffer> get(std::string_view key, std::uint64_t max_size) override {
      seen_();
      return StoreWrapper::get(key, max_size);
    }

   private:
    std::function<void()> seen_;
  };
  const auto store = std::make_shared<Watcher>(stored.store, [&] {
    if (std::this_thread::get_id() != caller && !is_inside) ++outside;
  });
  const auto array = open_array(store);
  const ReadOptions options{.threads = 3, .worker_scope = [](const std::function<void()>& work) {
                              is_inside = true;
                              work();
                              is_inside = false;
                            }};
  EXPECT_EQ(read(*array, everything({64, 64}), options), stored.values);
  EXPECT_EQ(outside, 0);
}

// Waking one takes longer than copying a row.
TEST(Array, RowsOfCachedChunksWakeNoThread) {
  Random random(28);
  const std::string gzip = codec_list({bytes_codec(), codec("gzip")});
  const std::string blosc = codec_list(
      {bytes_codec(),
       codec("blosc",
             R"("cname":"lz4","clevel":5,"shuffle":"shuffle","typesize":2,"blocksize":0)")});
  const std::string shards = codec_list({sharding_codec({16, 64}, gzip, index_codecs())});
  for (const auto& [chunk, codecs] :
       {std::pair<Shape, std::string>{{16, 64}, gzip}, {{16, 64}, blosc}, {{32, 128}, shards}}) {
    SCOPED_TRACE(codecs);
    const Stored stored = make_stored(random, {32, 8192}, chunk, "uint16", codecs);
    std::atomic<int> woken = 0;
    const ReadOptions options{.threads = 4, .worker_scope = [&](const std::function<void()>& work) {
                                ++woken;
                                work();
                              }};
    const auto read_row = [&](std::uint64_t row) {
      const Selection selection{{row, 0}, {1, 8192}};
      ASSERT_EQ(read(*stored.array, selection, options), selected(stored, selection));
    };
    read_row(0);
    woken = 0;
    for (std::uint64_t row = 1; row < 16; ++row) read_row(row);
    EXPECT_EQ(woken, 0);
  }
}

TEST(Array, AFailingStoreIsAnErrorThatNamesArrayAndChunk) {
  Random random(27);
  const Stored stored = make_stored(random, {40, 40}, {10, 10}, "uint8", kPlain);
  const auto store = std::make_shared<FailingStore>(
      stored.store, [](std::string_view key) { return key == "c/2/3"; });
  const auto array = open_array(store);
  for (const std::size_t threads : {1, 3}) {
    EXPECT_ERROR(read(*array, everything({40, 40}), {.threads = threads}), "array /",
                 "chunk c/2/3: the disk is on fire");
    const Selection elsewhere{{0, 0}, {20, 40}, {}};
    EXPECT_EQ(read(*array, elsewhere, {.threads = threads}), selected(stored, elsewhere));
  }
}

TEST(Array, ADestinationOfAnotherSizeIsRefused) {
  Random random(28);
  const Stored stored = make_stored(random, {4, 4}, {2, 2}, "int16", kPlain);
  Bytes destination(64);
  EXPECT_ERROR(stored.array->read(everything({4, 4}), destination.data(), 31), "31 bytes");
  EXPECT_ERROR(stored.array->read(everything({4, 4}), destination.data(), 33), "33 bytes");
  const Selection huge{{0, 0}, {std::uint64_t{1} << 63, 4}, {}};
  EXPECT_ERROR(stored.array->read(huge, destination.data(), 0), "0 bytes");
}

TEST(Array, ADestinationOfAnotherRankIsRefused) {
  Random random(29);
  const Stored stored = make_stored(random, {4, 4}, {2, 2}, "int16", kPlain);
  Bytes destination(32);
  EXPECT_ERROR(stored.array->read(everything({4, 4}), {destination.data(), {8}}),
               "the destination does not have the 2 dimensions");
}

TEST(Array, ASelectionOutsideIsRefusedAndNamesTheArray) {
  Random random(30);
  const Stored stored = make_stored(random, {4, 4}, {2, 2}, "int16", kPlain);
  EXPECT_ERROR(read(*stored.array, {{0, 2}, {4, 3}, {}}), "array /: the selection",
               "reaches outside dimension 1 of length 4");
}

TEST(Array, AnInnerChunkIsWhatIsDecodedAtOnce) {
  Random random(31);
  const auto inner_chunk = [&](const std::string& codecs) {
    return make_stored(random, {12, 24}, {6, 12}, "uint8", codecs).array->inner_chunk_shape();
  };
  EXPECT_EQ(inner_chunk(kPlain), (Shape{6, 12}));
  EXPECT_EQ(inner_chunk(codec_list({sharding_codec({3, 4}, kPlain, kPlain)})), (Shape{3, 4}));
  const std::string nested =
      sharding_codec({3, 4}, codec_list({sharding_codec({1, 2}, kPlain, kPlain)}), kPlain);
  EXPECT_EQ(inner_chunk(codec_list({nested})), (Shape{1, 2}));
  EXPECT_EQ(
      inner_chunk(codec_list({transpose_codec({1, 0}), sharding_codec({4, 3}, kPlain, kPlain)})),
      (Shape{3, 4}));
}

TEST(Array, MetadataThatCannotBeUsedNamesTheArray) {
  const auto store = std::make_shared<MemoryStore>();
  put_document(*store, "a", array_document({4}, {2}, "\"int16\"", R"(["zstd", "bytes"])"));
  EXPECT_ERROR(open_array(store, "a"),
               "array /a: codec \"bytes\": it comes after the array-to-bytes codec");
}

}  // namespace
}  // namespace zarrcore::test::array_test
