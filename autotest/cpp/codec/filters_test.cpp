// What every filter of numcodecs promises, asked of each.
#include "autotest/cpp/support/filters.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "autotest/cpp/support/expect_error.h"

namespace zarrcore::test::filters_test {
namespace {

struct Case {
  const char* label;
  const char* name;
  const char* configuration;
  DataType type;
  bool is_lossy = false;
};

void PrintTo(const Case& c, std::ostream* stream) {
  *stream << c.name << ' ' << c.configuration;
}

const DataType kBool{TypeKind::boolean, 1};
const DataType kUint32{TypeKind::unsigned_integer, 4};
const DataType kFloat16{TypeKind::floating, 2};
const DataType kFloat32{TypeKind::floating, 4};
const DataType kText{TypeKind::fixed_utf32, 12};

class Filters : public testing::TestWithParam<Case> {
 protected:
  // `count` elements.
  Bytes sample(std::size_t count) const {
    const DataType& type = GetParam().type;
    if (type.kind == TypeKind::fixed_utf32) return Bytes(count * type.item_size);
    Bytes bytes = regular_bytes(count * type.item_size);
    if (type == kBool) {
      for (std::byte& byte : bytes) byte &= std::byte{1};
    }
    if (GetParam().label == std::string_view("DeltaNarrower")) {  // differences of a byte
      for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] &= std::byte(i % 2 == 0 ? 0x3f : 0);
    }
    return bytes;
  }

