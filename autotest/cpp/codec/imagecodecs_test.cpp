#include <gtest/gtest.h>

#include <algorithm>

#include "autotest/cpp/support/codecs.h"
#include "autotest/cpp/support/expect_error.h"
#include "autotest/cpp/support/filters.h"

namespace zarrcore::test::imagecodecs_test {
namespace {

// 24 bytes: 0 to 4 again and again, as libtiff, h5py, liblz4 and Python's zlib compress them.
struct Stream {
  const char* label;
  const char* name;
  const char* configuration;
  const char* encoded;
};

void PrintTo(const Stream& stream, std::ostream* out) {
  *out << stream.label;
}

class Streams : public testing::TestWithParam<Stream> {
 protected:
  static Bytes plain() {
    Bytes bytes(24);
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i % 5);
    return bytes;
  }

  std::unique_ptr<const BytesToBytesCodec> codec_ =
      make_bytes_to_bytes(GetParam().name, GetParam().configuration);
  Bytes encoded_ = from_hex(GetParam().encoded);
};

INSTANTIATE_TEST_SUITE_P(
    Codecs, Streams,
    testing::Values(
        Stream{"Lzw", "imagecodecs_lzw", "{}", "8000002020181205048340e0b0785c2a02"},
        Stream{"PackBits", "imagecodecs_packbits", "{}",
               "05000102030400050102030400010502030400010205030400010203"},
        Stream{"Lzf", "imagecodecs_lzf", "{}", "1800000005000102030400e00704010203"},
        Stream{"LzfOfHdf5", "imagecodecs_lzf", "{}", "05000102030400e00704010203"},
        Stream{"LzfWithoutHeader", "numcodecs.imagecodecs_lzf", R"({"header": false})",
               "05000102030400e00704010203"},
        Stream{"Snappy", "imagecodecs_snappy", "{}", "181000010203044a0500"},
        Stream{"Lz4", "imagecodecs_lz4", "{}", "5a00010203040500500400010203"},
        Stream{"Lz4Frame", "imagecodecs_lz4f", "{}",
               "04224d186040820e0000005a0001020304050050040001020300000000"},
        Stream{
            "Lz4OfHdf5", "imagecodecs_lz4h5", "{}",
            "00000000000000180000001000000012f00100010203040001020304000102030400000000080102030400"
            "010203"},
        Stream{"Zopfli", "imagecodecs_zopfli", "{}",
               "1f8b0800000000000203636064626661c02400ce6ab39818000000"},
        Stream{"RawDeflate", "imagecodecs_deflate", R"({"raw": true})", "636064626661c02400"},
        Stream{"ZipMember", "numcodecs.deflate", "{}",
               "504b030414000000080000000000ce6ab39809000000180000000100000061636064626661c02400"}),
    [](const auto& test) { return test.param.label; });

TEST_P(Streams, Decode) {
  EXPECT_EQ(decoded_by(*codec_, encoded_, 24), plain());
  EXPECT_EQ(to_bytes(codec_->decode(encoded_, 24).span()), plain());
  EXPECT_EQ(to_bytes(codec_->decode(encoded_, 100000).span()), plain());
  EXPECT_GE(codec_->max_decoded_size(encoded_), 24u);
}

TEST_P(Streams, AnotherSizeIsAnError) {
  EXPECT_ERROR(decoded_by(*codec_, encoded_, 23), "");
  EXPECT_ERROR(decoded_by(*codec_, encoded_, 25), "25 are expected");
  EXPECT_ERROR(codec_->decode(encoded_, 23), "");
}

TEST_P(Streams, CutOffBytesAreAnError) {
  const std::string label = GetParam().label;
  for (std::size_t size = 0; size < encoded_.size(); ++size) {
    // The code of LZW's end may be missing, the checksum of gzip and the end of an LZ4 frame not.
    if (label == "Lzw" && size + 2 >= encoded_.size()) continue;
    EXPECT_ERROR(decoded_by(*codec_, ByteSpan(encoded_).first(size), 24), "") << size;
  }
}

TEST_P(Streams, CorruptBytesNeverReachOutsideTheDestination) {
  Random random(1);
  for (int round = 0; round < 2000; ++round) {
    Bytes damaged = encoded_;
    for (int i = 0; i < 3; ++i) {
      damaged[random() % damaged.size()] = static_cast<std::byte>(random() & 0xff);
    }
    Bytes target(24 + 64, std::byte{0xcd});
    try {
      codec_->decode(damaged, MutableByteSpan(target).first(24));
    } catch (const Error&) {  // also of a size that does not fit
    }
    EXPECT_EQ(std::count(target.begin() + 24, target.end(), std::byte{0xcd}), 64);
  }
}

// --- LZW -----------------------------------------------------------------------------------------

// Codes of as many bits as a decoder expects; 256 clears the table.
Bytes lzw_codes(const std::vector<unsigned>& codes) {
  Bytes bytes;
  std::uint64_t bits = 0;
  unsigned bit_count = 0;
  unsigned next = 258;
  bool is_first = true;
  for (const unsigned code : codes) {
    const unsigned width = next < 511 ? 9 : next < 1023 ? 10 : next < 2047 ? 11 : 12;
    bits = bits << width | code;
    for (bit_count += width; bit_count >= 8; bit_count -= 8) {
      bytes.push_back(static_cast<std::byte>(bits >> (bit_count - 8) & 0xff));
    }
    if (code == 256) {
      next = 258;
      is_first = true;
    } else if (!is_first) {
      next = std::min(next + 1, 4096u);
    } else {
      is_first = false;
    }
  }
  bytes.push_back(static_cast<std::byte>(bits << (8 - bit_count) & 0xff));
  return bytes;
}

TEST(Lzw, CodesGrowToTwelveBits) {
  // Each new code is the string before it and a byte more: rows of 1, 2, 3… equal bytes.
  std::vector<unsigned> codes{256, 7};
  std::size_t size = 1;
  for (unsigned code = 258; code < 4096; ++code) {
    codes.push_back(code);
    size += code - 256;
  }
  codes.push_back(7);  // the table is full
  codes.push_back(4095);
  codes.push_back(257);
  size += 1 + 4095 - 256;
  const auto codec = make_bytes_to_bytes("imagecodecs_lzw");
  EXPECT_EQ(decoded_by(*codec, lzw_codes(codes), size), Bytes(size, std::byte{7}));
}

TEST(Lzw, ImpossibleCodesAreErrors) {
  const auto codec = make_bytes_to_bytes("imagecodecs_lzw");
  for (const std::vector<unsigned>& codes :
       {std::vector<unsigned>{256, 258, 257}, {256, 1, 259, 257}, {256, 1, 256, 258}}) {
    EXPECT_ERROR(codec->decode(lzw_codes(codes), 1000), "lzw: the data is corrupt");
  }
  EXPECT_ERROR(codec->decode(from_hex("0001c080"), 1000), "the order of bits from before TIFF 5.0");
}

// --- Where codecs stand --------------------------------------------------------------------------

const DataType kFloat32{TypeKind::floating, 4};

// What TIFF's predictor 3 makes of two rows of three floats, in `endian`.
Bytes predicted_floats(const Bytes& floats, std::size_t rows, Endian endian) {
  const std::size_t size = floats.size() / rows;
  const std::size_t count = size / 4;
  Bytes encoded;
  for (std::size_t row = 0; row < rows; ++row) {
    Bytes planes(size);
    for (std::size_t i = 0; i < size; ++i) {
      const std::size_t byte = endian == Endian::big ? i % 4 : 3 - i % 4;
      planes[byte * count + i / 4] = floats[row * size + i];
    }
    for (std::size_t i = size; i-- > 1;) {
      planes[i] = static_cast<std::byte>(std::to_integer<int>(planes[i]) -
                                         std::to_integer<int>(planes[i - 1]));
    }
    encoded.insert(encoded.end(), planes.begin(), planes.end());
  }
  return encoded;
}

TEST(Imagecodecs, APredictorBeforeBytesIsOfTheArrayAndOfItsByteOrder) {
  const Bytes floats = little_endian<float>({1.5F, -2, 1e9F, 0, 7, 0.25F});
  Bytes big = floats;
  swap_bytes(big, 4);
  const ChunkSpec spec = spec_of({2, 3}, kFloat32);
  for (const std::string order : {"little", "big"}) {
    const CodecChain chain =
        make_chain(R"(["imagecodecs_floatpred", {"name": "bytes", "configuration": {"endian": ")" +
                       order + R"("}}, "imagecodecs_lzf"])",
                   spec);
    const Bytes encoded = predicted_floats(order == "big" ? big : floats, 2,
                                           order == "big" ? Endian::big : Endian::little);
    Bytes literals = bytes_of({23});
    literals.insert(literals.end(), encoded.begin(), encoded.end());
    EXPECT_EQ(to_bytes(chain.decode(literals).elements.span()), in_host_order(floats, 4));
  }
}

