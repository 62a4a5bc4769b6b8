// Reading inner chunks without their shards.
#include <gtest/gtest.h>

#include <map>
#include <utility>

#include "autotest/cpp/support/bytes.h"
#include "autotest/cpp/support/expect_error.h"
#include "autotest/cpp/support/layout.h"
#include "autotest/cpp/support/observed_store.h"
#include "autotest/cpp/support/stored_array.h"
#include "autotest/cpp/support/temporary_folder.h"
#include "zarrcore/base/endian.h"
#include "zarrcore/store/file_system_store.h"
#include "zarrcore/store/memory_store.h"

namespace zarrcore::test::sharded_array_test {
namespace {

const std::string kPlain = codec_list({bytes_codec()});
// Inner chunks of 10 × 10 bytes in a shard of 100 × 100: 100 entries of 16 bytes and a checksum.
constexpr std::uint64_t kIndexSize = 100 * 16 + 4;
const Shape kShape{300, 300};

struct Sharded {
  explicit Sharded(const std::string& codecs) {
    Random random(32);
    values = random_bytes(random, element_count(kShape));
    write_array(*memory, "", array_document(kShape, {100, 100}, "\"uint8\"", codecs), values);
    array = open_array(store);
    store->take_requests();
  }

  Bytes expected(const Selection& selection) const {
    return selected(values, kShape, 1, selection);
  }

