// Random reads of large arrays rarely come back to a chunk.
#include <gtest/gtest.h>

#include "autotest/cpp/support/layout.h"
#include "autotest/cpp/support/observed_store.h"
#include "autotest/cpp/support/stored_array.h"
#include "zarrcore/array/access_pattern.h"
#include "zarrcore/array/array_writer.h"
#include "zarrcore/store/memory_store.h"

namespace zarrcore::test::chunk_reuse_test {
namespace {

// A request, of whose chunks an earlier one has used `used_before`. True if it keeps the others.
bool request(const Array& array, int used_before, int others) {
  AccessPattern::Request request(*array.state().pattern, {{0, 0}, {1, 1}, {}}, {});
  for (int i = 0; i < used_before; ++i) request.count_reuse();
  bool keeps = true;
  static std::size_t hash = 0;
  for (int i = 0; i < others; ++i) keeps = request.caches_part(false, ++hash, 1);
  return keeps;
}

// After how many such requests chunks are no longer kept.
int requests_until_unlikely(const Array& array, int used_before, int others) {
  int requests = 0;
  while (request(array, used_before, others) && requests < 1000) ++requests;
  return requests;
}

const Shape kShape{64, 128 << 10};
constexpr std::uint64_t kHalf = 4 << 20;  // of the array, in bytes

const Bytes& values() {
  static const Bytes bytes = [] {
    // Each row begins at another of the same bytes: making more takes long under a sanitizer.
    Random random(83);
    const Bytes made = random_bytes(random, kShape[1] + kShape[0]);
    Bytes all;
    for (std::size_t row = 0; row < kShape[0]; ++row) {
      const auto begin = made.begin() + static_cast<std::ptrdiff_t>(row);
      all.insert(all.end(), begin, begin + static_cast<std::ptrdiff_t>(kShape[1]));
    }
    return all;
  }();
  return bytes;
}

// An array of sixty-four chunks.
const std::shared_ptr<MemoryStore>& stored_array() {
  static const auto store = [] {
    auto memory = std::make_shared<MemoryStore>();
    const std::string codecs = codec_list({bytes_codec(), codec("gzip", R"("level": 1)")});
    put_document(*memory, "", array_document(kShape, {1, 128 << 10}, "\"uint8\"", codecs));
    ArrayWriter writer(open_array(memory));
    writer.write({{0, 0}, kShape, {}}, {values().data(), c_strides(kShape, 1)});
    writer.flush();
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

TEST(ChunkReuse, IsLikelyUntilManyRequestsFindNothing) {
  const Reader reader(kHalf);
  const int requests = requests_until_unlikely(*reader.array, 0, 1);
  EXPECT_GT(requests, 5);
  EXPECT_LT(requests, 20);
  request(*reader.array, 1, 0);
  EXPECT_TRUE(request(*reader.array, 0, 1)) << "one chunk that is used again is enough";
}

TEST(ChunkReuse, ARequestOfManyChunksCountsAsOne) {
  EXPECT_GT(requests_until_unlikely(*Reader(kHalf).array, 0, 1000), 5);
}

TEST(ChunkReuse, OneChunkInFourIsEnough) {
  EXPECT_EQ(requests_until_unlikely(*Reader(kHalf).array, 1, 3), 1000);
}

TEST(ChunkReuse, TheLastChunksAreRemembered) {
  const Reader reader(kHalf);
  requests_until_unlikely(*reader.array, 0, 1);
  AccessPattern::Request later(*reader.array->state().pattern, {{0, 0}, {1, 1}, {}}, {});
  // The last one that was remembered is among the first four.
  for (const std::size_t hash : {91, 92, 93, 94, 95, 96}) {
    EXPECT_FALSE(later.caches_part(false, hash, 4)) << hash;
  }
  EXPECT_FALSE(later.caches_part(false, 91, 4));
  for (const std::size_t hash : {94, 95, 96, 91}) {
    EXPECT_TRUE(later.caches_part(false, hash, 4)) << hash;
  }
}

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