TEST(Imagecodecs, FiltersOfBytesBeforeBytesSeeThemInTheOrderOfTheStore) {
  // Elements 0 to 7 of two bytes, the first or the last of which is zero.
  const Bytes planes = from_hex("aaccf00000000000");
  const ChunkSpec spec = spec_of({8}, {TypeKind::unsigned_integer, 2});
  const auto chain_of = [&](const std::string& filter, const std::string& order) {
    return make_chain(R"([")" + filter + R"(", {"name": "bytes", "configuration": {"endian": ")" +
                          order + R"("}}])",
                      spec);
  };
  const auto expected = in_host_order(little_endian<std::uint16_t>({0, 1, 2, 3, 4, 5, 6, 7}), 2);
  Bytes bits(16);
  std::copy(planes.begin(), planes.end(), bits.begin());
  const auto bit_shuffled = chain_of("imagecodecs_bitshuffle", "little");
  EXPECT_EQ(to_bytes(bit_shuffled.decode(bits).elements.span()), expected);
  std::rotate(bits.begin(), bits.begin() + 8, bits.end());
  EXPECT_EQ(to_bytes(chain_of("imagecodecs_bitshuffle", "big").decode(bits).elements.span()),
            expected);
  const Bytes big = from_hex("00000001000200030004000500060007");
  EXPECT_EQ(to_bytes(chain_of("imagecodecs_quantize", "big").decode(big).elements.span()),
            expected);
  Bytes reversed_bits(16);
  for (std::size_t i = 0; i < 8; ++i) {
    reversed_bits[2 * i + 1] = static_cast<std::byte>((i & 1) << 7 | (i & 2) << 5 | (i & 4) << 3);
  }
  EXPECT_EQ(to_bytes(chain_of("imagecodecs_bitorder", "big").decode(reversed_bits).elements.span()),
            expected);
}