  Bytes values;
  std::shared_ptr<MemoryStore> memory = std::make_shared<MemoryStore>();
  std::shared_ptr<ObservedStore> store = std::make_shared<ObservedStore>(memory);
  std::shared_ptr<const Array> array;
};

std::uint64_t total_bytes(const std::vector<ObservedStore::Request>& requests) {
  std::uint64_t total = 0;
  for (const auto& request : requests) total += request.bytes;
  return total;
}

// Selections in one inner chunk of the shard c/1/1.
const Selection kCorner{{100, 100}, {5, 5}, {}};
const Selection kSameChunk{{105, 105}, {5, 5}, {}};
const Selection kOtherChunk{{170, 190}, {3, 2}, {}};

TEST(ShardedArray, AnInnerChunkIsReadWithoutItsShard) {
  for (const char* location : {"start", "end"}) {
    const Sharded sharded(codec_list({sharding_codec({10, 10}, kPlain, index_codecs(), location)}));
    EXPECT_EQ(read(*sharded.array, kCorner), sharded.expected(kCorner));
    const auto requests = sharded.store->take_requests();
    ASSERT_EQ(requests.size(), 2);
    for (const auto& request : requests) {
      EXPECT_EQ(request.key, "c/1/1");
      EXPECT_FALSE(request.is_whole);
    }
    EXPECT_EQ(requests[0].bytes, kIndexSize);
    EXPECT_EQ(requests[1].bytes, 100);
  }
}

TEST(ShardedArray, TheIndexIsFetchedOnce) {
  const Sharded sharded(codec_list({sharding_codec({10, 10}, kPlain, index_codecs())}));
  read(*sharded.array, kCorner);
  sharded.store->take_requests();
  EXPECT_EQ(read(*sharded.array, kSameChunk), sharded.expected(kSameChunk));
  EXPECT_TRUE(sharded.store->take_requests().empty()) << "the chunk is kept as well";
  EXPECT_EQ(read(*sharded.array, kOtherChunk), sharded.expected(kOtherChunk));
  const auto requests = sharded.store->take_requests();
  ASSERT_EQ(requests.size(), 1);
  EXPECT_EQ(requests[0].bytes, 100);
}

TEST(ShardedArray, NeighboursAreFetchedTogether) {
  const Sharded sharded(codec_list({sharding_codec({10, 10}, kPlain, index_codecs())}));
  EXPECT_EQ(read(*sharded.array, everything(kShape)), sharded.values);
  const auto requests = sharded.store->take_requests();
  // Nine indexes, and each shard's 10000 bytes in a few parts.
  EXPECT_EQ(total_bytes(requests), 9 * (kIndexSize + 10000));
  EXPECT_LE(requests.size(), 9 * 3);
}

TEST(ShardedArray, AChecksumAroundTheShardDoesNotHideItsInnerChunks) {
  for (const std::string& frame :
       {codec("crc32c"), codec("numcodecs.crc32c", R"("location": "start")")}) {
    for (const char* location : {"start", "end"}) {
      const Sharded sharded(
          codec_list({sharding_codec({10, 10}, kPlain, index_codecs(), location), frame, frame}));
      EXPECT_EQ(read(*sharded.array, kCorner), sharded.expected(kCorner));
      EXPECT_LE(total_bytes(sharded.store->take_requests()), kIndexSize + 100 + 8);
      EXPECT_EQ(read(*sharded.array, everything(kShape)), sharded.values);
    }
  }
}

TEST(ShardedArray, AChecksumAroundTheShardIsCheckedWhenAllOfItIsRead) {
  const Shape shape{4, 4};
  const Bytes values = bytes_of({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16});
  const std::string inside = sharding_codec({2, 2}, kPlain, kPlain);
  const std::string checked = codec_list({sharding_codec({1, 2}, kPlain, kPlain), codec("crc32c")});
  for (const std::string& codecs :
       {codec_list({inside, codec("crc32c")}),
        codec_list({transpose_codec({1, 0}), sharding_codec({2, 2}, kPlain, kPlain, "start"),
                    codec("numcodecs.crc32c", R"("location": "start")"), codec("crc32c")}),
        codec_list({sharding_codec({2, 4}, checked, kPlain)}),
        codec_list({sharding_codec({2, 4}, checked, kPlain), codec("crc32c")})}) {
    const auto store = std::make_shared<MemoryStore>();
    write_array(*store, "", array_document({4, 4}, {4, 4}, "\"uint8\"", codecs), values);
    const Bytes good = to_bytes(store->get("c/0/0", kNoSizeLimit)->span());
    for (std::size_t at = 0; at < good.size(); ++at) {
      Bytes bad = good;
      bad[at] ^= std::byte{0x10};
      store->put("c/0/0", bad);
      const auto array = open_array(store);
      // What has been read in part does not stand in for the check.
      try {
        read(*array, {{0, 0}, {1, 1}, {}});
      } catch (const Error&) {
      }
      EXPECT_ERROR(read(*array, everything(shape)), "array /", "c/0/0") << codecs << at;
    }
    store->put("c/0/0", good);
    const auto array = open_array(store);
    EXPECT_EQ(read(*array, {{0, 1}, {3, 2}, {}}), selected(values, shape, 1, {{0, 1}, {3, 2}, {}}));
    EXPECT_EQ(read(*array, everything(shape)), values);
    store->erase("c/0/0");
    EXPECT_EQ(read(*open_array(store), everything(shape)), Bytes(values.size()));
  }
}

TEST(ShardedArray, AShardThatIsCompressedAsAWholeIsFetchedOnce) {
  const Sharded sharded(
      codec_list({sharding_codec({10, 10}, kPlain, index_codecs()), codec("gzip")}));
  EXPECT_EQ(read(*sharded.array, kCorner), sharded.expected(kCorner));
  EXPECT_EQ(read(*sharded.array, kOtherChunk), sharded.expected(kOtherChunk));
  const auto requests = sharded.store->take_requests();
  ASSERT_EQ(requests.size(), 1);
  EXPECT_TRUE(requests[0].is_whole);
}

TEST(ShardedArray, ShardsInShardsAreReadIndexByIndex) {
  const std::string inner = sharding_codec({2, 2}, kPlain, index_codecs());
  for (const char* location : {"start", "end"}) {
    const Sharded sharded(
        codec_list({sharding_codec({10, 10}, codec_list({inner}), index_codecs(), location)}));
    const Selection small{{100, 100}, {2, 2}, {}};
    EXPECT_EQ(read(*sharded.array, small), sharded.expected(small));
    const auto requests = sharded.store->take_requests();
    ASSERT_EQ(requests.size(), 3);
    EXPECT_EQ(requests[0].bytes, kIndexSize);
    EXPECT_EQ(requests[1].bytes, 25 * 16 + 4);
    EXPECT_EQ(requests[2].bytes, 4);
    EXPECT_EQ(read(*sharded.array, everything(kShape)), sharded.values);
  }
}

TEST(ShardedArray, TransposesBeforeAndInsideAreUndone) {
  const std::string inside = codec_list({transpose_codec({1, 0}), bytes_codec()});
  const Sharded sharded(
      codec_list({transpose_codec({1, 0}), sharding_codec({10, 20}, inside, index_codecs())}));
  EXPECT_EQ(sharded.array->inner_chunk_shape(), (Shape{20, 10}));
  for (const Selection& selection :
       {kCorner, kOtherChunk, Selection{{299, 0}, {10, 50}, {-7, 6}}}) {
    EXPECT_EQ(read(*sharded.array, selection), sharded.expected(selection));
  }
  EXPECT_EQ(read(*sharded.array, everything(kShape)), sharded.values);
}

TEST(ShardedArray, MissingShardsAndInnerChunksAreFillValues) {
  Random random(33);
  Bytes values = random_bytes(random, element_count(kShape));
  const Strides strides = c_strides(kShape, 1);
  for_each_index(kShape, [&](const Shape& index) {
    const bool is_in_missing_shard = index[0] < 100;
    const bool is_in_missing_chunk = index[0] / 10 % 2 == index[1] / 10 % 2;
    if (is_in_missing_shard || is_in_missing_chunk) {
      values[static_cast<std::size_t>(offset_of(index, strides))] = std::byte{7};
    }
  });
  const auto memory = std::make_shared<MemoryStore>();
  const auto store = std::make_shared<ObservedStore>(memory);
  const std::string codecs = codec_list({sharding_codec({10, 10}, kPlain, index_codecs())});
  write_array(*memory, "", array_document(kShape, {100, 100}, "\"uint8\"", codecs, "7"), values);
  EXPECT_FALSE(memory->get("c/0/0", kNoSizeLimit));
  const auto array = open_array(store);
  for (const std::size_t threads : {1, 2}) {
    EXPECT_EQ(read(*array, everything(kShape), {.threads = threads}), values);
  }
  store->take_requests();
  const Selection missing{{110, 110}, {5, 5}, {}};
  EXPECT_EQ(read(*array, missing), Bytes(25, std::byte{7}));
  EXPECT_TRUE(store->take_requests().empty());
}

TEST(ShardedArray, AStepReadsOnlyTheInnerChunksThatItMeets) {
  const Sharded sharded(codec_list({sharding_codec({10, 10}, kPlain, index_codecs())}));
  const Selection selection{{5, 5}, {3, 3}, {100, 100}};
  EXPECT_EQ(read(*sharded.array, selection), sharded.expected(selection));
  EXPECT_EQ(total_bytes(sharded.store->take_requests()), 9 * (kIndexSize + 100));
}

// Arrays whose one shard `c/0` has an index of the test's choice. Its inner chunks have one byte.
std::shared_ptr<const Array> make_hostile(std::string_view payload,
                                          const std::vector<std::uint64_t>& index,
                                          const std::string& codecs) {
  Bytes shard = bytes_of(payload);
  for (const std::uint64_t number : index) {
    Bytes encoded(8);
    store_integer(number, Endian::little, encoded.data());
    shard.insert(shard.end(), encoded.begin(), encoded.end());
  }
  const auto store = std::make_shared<MemoryStore>();
  put_document(*store, "",
               array_document({index.size() / 2}, {index.size() / 2}, "\"uint8\"", codecs));
  store->put("c/0", shard);
  return open_array(store);
}

const std::string kBytewise = codec_list({sharding_codec({1}, R"(["bytes"])", kPlain)});

TEST(ShardedArray, GapsAnyOrderAndOverlapsAreFine) {
  const auto array = make_hostile("..ba..", {3, 1, 2, 1, 3, 1}, kBytewise);
  EXPECT_EQ(read(*array, everything({3})), bytes_of("aba"));
}

TEST(ShardedArray, AnIndexThatPointsOutsideHurtsThatInnerChunkAlone) {
  const std::uint64_t tebibyte = std::uint64_t{1} << 40;
  for (const std::uint64_t offset :
       {std::uint64_t{66}, std::uint64_t{100}, tebibyte, UINT64_MAX - 1}) {
    const auto array = make_hostile("ab", {0, 1, 1, 1, offset, 1, 1, 1}, kBytewise);
    EXPECT_EQ(read(*array, {{0}, {2}, {}}), bytes_of("ab"));
    EXPECT_ERROR(read(*array, {{2}, {1}, {}}), "array /", "c/0", std::to_string(offset));
    EXPECT_ERROR(read(*array, everything({4}), {.threads = 2}), "array /", "c/0");
  }
}

TEST(ShardedArray, ALengthThatCannotBeRightAsksForNoMemory) {
  const std::uint64_t huge = std::uint64_t{1} << 50;
  const auto array = make_hostile("ab", {0, 1, 1, huge}, kBytewise);
  EXPECT_EQ(read(*array, {{0}, {1}, {}}), bytes_of("a"));
  EXPECT_ERROR(read(*array, {{1}, {1}, {}}), "shard c/0", "inner chunk 1", std::to_string(huge));
}

TEST(ShardedArray, NumbersThatWrapAroundAreAnErrorThatNamesTheShard) {
  const auto array = make_hostile("ab", {0, 1, UINT64_MAX - 2, 7}, kBytewise);
  EXPECT_ERROR(read(*array, {{1}, {1}, {}}), "array /", "shard c/0", "shard index",
               "inner chunk 1");
}

TEST(ShardedArray, AShardShorterThanItsIndexIsAnErrorThatNamesIt) {
  for (const char* location : {"start", "end"}) {
    const auto store = std::make_shared<MemoryStore>();
    put_document(
        *store, "",
        array_document({2}, {2}, "\"uint8\"",
                       codec_list({sharding_codec({1}, R"(["bytes"])", kPlain, location)})));
    store->put("c/0", Bytes(31));
    EXPECT_ERROR(read(*open_array(store), everything({2})), "array /", "shard c/0");
  }
}

TEST(ShardedArray, AnInnerShardThatClaimsToBeItselfEndsInAnError) {
  // Three levels, whose indexes each say that the one inner shard is the whole of its outer one.
  const std::string innermost = sharding_codec({1}, R"(["bytes"])", kPlain);
  const std::string middle = sharding_codec({4}, codec_list({innermost}), kPlain);
  const std::string outer = sharding_codec({8}, codec_list({middle}), kPlain);
  const auto store = std::make_shared<MemoryStore>();
  put_document(*store, "", array_document({8}, {8}, "\"uint8\"", codec_list({outer})));
  for (std::uint64_t length = 0; length <= 64; length += 8) {
    Bytes shard(64);
    for (std::size_t at = 8; at < 64; at += 16) {
      store_integer(length, Endian::little, shard.data() + at);
    }
    store->put("c/0", shard);
    try {
      read(*open_array(store), everything({8}));
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("c/0"), std::string::npos) << error.what();
    }
  }
}

TEST(ShardedArray, TheStoredRangeOfAnInnerChunkIsFound) {
  const std::string inner = sharding_codec({1, 2}, codec_list({bytes_codec()}), kPlain);
  Bytes values(8 * 6);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::byte>(i + 1);
  // Chunks; shards; shards in shards; and shards of what has been transposed.
  for (const std::string& codecs :
       {codec_list({bytes_codec()}),
        codec_list({sharding_codec({2, 2}, codec_list({bytes_codec()}), kPlain), codec("crc32c")}),
        codec_list({sharding_codec({2, 2}, codec_list({inner}), kPlain, "start")}),
        codec_list({transpose_codec({1, 0}),
                    sharding_codec({2, 1}, codec_list({bytes_codec()}), kPlain)})}) {
    const auto store = std::make_shared<MemoryStore>();
    write_array(*store, "", array_document({8, 6}, {4, 4}, "\"uint8\"", codecs), values);
    const auto array = open_array(store);
    const Shape inner_shape = array->inner_chunk_shape();
    for (std::uint64_t row = 0; row < 8; row += inner_shape[0]) {
      for (std::uint64_t column = 0; column < 6; column += inner_shape[1]) {
        const std::uint64_t position[] = {row / inner_shape[0], column / inner_shape[1]};
        const auto found = array->find_stored_range(position);
        ASSERT_TRUE(found);
        const auto stored = store->get(found->key, kNoSizeLimit);
        EXPECT_EQ(stored->span()[found->offset], values[row * 6 + column]);
        EXPECT_EQ(found->length.value_or(stored->size()), inner_shape[0] * inner_shape[1]);
      }
    }
    const std::uint64_t outside[] = {0, 6};
    EXPECT_ERROR(array->find_stored_range(outside), "array /", "no chunk has this position");
  }
}

TEST(ShardedArray, AnInnerChunkMayHaveNoStoredRange) {
  const auto store = std::make_shared<MemoryStore>();
  const std::string plain = sharding_codec({2}, codec_list({bytes_codec()}), kPlain);
  write_array(*store, "", array_document({8}, {4}, "\"uint8\"", codec_list({plain})),
              bytes_of({1, 1, 0, 0, 0, 0, 0, 0}));
  const auto array = open_array(store);
  for (const std::uint64_t position : {1, 2, 3})
    EXPECT_FALSE(array->find_stored_range({&position, 1}));
  write_array(*store, "", array_document({8}, {4}, "\"uint8\"", codec_list({plain, codec("gzip")})),
              bytes_of({1, 1, 0, 0, 0, 0, 0, 0}));
  const auto compressed = open_array(store);
  for (const std::uint64_t position : {1, 2, 3})
    EXPECT_FALSE(compressed->find_stored_range({&position, 1}));
  const std::uint64_t first = 0;
  EXPECT_TRUE(compressed->find_stored_range({&first, 1})->is_in_compressed_shard);
}

TEST(ShardedArray, TheStoredRangeInAnInnerShardIsOfThePresentVersion) {
  const TemporaryFolder folder;
  const auto store = std::make_shared<FileSystemStore>(folder.path());
  const std::string inner =
      sharding_codec({4, 4}, codec_list({bytes_codec(), codec("gzip", R"("level": 6)")}), kPlain);
  const Json document =
      array_document({16, 16}, {16, 16}, "\"int32\"",
                     codec_list({sharding_codec({8, 8}, codec_list({inner}), kPlain)}));
  write_array(*store, "", document, Bytes(1024, std::byte{7}));
  const auto array = open_array(store);
  const std::uint64_t position[] = {3, 2};
  const auto before = array->find_stored_range(position);
  Random random(35);
  write_array(*std::make_shared<FileSystemStore>(folder.path()), "", document,
              random_bytes(random, 1024));
  const auto found = array->find_stored_range(position);
  const auto expected = open_array(store)->find_stored_range(position);
  EXPECT_EQ(std::pair(found->offset, found->length), std::pair(expected->offset, expected->length));
  EXPECT_NE(found->length, before->length);
}

TEST(ShardedArray, InnerShardsThatAreCompressedAsAWholeAreToldApart) {
  // The inner chunks of each inner shard stand at the same offsets.
  const std::string innermost = sharding_codec({1}, codec_list({"\"bytes\""}), kPlain);
  const std::string inner = sharding_codec({2}, codec_list({"\"bytes\""}), kPlain);
  const std::string stored = codec("gzip", R"("level": 0)");
  const Bytes values = bytes_of({1, 2, 3, 4, 5, 6, 7, 8});
  for (const std::string& codecs :
       {codec_list({sharding_codec({4}, codec_list({inner, stored}), kPlain)}),
        codec_list({sharding_codec(
            {4}, codec_list({sharding_codec({2}, codec_list({innermost, stored}), kPlain), stored}),
            kPlain)})}) {
    const auto store = std::make_shared<MemoryStore>();
    write_array(*store, "", array_document({8}, {8}, "\"uint8\"", codecs), values);
    const auto array = open_array(store);
    EXPECT_EQ(read(*array, everything({8})), values);
    const Selection every_other{{0}, {4}, {2}};
    EXPECT_EQ(read(*array, every_other), selected(values, {8}, 1, every_other));
    EXPECT_EQ(read(*array, everything({8})), values);
  }
}

TEST(ShardedArray, RandomlyCorruptShardsEndInAnErrorOrInValues) {
  Random random(34);
  const std::string gzipped = codec_list({bytes_codec(), codec("gzip")});
  const std::string inner = sharding_codec({2, 2}, gzipped, kPlain);
  for (const std::string& codecs :
       {codec_list({sharding_codec({4, 4}, gzipped, kPlain)}),
        codec_list({sharding_codec({4, 4}, codec_list({inner}), kPlain, "start")}),
        codec_list({sharding_codec({4, 4}, codec_list({inner, codec("gzip")}), kPlain)})}) {
    const auto store = std::make_shared<MemoryStore>();
    write_array(*store, "", array_document({8, 8}, {8, 8}, "\"int32\"", codecs),
                random_bytes(random, 256));
    const Bytes shard = to_bytes(store->get("c/0/0", kNoSizeLimit)->span());
    for (int round = 0; round < 500; ++round) {
      Bytes corrupt = shard;
      for (std::uint64_t i = random_number(random, 1, 3); i > 0; --i) {
        corrupt[random_number(random, 0, corrupt.size() - 1)] =
            static_cast<std::byte>(random() & 0xff);
      }
      if (round % 4 == 0) corrupt.resize(random_number(random, 0, corrupt.size()));
      store->put("c/0/0", corrupt);
      const auto array = open_array(store);
      for (int i = 0; i < 2; ++i) {
        try {
          read(*array, random_selection(random, {8, 8}), {.threads = 1 + round % 2u});
        } catch (const Error& error) {
          EXPECT_NE(std::string(error.what()).find("c/0/0"), std::string::npos) << error.what();
        }
      }
    }
  }
}

}  // namespace
}  // namespace zarrcore::test::sharded_array_test
