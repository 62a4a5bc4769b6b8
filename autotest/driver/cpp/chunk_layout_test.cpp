#include <gtest/gtest.h>

#include "autotest/driver/cpp/options.h"
#include "driver/new_array/creation_options.h"
#include "driver/new_array/new_array.h"
#include "zarrcore/metadata/format.h"

namespace gdal_zarr::test::chunk_layout_test {
namespace {

using test::error_of;
using test::option_list;
using zarrcore::Shape;

constexpr std::uint64_t kMegabyte = std::uint64_t{1} << 20;

NewArray array_of(Shape shape, const zarrcore::Format& format = zarrcore::v3_format()) {
  NewArray array;
  array.shape = std::move(shape);
  array.format = &format;
  return array;
}

ChunkLayout layout_of(const NewArray& array, std::uint64_t item_size,
                      const std::vector<std::string>& options = {}) {
  return make_chunk_layout(array, item_size,
                           CreationOptions(option_list(options).List(), kArrayOption));
}

std::uint64_t bytes_of(const Shape& shape, std::uint64_t item_size) {
  for (const std::uint64_t length : shape) item_size *= length;
  return item_size;
}

TEST(ChunkLayout, ByDefaultSquaresOfXAndY) {
  EXPECT_EQ(layout_of(array_of({1000, 2000}), 2).chunk_shape, (Shape{256, 256}));
  EXPECT_EQ(layout_of(array_of({12, 3, 1000, 200}), 2).chunk_shape, (Shape{1, 1, 256, 200}));
  EXPECT_FALSE(layout_of(array_of({1000, 2000}), 2).inner_shape);
  NewArray behind = array_of({1000, 2000, 3});
  behind.x = 1;
  behind.y = 0;
  EXPECT_EQ(layout_of(behind, 2).chunk_shape, (Shape{256, 256, 1}));
  behind.keeps_pixels_together = true;
  EXPECT_EQ(layout_of(behind, 2).chunk_shape, (Shape{256, 256, 3}));
}

TEST(ChunkLayout, ByDefaultAListIsNotCutIntoCrumbs) {
  EXPECT_EQ(layout_of(array_of({20000}), 8).chunk_shape, (Shape{20000}));
  EXPECT_EQ(layout_of(array_of({1000000}), 8).chunk_shape, (Shape{65536}));
  EXPECT_EQ(layout_of(array_of({}), 8).chunk_shape, Shape{});
}

TEST(ChunkLayout, NoChunkIsWithoutElements) {
  EXPECT_EQ(layout_of(array_of({0, 5, 0}), 2).chunk_shape, (Shape{1, 5, 1}));
  EXPECT_EQ(layout_of(array_of({0}), 2).chunk_shape, (Shape{1}));
  for (const char* access : {"ACCESS=SLICES", "ACCESS=SERIES", "ACCESS=VOLUME"}) {
    EXPECT_EQ(layout_of(array_of({0, 5, 0}), 2, {"CHUNKS=AUTO", access}).chunk_shape,
              (Shape{1, 5, 1}));
  }
}

TEST(ChunkLayout, GivenLengthsAreTaken) {
  EXPECT_EQ(layout_of(array_of({10, 20}), 2, {"BLOCKSIZE=4,30"}).chunk_shape, (Shape{4, 30}));
  const ChunkLayout sharded =
      layout_of(array_of({1000, 2000}), 2, {"BLOCKSIZE=512,1024", "SHARD_CHUNK_SHAPE=128,64"});
  EXPECT_EQ(sharded.chunk_shape, (Shape{512, 1024}));
  EXPECT_EQ(sharded.inner_shape, (Shape{128, 64}));
  EXPECT_EQ(sharded.compressed_shape(), (Shape{128, 64}));
  // Shards by default are multiples, even where the array is shorter.
  EXPECT_EQ(layout_of(array_of({1000, 200}), 2, {"SHARD_CHUNK_SHAPE=100,64"}).chunk_shape,
            (Shape{300, 256}));
}

TEST(ChunkLayout, ChosenChunksHaveAboutAMegabyte) {
  const auto chosen = [](Shape shape, std::uint64_t item_size, const char* access) {
    return layout_of(array_of(std::move(shape)), item_size, {"CHUNKS=AUTO", access}).chunk_shape;
  };
  EXPECT_EQ(chosen({4096, 8192}, 4, "ACCESS=SLICES"), (Shape{512, 512}));
  // Pieces of the same length rather than one that is mostly empty.
  EXPECT_EQ(chosen({240, 721, 1440}, 4, "ACCESS=SLICES"), (Shape{1, 361, 720}));
  // A dimension that is short leaves more to the others.
  EXPECT_EQ(chosen({16, 100000}, 4, "ACCESS=SLICES"), (Shape{16, 14286}));
  EXPECT_EQ(chosen({10000, 50, 50}, 4, "ACCESS=SLICES"), (Shape{104, 50, 50}));
  EXPECT_EQ(chosen({1024, 1024, 1024}, 4, "ACCESS=VOLUME"), (Shape{64, 64, 64}));
  EXPECT_EQ(chosen({256, 4096, 4096}, 4, "ACCESS=SERIES"), (Shape{256, 32, 32}));
  EXPECT_EQ(chosen({10000000}, 8, "ACCESS=SLICES"), (Shape{129871}));
  for (const char* access : {"ACCESS=SLICES", "ACCESS=SERIES", "ACCESS=VOLUME"}) {
    for (const Shape& shape : {Shape{240, 721, 1440},
                               {10980, 10980},
                               {50000, 3, 7, 333},
                               {123456789},
                               {2, 2, 1000000}}) {
      for (const std::uint64_t item_size : {1, 2, 4, 8, 16}) {
        const std::uint64_t bytes = bytes_of(chosen(shape, item_size, access), item_size);
        EXPECT_LE(bytes, kMegabyte) << access << " " << shape[0];
        EXPECT_GE(bytes, kMegabyte / 3) << access << " " << shape[0];
      }
    }
  }
}

TEST(ChunkLayout, ChosenChunksOfPixelsThatStayTogether) {
  NewArray image = array_of({4096, 4096, 4});
  image.x = 1;
  image.y = 0;
  image.keeps_pixels_together = true;
  EXPECT_EQ(layout_of(image, 1, {"CHUNKS=AUTO"}).chunk_shape, (Shape{512, 512, 4}));
}

TEST(ChunkLayout, ChosenShardsAreRowsOfChunks) {
  const ChunkLayout layout = layout_of(array_of({100000, 102400}), 4, {"SHARDING=AUTO"});
  EXPECT_EQ(layout.inner_shape, (Shape{511, 512}));
  EXPECT_EQ(layout.chunk_shape, (Shape{511, 65536}));
  const ChunkLayout given =
      layout_of(array_of({365, 1000, 1000}), 4, {"SHARDING=AUTO", "SHARD_CHUNK_SHAPE=1,256,256"});
  EXPECT_EQ(given.inner_shape, (Shape{1, 256, 256}));
  EXPECT_EQ(given.chunk_shape, (Shape{32, 1024, 1024}));
  for (const Shape& shape :
       {Shape{1000, 721, 1440}, {40000, 30000}, {500000, 3, 7, 333}, {1234567890}}) {
    for (const std::uint64_t item_size : {1, 2, 4, 8, 16}) {
      const ChunkLayout auto_layout = layout_of(array_of(shape), item_size, {"SHARDING=AUTO"});
      const std::uint64_t bytes = bytes_of(auto_layout.chunk_shape, item_size);
      EXPECT_LE(bytes, 128 * kMegabyte);
      EXPECT_GE(bytes, 64 * kMegabyte);
      for (std::size_t i = 0; i < shape.size(); ++i) {
        EXPECT_EQ(auto_layout.chunk_shape[i] % (*auto_layout.inner_shape)[i], 0U);
      }
    }
  }
}

TEST(ChunkLayout, AShardOfOneChunkIsAChunk) {
  const ChunkLayout layout = layout_of(array_of({300, 300}), 4, {"SHARDING=AUTO"});
  EXPECT_EQ(layout.chunk_shape, (Shape{300, 300}));
  EXPECT_FALSE(layout.inner_shape);
}

TEST(ChunkLayout, RefusesWhatDoesNotFit) {
  const auto error = [](const std::vector<std::string>& options,
                        const zarrcore::Format& format = zarrcore::v3_format()) {
    return error_of([&] { layout_of(array_of({1000, 2000}, format), 2, options); });
  };
  EXPECT_EQ(error({"BLOCKSIZE=256"}),
            "creation option BLOCKSIZE has 1 lengths, but the array has 2 dimensions: 1000,2000");
  EXPECT_EQ(error({"BLOCKSIZE=256,256", "SHARD_CHUNK_SHAPE=64,48"}),
            "creation option BLOCKSIZE is 256,256, not a multiple of SHARD_CHUNK_SHAPE in every "
            "dimension: 64,48");
  EXPECT_EQ(error({"BLOCKSIZE=256,256", "CHUNKS=AUTO"}),
            "creation options CHUNKS=AUTO and BLOCKSIZE contradict each other");
  EXPECT_EQ(error({"SHARD_CHUNK_SHAPE=256,256", "CHUNKS=AUTO"}),
            "creation options CHUNKS=AUTO and SHARD_CHUNK_SHAPE contradict each other");
  EXPECT_EQ(error({"BLOCKSIZE=256,256", "SHARDING=AUTO"}),
            "creation options SHARDING=AUTO and BLOCKSIZE contradict each other");
  EXPECT_EQ(error({"SHARDING=AUTO"}, zarrcore::v2_format()),
            "Zarr v2 has no shards: creation option SHARDING=AUTO needs them");
  EXPECT_EQ(error({"SHARD_CHUNK_SHAPE=64,64"}, zarrcore::v2_format()),
            "Zarr v2 has no shards: creation option SHARD_CHUNK_SHAPE needs them");
}

}  // namespace
}  // namespace gdal_zarr::test::chunk_layout_test