TEST(Imagecodecs, ACodecInPlaceOfBytesStoresLittleEndianElements) {
  const CodecChain chain = make_chain(
      R"([{"name": "imagecodecs_packints", "configuration": {"bitspersample": 4}}, "crc32c"])",
      spec_of({3}, {TypeKind::unsigned_integer, 2}));
  EXPECT_EQ(chain.encoded_size(), 2u + 4u);
  const CodecChain alone =
      make_chain(R"([{"name": "imagecodecs_packints", "configuration": {"bitspersample": 4}}])",
                 spec_of({3}, {TypeKind::unsigned_integer, 2}));
  EXPECT_EQ(to_bytes(alone.decode(from_hex("1230")).elements.span()),
            in_host_order(little_endian<std::uint16_t>({1, 2, 3}), 2));
}

TEST(Imagecodecs, SettingsOfEncodersAreIgnored) {
  const CodecChain chain = make_chain(
      R"(["bytes", {"name": "imagecodecs_zstd", "configuration": {"level": "best", "new": [1]}}])",
      spec_of({3}));
  EXPECT_EQ(to_bytes(chain.decode(chain.encode(bytes_of({1, 2, 3})).span()).elements.span()),
            bytes_of({1, 2, 3}));
  EXPECT_ERROR(make_chain(R"(["bytes", {"name": "imagecodecs_lzf",
                                        "configuration": {"header": "yes"}}])",
                          spec_of({3})),
               "codec \"imagecodecs_lzf\"", "\"header\" is \"yes\"");
}

TEST(Imagecodecs, VirtualTiffsPredictorPrecedesBytes) {
  EXPECT_ERROR(make_chain(R"(["bytes", "HorizontalDeltaCodec"])", spec_of({3})),
               "it comes after the array-to-bytes codec");
}

}  // namespace
}  // namespace zarrcore::test::imagecodecs_test
