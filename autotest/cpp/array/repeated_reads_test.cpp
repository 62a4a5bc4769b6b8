// Windows that are requested twice, as GDAL does for values and their mask, are decoded once.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "autotest/cpp/support/bytes.h"
#include "autotest/cpp/support/layout.h"
#include "autotest/cpp/support/stored_array.h"
#include "zarrcore/array/array_writer.h"
#include "zarrcore/store/memory_store.h"

namespace zarrcore::test::repeated_reads_test {
namespace {

const std::string kCompressed = codec_list({bytes_codec(), codec("zstd")});

// 8 x 8 elements of uint16 in four chunks, or in four inner chunks of a shard.
class RepeatedReads : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    Random random(3);
    values_ = random_bytes(random, element_count(kShape) * 2);
    write();
    array_ = open_array(memory_, "", context_);
  }

  void write() {
    const std::string codecs =
        GetParam() ? codec_list({sharding_codec({4, 4}, kCompressed, index_codecs())})
                   : kCompressed;
    const Shape chunk = GetParam() ? kShape : Shape{4, 4};
    write_array(*memory_, "", array_document(kShape, chunk, "\"uint16\"", codecs), values_);
  }

  Bytes expected(const Selection& window) const { return selected(values_, kShape, 2, window); }

  // How many chunks reading a window takes from the store.
  std::uint64_t chunks_read(const Selection& window) {
    ReadStatistics statistics;
    ReadOptions options;
    options.statistics = &statistics;
    EXPECT_EQ(read(*array_, window, options), expected(window));
    return statistics.decoded_chunks.load();
  }

  static inline const Shape kShape{8, 8};
  static inline const Selection kUpper{{0, 0}, {4, 8}, {}};
  static inline const Selection kLower{{4, 0}, {4, 8}, {}};

  Bytes values_;
  std::shared_ptr<MemoryStore> memory_ = std::make_shared<MemoryStore>();
  std::shared_ptr<Context> context_ = std::make_shared<Context>();
  std::shared_ptr<const Array> array_;
};

TEST_P(RepeatedReads, OfLaterWindowsAreDecodedOnce) {
  EXPECT_EQ(chunks_read(kUpper), 2);
  EXPECT_EQ(chunks_read(kUpper), 2);
  for (int i = 0; i < 3; ++i) {
    const Selection& window = i % 2 == 0 ? kLower : kUpper;
    EXPECT_EQ(chunks_read(window), 2);
    EXPECT_EQ(chunks_read(window), 0);
    EXPECT_EQ(context_->chunks.byte_count(), 0) << "chunks are kept for a third time";
  }
}

// What a writer has put is read through it, and windows are counted together with the array's.
TEST_P(RepeatedReads, ThroughAWriterAreDecodedOnceAndSeeWhatItWrites) {
  ArrayWriter writer(array_);
  const auto chunks_read_by_writer = [&](const Selection& window) {
    ReadStatistics statistics;
    ReadOptions options;
    options.statistics = &statistics;
    Bytes values(element_count(window.count) * 2);
    writer.read(window, {values.data(), c_strides(window.count, 2)}, options);
    EXPECT_EQ(values, expected(window));
    return statistics.decoded_chunks.load();
  };
  EXPECT_EQ(chunks_read_by_writer(kUpper), 2);
  EXPECT_EQ(chunks_read_by_writer(kUpper), 2);
  EXPECT_EQ(chunks_read_by_writer(kLower), 2);
  EXPECT_EQ(chunks_read_by_writer(kLower), 0);
  EXPECT_EQ(chunks_read_by_writer(kUpper), 2);
  std::ranges::reverse(values_);
  writer.write({{0, 0}, kShape, {}}, {values_.data(), c_strides(kShape, 2)}, {});
  EXPECT_EQ(chunks_read_by_writer(kUpper), 2);
}

TEST_P(RepeatedReads, AreForgottenWhenTheProgramReadsEachWindowOnce) {
  chunks_read(kUpper);
  chunks_read(kUpper);
  chunks_read(kLower);
  // The chunks of the window that did not come again.
  array_->state().invalidate_all();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(chunks_read(kUpper), 2);
    EXPECT_EQ(chunks_read(kLower), 2);
  }
  EXPECT_EQ(context_->chunks.byte_count(), 0);
}

TEST_P(RepeatedReads, OfPartsOfChunksFindTheChunksInTheCacheEachTime) {
  const Selection part{{0, 0}, {2, 8}, {}};
  EXPECT_EQ(chunks_read(part), 2);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(chunks_read(part), 0);
}

// Also when the program requests them more than once.
TEST_P(RepeatedReads, OfWhatWasPrefetchedDecodeNothing) {
  array_->prefetch(kUpper, {});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(chunks_read(kUpper), 0);
}

TEST_P(RepeatedReads, SeeWhatHasBeenPutInBetween) {
  chunks_read(kUpper);
  chunks_read(kUpper);
  chunks_read(kLower);
  std::ranges::reverse(values_);
  write();
  EXPECT_EQ(chunks_read(kLower), 2);
}

INSTANTIATE_TEST_SUITE_P(ChunksAndInnerChunks, RepeatedReads, testing::Bool());

}  // namespace
}  // namespace zarrcore::test::repeated_reads_test
