#include <gtest/gtest.h>

#include "autotest/cpp/support/array_codecs.h"
#include "autotest/cpp/support/expect_error.h"

namespace zarrcore::test::n5_block_test {
namespace {

ChunkSpec chunk_of(const Shape& shape) {
  ChunkSpec spec = spec_of(shape, kInt16);
  spec.fill_value = elements<std::int16_t>({-1});
  return spec;
}

std::vector<std::int16_t> decoded_values(const ArrayToBytesCodec& codec, const Bytes& encoded,
                                         std::size_t count) {
  Bytes decoded(2 * count);
  Arena arena;
  codec.decode(encoded, decoded, arena);
  return values_of<std::int16_t>(decoded);
}

// zarr.n5.N5ChunkWrapper("<i2", (2, 3), None).encode(np.arange(6, dtype="<i2").reshape(2, 3))
constexpr const char* kOfZarrPython = "000000020000000300000002000000010002000300040005";
// The same with (1, 2) elements: np.array([[7, 8]], "<i2").
constexpr const char* kCut =
    "0000000200000002000000010007"
    "0008";
const char* const kN5Default = R"({"codecs": [
    {"name": "transpose", "configuration": {"order": [1, 0]}},
    {"name": "bytes", "configuration": {"endian": "big"}}]})";

TEST(N5Block, TheWrapperReadsAndWritesWhatZarrPythonWrites) {
  const auto codec = make_array_to_bytes("numcodecs.n5_wrapper", R"({"compressor_config": null})",
                                         chunk_of({2, 3}));
  const std::vector<std::int16_t> values{0, 1, 2, 3, 4, 5};
  EXPECT_EQ(decoded_values(*codec, from_hex(kOfZarrPython), 6), values);
  EXPECT_EQ(encoded_by(*codec, elements(values)), from_hex(kOfZarrPython));
  EXPECT_EQ(decoded_values(*codec, from_hex(kCut), 6),
            (std::vector<std::int16_t>{7, 8, 0, 0, 0, 0}));
}

TEST(N5Block, TheWrappedCompressorIsOneOfNumcodecs) {
  const std::vector<std::int16_t> values{0, 1, 2, 3, 4, 5};
  for (const char* compressor : {R"({"id": "gzip", "level": 1})", R"({"id": "raw"})"}) {
    const auto codec = make_array_to_bytes(
        "numcodecs.n5_wrapper", R"({"compressor_config": )" + std::string(compressor) + "}",
        chunk_of({2, 3}));
    EXPECT_EQ(decoded_values(*codec, encoded_by(*codec, elements(values)), 6), values);
  }
}

TEST(N5Block, TheDefaultKeepsTheOrderOfDimensionsInTheHeader) {
  const auto codec = make_array_to_bytes("n5_default", kN5Default, chunk_of({3, 2}));
  // The block of kOfZarrPython, in N5's order of dimensions: element (x, y) is x + 3 y.
  EXPECT_EQ(decoded_values(*codec, from_hex(kOfZarrPython), 6),
            (std::vector<std::int16_t>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(encoded_by(*codec, elements<std::int16_t>({0, 3, 1, 4, 2, 5})),
            from_hex(kOfZarrPython));
  // Cut blocks are padded with the fill value, larger ones are cropped.
  EXPECT_EQ(decoded_values(*codec, from_hex(kCut), 6),
            (std::vector<std::int16_t>{7, -1, 8, -1, -1, -1}));
  const auto small = make_array_to_bytes("n5_default", kN5Default, chunk_of({2, 1}));
  EXPECT_EQ(decoded_values(*small, from_hex(kOfZarrPython), 2), (std::vector<std::int16_t>{0, 1}));
}

TEST(N5Block, BlocksAreBigEndianAlsoWhereTheCodecsDoNotSaySo) {
  for (const char* codecs : {R"([{"name": "transpose", "configuration": {"order": [1, 0]}}])",
                             R"([{"name": "transpose", "configuration": {"order": [1, 0]}},
                                 "bytes"])"}) {
    const auto codec = make_array_to_bytes(
        "n5_default", R"({"codecs": )" + std::string(codecs) + "}", chunk_of({3, 2}));
    EXPECT_FALSE(codec->assumes_byte_order());
    EXPECT_EQ(decoded_values(*codec, from_hex(kOfZarrPython), 6),
              (std::vector<std::int16_t>{0, 3, 1, 4, 2, 5}));
  }
  const auto make = [](const char* inner) {
    return make_array_to_bytes("n5_default", R"({"codecs": [)" + std::string(inner) + "]}",
                               chunk_of({3, 2}));
  };
  EXPECT_ERROR(make(R"({"name": "bytes", "configuration": {"endian": "little"}})"),
               "blocks of N5 are big-endian");
  EXPECT_ERROR(make(R"({"name": "n5_default", "configuration": {"codecs": []}})"),
               "it comes after the array-to-bytes codec");
}

TEST(N5Block, AHeaderMayStateTheNumberOfElements) {
  const auto codec = make_array_to_bytes("n5_default", kN5Default, chunk_of({1, 2}));
  EXPECT_EQ(decoded_values(*codec,
                           from_hex("000100020000000100000002000000020007"
                                    "0008"),
                           2),
            (std::vector<std::int16_t>{7, 8}));
  EXPECT_ERROR(decoded_values(*codec, from_hex("0001000200000001000000020000000300070008"), 2),
               "vary in length");
  EXPECT_ERROR(decoded_values(*codec, from_hex("0002000200000001000000020000000300070008"), 2),
               "the mode 2");
}

TEST(N5Block, BadHeadersAreErrorsBeforeMemoryIsAllocated) {
  const auto codec = make_array_to_bytes("n5_default", kN5Default, chunk_of({3, 2}));
  const Bytes block = from_hex(kOfZarrPython);
  for (std::size_t size = 0; size < 12; ++size) {
    EXPECT_ERROR(decoded_values(*codec, {block.begin(), block.begin() + size}, 6),
                 "ends within its header");
  }
  for (std::size_t size = 12; size < block.size(); ++size) {
    EXPECT_ERROR(decoded_values(*codec, {block.begin(), block.begin() + size}, 6), "bytes where");
  }
  EXPECT_ERROR(decoded_values(*codec, from_hex("000000010000000300000001"), 6),
               "1 dimensions, the array 2");
  EXPECT_ERROR(decoded_values(*codec, from_hex("00000002ffffffffffffffff"), 6), "larger than any");
  EXPECT_ERROR(decoded_values(*codec, from_hex("000000020000ffff0000ffff"), 6),
               "the block's header makes");
  EXPECT_ERROR(decoded_values(*codec, from_hex("00000002000010000000100000"), 6), "1 bytes where");
}

}  // namespace
}  // namespace zarrcore::test::n5_block_test
