// Chunks of which the first elements can be decoded without the rest (zstd).
#include <gtest/gtest.h>

#include <thread>

#include "autotest/cpp/support/expect_error.h"
#include "autotest/cpp/support/layout.h"
#include "autotest/cpp/support/observed_store.h"
#include "autotest/cpp/support/stored_array.h"
#include "zarrcore/store/memory_store.h"

namespace zarrcore::test::chunk_prefix_test {
namespace {

const std::string kZstd = codec("zstd", R"("level": 3, "checksum": false)");

// Images of uint16, sixteen of them in a chunk of 512 KiB.
struct Cube {
  explicit Cube(const std::vector<std::string>& codecs) {
    Random random(81);
    values = random_bytes(random, element_count(kShape) * 2);
    // Not only noise, which zstd would store as it is.
    for (std::size_t i = 0; i < values.size(); i += 2) values[i] = std::byte{1};
    write_array(*memory, "", array_document(kShape, kChunk, "\"uint16\"", codec_list(codecs)),
                values);
    array = open_array(store, "", context);
    store->take_requests();
  }

  static Selection image(std::uint64_t i) { return {{i, 0, 0}, {1, 128, 128}, {}}; }
  Bytes expected(const Selection& selection) const {
    return selected(values, kShape, 2, selection);
  }

  static inline const Shape kShape{32, 128, 128};
  static inline const Shape kChunk{16, 128, 128};
  static constexpr std::uint64_t kDecoded = 16 * 128 * 128 * 2;

  Bytes values;
  std::shared_ptr<MemoryStore> memory = std::make_shared<MemoryStore>();
  std::shared_ptr<ObservedStore> store = std::make_shared<ObservedStore>(memory);
  std::shared_ptr<Context> context = std::make_shared<Context>();
  std::shared_ptr<const Array> array;
};

class ChunkPrefix : public testing::TestWithParam<std::vector<std::string>> {};

TEST_P(ChunkPrefix, AnyRegionIsWhatTheModelSays) {
  const Cube cube(GetParam());
  Random random(82);
  for (int round = 0; round < 100; ++round) {
    const auto array = round % 3 == 0 ? open_array(cube.store) : cube.array;
    const Selection selection = random_selection(random, Cube::kShape);
    ASSERT_EQ(read(*array, selection), cube.expected(selection)) << "round " << round;
  }
}

TEST_P(ChunkPrefix, ThreadsReadDifferentPartsOfAChunk) {
  const Cube cube(GetParam());
  for (int round = 0; round < 5; ++round) {
    const auto array = open_array(cube.store);
    std::vector<std::thread> threads;
    for (std::uint64_t first = 0; first < 8; ++first) {
      threads.emplace_back([&, first] {
        for (std::uint64_t i = 0; i < 4; ++i) {
          const Selection image = Cube::image((first * 5 + i * 7) % 16);
          EXPECT_EQ(read(*array, image), cube.expected(image));
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
}

INSTANTIATE_TEST_SUITE_P(
    Codecs, ChunkPrefix,
    testing::Values(std::vector{bytes_codec(), kZstd}, std::vector{bytes_codec("big"), kZstd},
                    std::vector{bytes_codec(), codec("zstd", R"("level": 3, "checksum": true)")},
                    std::vector{transpose_codec({2, 0, 1}), bytes_codec(), kZstd},
                    std::vector{
                        bytes_codec(),
                        codec("blosc",
                              R"("cname": "zstd", "clevel": 1, "shuffle": "shuffle", "typesize": 2,
                              "blocksize": 32768)")}));

// The end of the encoded chunk is damaged: reads that do not need it do not notice.
TEST(ChunkPrefix, OnlyWhatIsWantedIsDecodedAndKept) {
  const Cube cube({bytes_codec(), kZstd});
  Bytes chunk = to_bytes(cube.memory->get("c/0/0/0", kNoSizeLimit)->span());
  std::fill(chunk.end() - static_cast<std::ptrdiff_t>(chunk.size() / 8), chunk.end(),
            std::byte{0xff});
  cube.memory->put("c/0/0/0", chunk);
  EXPECT_EQ(read(*cube.array, Cube::image(2)), cube.expected(Cube::image(2)));
  EXPECT_LT(cube.context->chunks.byte_count(), Cube::kDecoded / 2);
  EXPECT_EQ(cube.store->take_requests().size(), 1);
  EXPECT_EQ(read(*cube.array, Cube::image(0)), cube.expected(Cube::image(0)));
  EXPECT_EQ(cube.store->take_requests().size(), 0) << "the first images are kept";
  EXPECT_ERROR(read(*cube.array, Cube::image(15)), "c/0/0/0");
}

TEST(ChunkPrefix, WhenMoreIsWantedTheWholeChunkIsDecodedAndKept) {
  const Cube cube({bytes_codec(), kZstd});
  for (const std::uint64_t i : {2, 8, 15, 3}) {
    EXPECT_EQ(read(*cube.array, Cube::image(i)), cube.expected(Cube::image(i)));
  }
  EXPECT_GE(cube.context->chunks.byte_count(), Cube::kDecoded);
  EXPECT_EQ(cube.store->take_requests().size(), 2);
}

TEST(ChunkPrefix, AFrameWithAChecksumIsDecodedAsAWhole) {
  const Cube cube({bytes_codec(), codec("zstd", R"("level": 3, "checksum": true)")});
  Bytes chunk = to_bytes(cube.memory->get("c/0/0/0", kNoSizeLimit)->span());
  chunk.back() ^= std::byte{1};
  cube.memory->put("c/0/0/0", chunk);
  EXPECT_ERROR(read(*cube.array, Cube::image(0)), "c/0/0/0", "checksum");
}

// A request costs more than decoding.
TEST(ChunkPrefix, OfARemoteStoreAChunkIsDecodedAsAWhole) {
  class RemoteStore final : public StoreWrapper {
   public:
    using StoreWrapper::StoreWrapper;
    StoreTraits traits() const override { return {.parallel_requests = 4}; }
  };
  const Cube cube({bytes_codec(), kZstd});
  const auto array = open_array(std::make_shared<RemoteStore>(cube.store));
  cube.store->take_requests();
  EXPECT_EQ(read(*array, Cube::image(0)), cube.expected(Cube::image(0)));
  EXPECT_EQ(read(*array, Cube::image(15)), cube.expected(Cube::image(15)));
  EXPECT_EQ(cube.store->take_requests().size(), 1);
}

}  // namespace
}  // namespace zarrcore::test::chunk_prefix_test
