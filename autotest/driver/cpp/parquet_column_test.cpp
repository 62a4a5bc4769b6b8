// Columns of Parquet files in encodings that our writer does not use; the bytes are from the
// specifications and from other writers.
#include <gtest/gtest.h>

#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include "driver/stores/references/parquet/parquet_encodings.h"
#include "driver/stores/references/parquet/parquet_file.h"
#include "zarrcore/base/error.h"

namespace gdal_zarr::test::parquet_column_test {
namespace {

using zarrcore::Buffer;
using zarrcore::ByteSpan;

std::string bytes_of(std::initializer_list<int> values) {
  std::string bytes;
  for (const int value : values) bytes += static_cast<char>(value);
  return bytes;
}

ByteSpan span_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

bool fails(const std::function<void()>& body) {
  try {
    body();
  } catch (const zarrcore::Error&) {
    return true;
  }
  return false;
}

TEST(ParquetEncodings, Runs) {
  // 0 to 7 in three bits, then 2 four times.
  const std::string text = bytes_of({0x03, 0x88, 0xc6, 0xfa, 0x08, 0x02, 0x55});
  ByteReader bytes(span_of(text));
  EXPECT_EQ(decode_runs(bytes, 3, 12),
            (std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5, 6, 7, 2, 2, 2, 2}));
  EXPECT_EQ(bytes.size(), 1U);
  // No bits: all are zero. Runs may be longer than needed.
  const std::string zeros = bytes_of({0x14});
  bytes = ByteReader(span_of(zeros));
  EXPECT_EQ(decode_runs(bytes, 0, 3), (std::vector<std::uint32_t>{0, 0, 0}));
  // The last group is cut off.
  const std::string cut = bytes_of({0x03, 0x88});
  bytes = ByteReader(span_of(cut));
  EXPECT_EQ(decode_runs(bytes, 3, 2), (std::vector<std::uint32_t>{0, 1}));
  for (const std::string& corrupt : {bytes_of({}), bytes_of({0x00, 0x01}), bytes_of({0x01}),
                                     bytes_of({0x03}), bytes_of({0x08})}) {
    bytes = ByteReader(span_of(corrupt));
    EXPECT_TRUE(fails([&] { decode_runs(bytes, 3, 8); }));
  }
  EXPECT_TRUE(fails([&] { decode_runs(bytes, 33, 8); }));
}

TEST(ParquetEncodings, Deltas) {
  // The specification's example: 7, 5, 3, 1, 2, 3, 4, 5, in miniblocks of 32.
  std::string text = bytes_of({0x80, 0x01, 0x04, 0x08, 0x0e, 0x03, 0x02, 0, 0, 0, 0xc0, 0x3f});
  text.append(6, '\0');
  ByteReader bytes(span_of(text));
  EXPECT_EQ(decode_deltas(bytes, 8), (std::vector<std::int64_t>{7, 5, 3, 1, 2, 3, 4, 5}));
  EXPECT_EQ(bytes.size(), 0U);
  for (std::size_t size = 0; size < text.size(); ++size) {
    bytes = ByteReader(span_of(text).first(size));
    EXPECT_TRUE(fails([&] { decode_deltas(bytes, 8); })) << size;
  }
  bytes = ByteReader(span_of(text));
  EXPECT_TRUE(fails([&] { decode_deltas(bytes, 9); }));
}

TEST(Snappy, LiteralsAndCopies) {
  // "abcd", then a copy that overlaps itself, then one of each kind of distance.
  const std::string text =
      bytes_of({16, 0x0c, 'a', 'b', 'c', 'd', 0x11, 0x04, 0x06, 0x02, 0x00, 0x07, 0x0c, 0, 0, 0});
  const Buffer decoded = decode_page(ParquetCodec::snappy, span_of(text), 16);
  EXPECT_EQ(decoded.text().substr(0, 12), "abcdabcdabcd");
  EXPECT_EQ(decoded.text().substr(12), "cdcd");
}

TEST(Snappy, RefusesDamage) {
  const std::string text = bytes_of({6, 0x0c, 'a', 'b', 'c', 'd', 0x04, 'e', 'f'});
  EXPECT_EQ(decode_page(ParquetCodec::snappy, span_of(text), 6).text(), "abcdef");
  EXPECT_TRUE(fails([&] { decode_page(ParquetCodec::snappy, span_of(text), 7); }));
  for (std::size_t size = 0; size < text.size(); ++size) {
    EXPECT_TRUE(fails([&] { decode_page(ParquetCodec::snappy, span_of(text).first(size), 6); }))
        << size;
  }
  // A copy from before the start, and one past the end.
  for (const std::string& corrupt :
       {bytes_of({8, 0x00, 'a', 0x01, 0x02}), bytes_of({8, 0x00, 'a', 0x01, 0x00}),
        bytes_of({3, 0x00, 'a', 0x01, 0x01}), bytes_of({0xff, 0xff, 0xff, 0xff, 0x7f})}) {
    EXPECT_TRUE(fails([&] { decode_page(ParquetCodec::snappy, span_of(corrupt), 8); }));
  }
  EXPECT_TRUE(fails([&] { decode_page(ParquetCodec::snappy, span_of(text), UINT32_MAX); }));
}

TEST(PageCodec, RefusesWhatItDoesNotKnow) {
  const std::string text = "abc";
  EXPECT_EQ(decode_page(ParquetCodec::zstd, encode_page(span_of(text)).span(), 3).text(), text);
  EXPECT_TRUE(
      fails([&] { decode_page(ParquetCodec::zstd, encode_page(span_of(text)).span(), 4); }));
  for (const ParquetCodec codec : {ParquetCodec::lzo, ParquetCodec::brotli, ParquetCodec::gzip,
                                   ParquetCodec::zstd, ParquetCodec::lz4, ParquetCodec::snappy}) {
    EXPECT_TRUE(fails([&] { decode_page(codec, span_of(text), 3); }));
  }
}

}  // namespace
}  // namespace gdal_zarr::test::parquet_column_test
