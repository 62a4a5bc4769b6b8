// What a process takes that writes large shards. Each test runs in a process of its own (ctest).
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "autotest/cpp/support/stored_array.h"
#include "autotest/cpp/support/temporary_folder.h"
#include "zarrcore/array/array_writer.h"
#include "zarrcore/store/file_system_store.h"

namespace zarrcore::test::writer_memory_test {
namespace {

// Two shards of 256 MB that are not compressed, of inner chunks of 1 MB.
class WriterMemory : public testing::Test {
 protected:
  static inline const Shape kShape{8192, 16384};
  static constexpr std::uint64_t kItem = 4;

  void SetUp() override {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "sanitizers take memory of their own";
#endif
    create(codec_list({sharding_codec({512, 512}, codec_list({bytes_codec()}), index_codecs())}));
    for (std::size_t i = 0; i < row_.size(); ++i) row_[i] = static_cast<std::int32_t>(i + 1);
  }

  void create(const std::string& codecs) {
    FileSystemStore store(folder_.path());
    put_document(store, "", array_document(kShape, {8192, 8192}, "\"int32\"", codecs));
    array_ = open_array(std::make_shared<FileSystemStore>(folder_.path()));
  }

  // Every row of the array is the same.
  Source source() const {
    return {reinterpret_cast<const std::byte*>(row_.data()), {0, kItem}, nullptr};
  }

  // Rows across all shards, each of which is then written from its top to its end.
  void write_rows() const {
    ArrayWriter writer(array_);
    for (std::uint64_t row = 0; row < kShape[0]; row += 256) {
      writer.write({{row, 0}, {256, kShape[1]}, {}}, source(), {2, nullptr});
    }
    writer.flush({2, nullptr});
  }

  void expect_all_is_written() const {
    std::vector<std::int32_t> seen(kShape[1]);
    for (std::uint64_t line = 0; line < kShape[0]; line += 511) {
      array_->read({{line, 0}, {1, kShape[1]}, {}}, seen.data(), seen.size() * kItem);
      ASSERT_EQ(seen, row_) << line;
    }
  }

  static void expect_peak_below(long megabytes) {
    struct rusage usage;
    ASSERT_EQ(::getrusage(RUSAGE_SELF, &usage), 0);
    RecordProperty("peak_megabytes", static_cast<int>(usage.ru_maxrss >> 10));
    EXPECT_LT(usage.ru_maxrss >> 10, megabytes);
  }

  const TemporaryFolder folder_;
  std::shared_ptr<const Array> array_;
  std::vector<std::int32_t> row_ = std::vector<std::int32_t>(kShape[1]);
};

TEST_F(WriterMemory, WholeShardsStayUnder512Megabytes) {
  ArrayWriter writer(array_);
  writer.write(everything(kShape), source(), {4, nullptr});
  writer.flush();
  expect_peak_below(400);
  expect_all_is_written();
}

// Both shards are begun before one of them is complete: they have to be put in parts.
TEST_F(WriterMemory, RowsAcrossShardsStayUnder512Megabytes) {
  write_rows();
  expect_peak_below(400);
  expect_all_is_written();
}

// Pending inner chunks take no more memory than their encoded bytes, which count for the bound.
TEST_F(WriterMemory, WhatIsCompressedTakesItsCompressedSize) {
  create(codec_list(
      {sharding_codec({512, 512}, codec_list({bytes_codec(), codec("zstd")}), index_codecs())}));
  write_rows();
  expect_peak_below(200);
  expect_all_is_written();
}

// Of a chunk that is not sharded, there is no second copy that is encoded.
TEST_F(WriterMemory, WholeChunksStayUnder512Megabytes) {
  create(codec_list({bytes_codec()}));
  ArrayWriter writer(array_);
  writer.write(everything(kShape), source());
  expect_peak_below(400);
  expect_all_is_written();
}

}  // namespace
}  // namespace zarrcore::test::writer_memory_test
