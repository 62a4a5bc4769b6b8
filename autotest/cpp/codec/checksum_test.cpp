// The checksums of numcodecs; crc32c is in a file of its own.
#include <gtest/gtest.h>

#include "autotest/cpp/support/bytes.h"
#include "autotest/cpp/support/codecs.h"
#include "autotest/cpp/support/expect_error.h"

namespace zarrcore::test::checksum_test {
namespace {

TEST(Crc32, StandsInFrontUnlessItIsToldOtherwise) {
  // numcodecs.CRC32().encode(b'123456789')
  const auto at_start = make_bytes_to_bytes("numcodecs.crc32");
  const Bytes text = bytes_of("123456789");
  EXPECT_EQ(to_bytes(at_start->encode(text).span()), from_hex("2639f4cb313233343536373839"));
  EXPECT_EQ(at_start->framing()->prefix, 4u);
  const auto at_end = make_bytes_to_bytes("numcodecs.crc32", R"({"location": "end"})");
  EXPECT_EQ(to_bytes(at_end->encode(text).span()), from_hex("3132333435363738392639f4cb"));
  EXPECT_EQ(at_end->framing()->suffix, 4u);
}

TEST(Adler32, StandsInFrontUnlessItIsToldOtherwise) {
  // numcodecs.Adler32().encode(b'Wikipedia')
  const auto at_start = make_bytes_to_bytes("numcodecs.adler32");
  EXPECT_EQ(to_bytes(at_start->encode(bytes_of("Wikipedia")).span()),
            from_hex("9803e61157696b697065646961"));
  const auto at_end = make_bytes_to_bytes("numcodecs.adler32", R"({"location": "end"})");
  EXPECT_EQ(to_bytes(at_end->encode({}).span()), from_hex("01000000"));
}

// What numcodecs 0.16 appended to these bytes.
struct Example {
  Bytes bytes;
  const char* checksum;
};

Bytes all_bytes() {
  // bytes(range(256)) * 5 + b'xyz'
  Bytes bytes;
  for (unsigned i = 0; i < 5 * 256; ++i) bytes.push_back(static_cast<std::byte>(i & 0xff));
  for (const char c : {'x', 'y', 'z'}) bytes.push_back(static_cast<std::byte>(c));
  return bytes;
}

void expect_checksums(const BytesToBytesCodec& codec, const std::vector<Example>& examples) {
  for (const Example& example : examples) {
    const Buffer encoded = codec.encode(example.bytes);
    EXPECT_EQ(to_bytes(encoded.span().last(4)), from_hex(example.checksum)) << example.bytes.size();
    EXPECT_EQ(to_bytes(codec.unframe(encoded.span())), example.bytes);
  }
}

TEST(Fletcher32, SumsAsHdf5Does) {
  // numcodecs.Fletcher32().encode(…)[-4:]
  expect_checksums(*make_bytes_to_bytes("numcodecs.fletcher32"),
                   {{bytes_of("a"), "00610061"},
                    {bytes_of("ab"), "62616261"},
                    {bytes_of("abc"), "62c4c525"},
                    {bytes_of("abcdef"), "2d2a5650"},
                    {all_bytes(), "b8b37cd7"},
                    {Bytes(1000, std::byte{0xff}), "ffffffff"},
                    {Bytes(400001, std::byte{0xff}), "00ff00ff"}});
}

TEST(Fletcher32, DoesNotOverflow) {
  // Sums of nothing but 0xffff are 0xffff, however many there are.
  const auto codec = make_bytes_to_bytes("numcodecs.fletcher32");
  const Buffer encoded = codec->encode(Bytes(10'000'000, std::byte{0xff}));
  EXPECT_EQ(to_bytes(encoded.span().last(4)), from_hex("ffffffff"));
}

TEST(JenkinsLookup3, HashesAsNumcodecsDoes) {
  // numcodecs.checksum32.JenkinsLookup3().encode(…)[-4:]
  expect_checksums(*make_bytes_to_bytes("numcodecs.jenkins_lookup3"),
                   {{{}, "efbeadde"},
                    {bytes_of("a"), "0887d658"},
                    {bytes_of("abc"), "3176390e"},
                    {from_hex("01020304"), "ddcd3f04"},
                    {from_hex("0102030405060708090a0b"), "8cf69418"},
                    {from_hex("0102030405060708090a0b0c"), "13b87124"},
                    {from_hex("0102030405060708090a0b0c0d"), "e5a0d7e7"},
                    {all_bytes(), "be73108d"},
                    {Bytes(400001, std::byte{0xff}), "dce3c368"}});
}

TEST(JenkinsLookup3, StartsWithAValueAndAPrefix) {
  // JenkinsLookup3(initval=0xffffffff)
  expect_checksums(*make_bytes_to_bytes("numcodecs.jenkins_lookup3", R"({"initval": 4294967295})"),
                   {{{}, "eebeadde"}, {from_hex("01"), "a15ddc0a"}});
  // JenkinsLookup3(initval=7, prefix=b'abc')
  expect_checksums(
      *make_bytes_to_bytes("numcodecs.jenkins_lookup3",
                           R"({"initval": 7, "prefix": [97, 98, 99]})"),
      {{bytes_of("a"), "e075492e"}, {bytes_of("abcdef"), "1f6c8125"}, {all_bytes(), "e0f19d0b"}});
}

class Checksums : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Numcodecs, Checksums,
                         testing::Values("crc32", "adler32", "fletcher32", "jenkins_lookup3"));

TEST_P(Checksums, EveryChangedByteIsFound) {
  const std::string name = GetParam();
  const auto codec = make_bytes_to_bytes("numcodecs." + name);
  const Bytes encoded = to_bytes(codec->encode(regular_bytes(101)).span());
  for (std::size_t i = 0; i < encoded.size(); ++i) {
    Bytes changed = encoded;
    changed[i] ^= std::byte{0x10};
    EXPECT_ERROR(decoded_by(*codec, changed, 101), name + ": the checksum is wrong");
  }
  EXPECT_ERROR(decoded_by(*codec, Bytes(3), 0), name + ": 3 bytes are too few");
  EXPECT_ERROR(decoded_by(*codec, encoded, 102), name + ": 101 bytes where 102 are expected");
}

TEST(Checksums, RefuseConfigurationsThatAreNotRight) {
  EXPECT_ERROR(make_bytes_to_bytes("numcodecs.crc32", R"({"location": "middle"})"),
               R"("location" is "middle", none of start, end)");
  EXPECT_ERROR(make_bytes_to_bytes("numcodecs.adler32", R"({"location": 1})"), "\"location\" is 1");
  for (const char* initval : {"-1", "4294967296"}) {
    EXPECT_ERROR(make_bytes_to_bytes("numcodecs.jenkins_lookup3",
                                     std::string(R"({"initval": )") + initval + "}"),
                 "not a number of 32 bits");
  }
  EXPECT_ERROR(make_bytes_to_bytes("numcodecs.jenkins_lookup3", R"({"prefix": [256]})"),
               "\"prefix\" is not a list of bytes");
  EXPECT_ERROR(make_bytes_to_bytes("numcodecs.jenkins_lookup3", R"({"prefix": "abc"})"),
               "\"prefix\"");
}

}  // namespace
}  // namespace zarrcore::test::checksum_test
