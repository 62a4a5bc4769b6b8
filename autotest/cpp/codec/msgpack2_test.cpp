#include <gtest/gtest.h>

#include "autotest/cpp/support/array_codecs.h"
#include "autotest/cpp/support/expect_error.h"

namespace zarrcore::test::msgpack2_test {
namespace {

using Texts = std::vector<std::string>;

// MsgPack().encode(np.array([['a', 'b\u00e9', ''], ['\U0001f30d', '"\\', 'x']], dtype=object))
constexpr const char* kFromNumcodecs = "9493a161a362c3a9a093a4f09f8c8da2225ca178a27c4f920203";
const Texts kTexts{"a", "b\xc3\xa9", "", "\xf0\x9f\x8c\x8d", "\"\\", "x"};

auto make_msgpack2(const Shape& shape) {
  return make_array_to_bytes("numcodecs.msgpack2", "{}", spec_of(shape, kString));
}

TEST(Msgpack2, ReadsAndWritesWhatNumcodecsWrites) {
  const auto codec = make_msgpack2({2, 3});
  EXPECT_EQ(texts_by(*codec, from_hex(kFromNumcodecs), 6), kTexts);
  EXPECT_EQ(encoded_by(*codec, elements(kTexts)), from_hex(kFromNumcodecs));
}

TEST(Msgpack2, OtherItemsBecomeTextToo) {
  // MsgPack().encode(np.array(['a', 1, None, b'raw', [1, 'z']], dtype=object))
  EXPECT_EQ(texts_by(*make_msgpack2({5}), from_hex("97a16101c0c4037261779201a17aa27c4f9105"), 5),
            (Texts{"a", "1", "null", "raw", R"([1,"z"])"}));
  // MsgPack().encode(np.array([1.5, -1, True, {'k': 0}], dtype=object))
  EXPECT_EQ(
      texts_by(*make_msgpack2({4}), from_hex("96cb3ff8000000000000ffc381a16b00a27c4f9104"), 4),
      (Texts{"1.5", "-1", "true", R"({"k":0})"}));
}

TEST(Msgpack2, ItsPredecessorHasNoShape) {
  // LegacyMsgPack().encode(np.array(['a', '', 'b\u00e9'], dtype=object))
  const Bytes stored = from_hex("94a161a0a362c3a9a27c4f");
  for (const Shape& shape : {Shape{3}, Shape{1, 3}}) {
    const auto codec = make_array_to_bytes("numcodecs.msgpack", "{}", spec_of(shape, kString));
    EXPECT_EQ(texts_by(*codec, stored, 3), (Texts{"a", "", "b\xc3\xa9"}));
    EXPECT_EQ(encoded_by(*codec, elements(Texts{"a", "", "b\xc3\xa9"})), stored);
  }
  const auto codec = make_array_to_bytes("numcodecs.msgpack", "{}", spec_of({2}, kString));
  EXPECT_ERROR(texts_by(*codec, stored, 2), "msgpack: the list has 3 items");
}

TEST(Msgpack2, RoundTripsAllSizes) {
  for (const Shape& shape :
       {Shape{}, Shape{0}, Shape{1}, Shape{2, 0}, Shape{3, 5, 7}, Shape{70001}}) {
    const std::size_t count = spec_of(shape, kString).byte_count() / sizeof(VariableElement);
    Texts expected;
    for (std::size_t i = 0; i < count; ++i) expected.push_back(std::string(i % 300, 'x'));
    const auto codec = make_msgpack2(shape);
    EXPECT_EQ(texts_by(*codec, encoded_by(*codec, elements(expected)), count), expected);
  }
}

TEST(Msgpack2, TruncatedAndExtendedBytesAreErrors) {
  const Bytes encoded = from_hex(kFromNumcodecs);
  for (std::size_t size = 0; size < encoded.size(); ++size) {
    EXPECT_ERROR(texts_by(*make_msgpack2({2, 3}), {encoded.begin(), encoded.begin() + size}, 6),
                 "msgpack2: not valid MessagePack");
  }
  EXPECT_ERROR(texts_by(*make_msgpack2({2, 3}), from_hex(std::string(kFromNumcodecs) + "00"), 6),
               "msgpack2: not valid MessagePack");
}

TEST(Msgpack2, NeitherDepthNorStatedSizesAreDangerous) {
  EXPECT_ERROR(texts_by(*make_msgpack2({1}), Bytes(1'000'000, std::byte{0x91}), 1),
               "nested deeper than 256");
  EXPECT_ERROR(texts_by(*make_msgpack2({1}), from_hex("ddffffffff"), 1), "not valid MessagePack");
  EXPECT_ERROR(texts_by(*make_msgpack2({1}), from_hex("93dbffffffff61"), 1),
               "not valid MessagePack");
}

TEST(Msgpack2, RefusesTextThatIsNotUtf8AndListsThatAreNotTheChunk) {
  EXPECT_ERROR(texts_by(*make_msgpack2({1}), from_hex("93a1ffa27c4f9101"), 1),
               "element 0 is not UTF-8");
  EXPECT_ERROR(texts_by(*make_msgpack2({1}), from_hex("93a161a27c4f9102"), 1),
               "the shape is [2] where [1] is expected");
  EXPECT_ERROR(texts_by(*make_msgpack2({1}), from_hex("01"), 1), "not a list");
}

TEST(Msgpack2, NoiseIsAnErrorOrText) {
  Random random(21);
  const auto codec = make_msgpack2({2, 3});
  for (int round = 0; round < 5000; ++round) {
    Bytes corrupt = from_hex(kFromNumcodecs);
    for (std::uint64_t i = random_number(random, 1, 3); i > 0; --i) {
      corrupt[random_number(random, 0, corrupt.size() - 1)] = std::byte(random() & 0xff);
    }
    try {
      texts_by(*codec, corrupt, 6);
    } catch (const Error&) {
    }
  }
}

}  // namespace
}  // namespace zarrcore::test::msgpack2_test
