#include "zarrcore/array/chunk_reuse.h"

#include <gtest/gtest.h>

#include "autotest/cpp/support/layout.h"
#include "autotest/cpp/support/observed_store.h"
#include "autotest/cpp/support/stored_array.h"
#include "zarrcore/store/memory_store.h"

namespace zarrcore::test::chunk_reuse_test {
namespace {

constexpr ChunkReuse::Counts kNew{0, 1};
constexpr ChunkReuse::Counts kUsedBefore{1, 0};

// After how many requests for new chunks reuse is no longer likely.
int requests_until_unlikely(ChunkReuse& reuse, const ChunkReuse::Counts& counts) {
  int requests = 0;
  while (reuse.is_likely() && requests < 1000) {
    reuse.observe(counts);
    ++requests;
  }
  return requests;
}

TEST(ChunkReuse, IsLikelyUntilManyRequestsFindNothing) {
  ChunkReuse reuse;
  const int requests = requests_until_unlikely(reuse, kNew);
  EXPECT_GT(requests, 5);
  EXPECT_LT(requests, 20);
  reuse.observe(kUsedBefore);
  EXPECT_TRUE(reuse.is_likely()) << "one chunk that is used again is enough";
}

TEST(ChunkReuse, ARequestOfManyChunksCountsAsOne) {
  ChunkReuse reuse;
  EXPECT_GT(requests_until_unlikely(reuse, {0, 1000}), 5);
}

TEST(ChunkReuse, OneChunkInFourIsEnough) {
  ChunkReuse reuse;
  EXPECT_EQ(requests_until_unlikely(reuse, {1, 3}), 1000);
}

TEST(ChunkReuse, RequestsOfWholeChunksSayNothing) {
  ChunkReuse reuse;
  EXPECT_EQ(requests_until_unlikely(reuse, {}), 1000);
}

TEST(ChunkReuse, TheLastChunksAreRemembered) {
  ChunkReuse reuse;
  for (std::size_t hash = 0; hash < 6; ++hash) EXPECT_FALSE(reuse.remember(hash, 4)) << hash;
  EXPECT_FALSE(reuse.remember(1, 4));
  for (const std::size_t hash : {3, 4, 5, 1}) EXPECT_TRUE(reuse.remember(hash, 4)) << hash;
}

const Shape kShape{64, 128 << 10};
constexpr std::uint64_t kHalf = 4 << 20;  // of the array, in bytes

const Bytes& values() {
  static const Bytes bytes = [] {
    Random random(83);
    return random_bytes(random, element_count(kShape));
  }();
  return bytes;
}

// An array of sixty-four chunks.
const std::shared_ptr<MemoryStore>& stored_array() {
  static const auto store = [] {
    auto memory = std::make_shared<MemoryStore>();
    const std::string codecs = codec_list({bytes_codec(), codec("gzip", R"("level": 1)")});
    write_array(*memory, "", array_document(kShape, {1, 128 << 10}, "\"uint8\"", codecs), values());
    return memory;
  }();
  return store;
}

struct Reader {
  explicit Reader(std::uint64_t cache_bytes) : context(std::make_shared<Context>(cache_bytes)) {
    array = open_array(store, "", context);
    store->take_requests();
  }

  // A part of a chunk, and of no other. Returns the number of requests to the store.
  std::size_t read_part(std::uint64_t chunk, std::uint64_t first) const {
    const Selection part{{chunk, first}, {1, 100}, {}};
    EXPECT_EQ(read(*array, part), selected(values(), kShape, 1, part)) << chunk;
    return store->take_requests().size();
  }
  // Of each chunk once, in the order of `chunk_of`.
  void read_parts_of_all() const {
    for (std::uint64_t i = 0; i < 64; ++i) read_part(chunk_of(i), 7);
  }
  static std::uint64_t chunk_of(std::uint64_t i) { return i * 29 % 64; }

  std::shared_ptr<Context> context;
  std::shared_ptr<ObservedStore> store = std::make_shared<ObservedStore>(stored_array());
  std::shared_ptr<const Array> array;
};

TEST(ChunkReuse, ChunksOfWhichOnePartIsReadAreNotKept) {
  const Reader reader(kHalf);
  reader.read_parts_of_all();
  EXPECT_LT(reader.context->chunks.byte_count(), kHalf / 2);
}

TEST(ChunkReuse, ThoseThatAreReadAgainAreKept) {
  const Reader reader(kHalf);
  reader.read_parts_of_all();
  for (std::uint64_t i = 56; i < 64; ++i) EXPECT_EQ(reader.read_part(Reader::chunk_of(i), 5007), 1);
  for (std::uint64_t i = 56; i < 64; ++i) EXPECT_EQ(reader.read_part(Reader::chunk_of(i), 9007), 0);
}

TEST(ChunkReuse, AllAreKeptOfAnArrayThatFitsIntoTheCache) {
  const Reader reader(4 * kHalf);
  reader.read_parts_of_all();
  for (std::uint64_t i = 0; i < 64; ++i) EXPECT_EQ(reader.read_part(i, 50007), 0) << i;
}

}  // namespace
}  // namespace zarrcore::test::chunk_reuse_test