  std::unique_ptr<const Filter> filter_ =
      make_filter(GetParam().name, GetParam().configuration, GetParam().type);
};

INSTANTIATE_TEST_SUITE_P(
    Numcodecs, Filters,
    testing::Values(
        Case{"Astype", "numcodecs.astype", R"({"encode_dtype": ">i8", "decode_dtype": "<i4"})",
             kInt32},
        Case{"AstypeNarrower", "numcodecs.astype", R"({"encode_dtype": "|u1"})", kFloat64, true},
        Case{"AstypeText", "numcodecs.astype", R"({"encode_dtype": "|S3"})", kText},
        Case{"Bitround", "numcodecs.bitround", R"({"keepbits": 7})", kFloat32, true},
        Case{"Categorize", "numcodecs.categorize", R"({"labels": ["a", "b"], "astype": "<u2"})",
             kText},
        Case{"Delta", "numcodecs.delta", R"({"dtype": "<i4", "astype": "<i4"})", kInt32},
        Case{"DeltaWider", "numcodecs.delta", R"({"dtype": ">u4", "astype": ">i8"})", kUint32},
        Case{"DeltaNarrower", "numcodecs.delta", R"({"astype": "|i1"})", kInt16, true},
        Case{"DeltaHalf", "numcodecs.delta", "{}", kFloat16, true},
        Case{"FixedScaleOffset", "numcodecs.fixedscaleoffset",
             R"({"offset": 10, "scale": 100, "dtype": "<f8", "astype": "<i4"})", kFloat64, true},
        Case{"Packbits", "numcodecs.packbits", "{}", kBool},
        Case{"Quantize", "numcodecs.quantize", R"({"digits": 3, "dtype": "float64"})", kFloat64,
             true},
        Case{"Shuffle", "numcodecs.shuffle", R"({"elementsize": 4})", kInt32},
        Case{"ShuffleOfOne", "numcodecs.shuffle", R"({"elementsize": 0})", kInt32}),
    [](const auto& test) { return test.param.label; });

// Around the number of elements that are worked on at a time.
constexpr std::size_t kCounts[] = {0, 1, 2, 7, 8, 255, 256, 257, 100003};

TEST_P(Filters, RoundTripAllSizes) {
  for (const std::size_t count : kCounts) {
    const Bytes bytes = sample(count);
    const Buffer encoded = filter_->encode(bytes);
    const Bytes decoded = decoded_by(*filter_, encoded.span(), bytes.size());
    if (!GetParam().is_lossy) {
      EXPECT_EQ(decoded, bytes) << count;
    }
    EXPECT_EQ(to_bytes(filter_->decode(encoded.span(), bytes.size()).span()), decoded) << count;
  }
}

TEST_P(Filters, TheEncodedSizeAndTheBoundOfTheDecodedSizeAreTrue) {
  for (const std::size_t count : kCounts) {
    const Bytes bytes = sample(count);
    const Buffer encoded = filter_->encode(bytes);
    EXPECT_EQ(encoded.size(), filter_->encoded_size(bytes.size()));
    EXPECT_GE(filter_->max_decoded_size(encoded.span()), bytes.size());
    EXPECT_LT(filter_->max_decoded_size(encoded.span()),
              bytes.size() + std::max<std::size_t>(8, GetParam().type.item_size));
  }
}

TEST_P(Filters, TheEncodedTypeAndShapeDescribeTheEncodedBytes) {
  for (const std::size_t count : kCounts) {
    const Shape shape = filter_->encoded_shape({count});
    ASSERT_EQ(shape.size(), 1u);
    EXPECT_EQ(shape[0] * filter_->encoded_type().item_size, filter_->encode(sample(count)).size());
  }
}

TEST_P(Filters, AnotherSizeThanExpectedIsAnError) {
  const std::string name = std::string(GetParam().name).substr(std::string("numcodecs.").size());
  const Bytes bytes = sample(100);
  const Bytes encoded = encoded_by(*filter_, bytes);
  for (const std::size_t size : {bytes.size() - 1, bytes.size() + 1, bytes.size() * 2}) {
    EXPECT_ERROR(decoded_by(*filter_, encoded, size), name + ": ", "are expected");
  }
  EXPECT_ERROR(filter_->decode(encoded, bytes.size() - 1), name + ": ", "that can be right");
  for (std::size_t size = 0; size < encoded.size(); ++size) {
    const ByteSpan part = std::span(encoded).first(size);
    EXPECT_ERROR(decoded_by(*filter_, part, bytes.size()), name + ": ") << size;
  }
  Bytes longer = encoded;
  longer.insert(longer.end(), 16, std::byte{1});
  EXPECT_ERROR(decoded_by(*filter_, longer, bytes.size()), name + ": ");
}

TEST_P(Filters, AnyBytesOfTheRightSizeDecodeWithinTheDestination) {
  Random random(5);
  constexpr std::size_t kCount = 301;
  constexpr std::size_t kGuard = 64;
  const std::size_t size = kCount * GetParam().type.item_size;
  for (int round = 0; round < 200; ++round) {
    Bytes encoded = random_bytes(random, *filter_->encoded_size(size));
    if (std::string_view(GetParam().label) == "Packbits") encoded[0] = std::byte{3};
    Bytes memory(kGuard + size + kGuard, std::byte{0xee});
    try {
      filter_->decode(encoded, std::span(memory).subspan(kGuard, size));
    } catch (const Error&) {
      EXPECT_STREQ(GetParam().label, "AstypeText");  // of what is not ASCII
    }
    const auto is_untouched = [](std::byte byte) { return byte == std::byte{0xee}; };
    EXPECT_TRUE(std::all_of(memory.begin(), memory.begin() + kGuard, is_untouched));
    EXPECT_TRUE(std::all_of(memory.end() - kGuard, memory.end(), is_untouched));
  }
}

TEST_P(Filters, AnyElementsEncodeOrAreNamed) {
  Random random(6);
  for (int round = 0; round < 200; ++round) {
    const Bytes bytes = random_bytes(random, 301 * GetParam().type.item_size);
    try {
      EXPECT_EQ(filter_->encode(bytes).size(), filter_->encoded_size(bytes.size()));
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what())
                    .find(GetParam().label == std::string_view("AstypeText")
                              ? "not ASCII"
                              : "which cannot be stored: it would become"),
                std::string::npos)
          << error.what();
    }
  }
}

// Chains of v3 have them before the bytes codec, chains of v2 after it.
TEST_P(Filters, StandOnEitherSideOfTheBytesCodec) {
  const std::string filter = std::string(R"({"name": ")") + GetParam().name +
                             R"(", "configuration": )" + GetParam().configuration + "}";
  const std::string bytes = R"({"name": "bytes", "configuration": {"endian": "little"}})";
  const ChunkSpec spec = spec_of({7, 5}, GetParam().type);
  const Bytes decoded = sample(35);
  const std::vector<ByteUnit> units = byte_units(GetParam().type);
  const std::size_t unit = units.empty() ? 1 : units.front().size;
  for (const std::string& codecs : {filter + "," + bytes, bytes + "," + filter}) {
    const CodecChain chain = make_chain("[" + codecs + "]", spec);
    const Buffer encoded = chain.encode(in_host_order(decoded, unit));
    EXPECT_EQ(chain.encoded_size(), encoded.size());
    const DecodedChunk chunk = chain.decode(encoded.span());
    EXPECT_EQ(in_host_order(to_bytes(chunk.elements.span()), unit),
              decoded_by(*filter_, filter_->encode(decoded).span(), decoded.size()));
  }
}

}  // namespace
}  // namespace zarrcore::test::filters_test
