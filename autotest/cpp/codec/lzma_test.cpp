#include <gtest/gtest.h>

#include "autotest/cpp/support/bytes.h"
#include "autotest/cpp/support/codecs.h"
#include "autotest/cpp/support/expect_error.h"

namespace zarrcore::test::lzma_test {
namespace {

// What numcodecs.LZMA made of bytes(i // 7 % 50 for i in range(300)).
struct Example {
  const char* configuration;
  const char* encoded;
};
constexpr Example kXz{
    "{}",
    "fd377a585a000004e6d6b4460200210116000000742fe5a3e0012b004a5d000069fecd06999ced7c1edcaf3b2d300d"
    "8e9f602d55418aaa5e44289bb31a93d8901f138c837c9b1b308d0fd575a1961fe69aee9ed887fe25c22c3aade2195d"
    "9f2d346bcc9a886a8a7b5e00000032054fd1ae2c954f000166ac0200000086822602b1c467fb020000000004595a"};
constexpr Example kAlone{
    R"({"format": 2})",
    "5d00008000ffffffffffffffff000069fecd06999ced7c1edcaf3b2d300d8e9f602d55418aaa5e44289bb31a93d890"
    "1f138c837c9b1b308d0fd575a1961fe69aee9ed887fe25c22c3aade2195d9f2d346bcc9a886d0ae2c5ffff4b0400"
    "00"};
constexpr Example kExamples[] = {
    kXz,
    {R"({"format": 1, "check": 1, "preset": 1, "filters": null})",
     "fd377a585a0000016922de360200210110000000a8708e86e0012b004a5d000069fecd06999ced7c1edcaf3b2d300"
     "d8e9f602d55418aaa5e44289bb31a93d8901f138c837c9b1b308d0fd575a1961fe69aee9ed887fe25c22c3aade219"
     "5d9f2d346bcc9a886a8a7b5e000000de5f6113000162ac0200000090c0b7993e300d8b020000000001595a"},
    kAlone,
    {R"({"format": 3, "filters": [{"id": 3, "dist": 1}, {"id": 33, "dict_size": 4096}]})",
     "e0012b000b5d000069fec7fa96efc37b800000"},
    {R"({"format": 3, "filters":
         [{"id": 4611686018427387905, "preset": 0, "lc": 2, "lp": 1}]})",
     "000069fecd06854203a98dba8fc5449d2b2b43430b64f223c76feec6b3fc58843c29e9a45857351df5ca6f76f5673"
     "2"
     "2756d5485105dca25c2d5d7d0f7d0f2e611cfe13930d1d469ca93182ee97fffe991800"},
};

TEST(Lzma, DecodesWhatNumcodecsWrote) {
  for (const Example& example : kExamples) {
    const auto codec = make_bytes_to_bytes("numcodecs.lzma", example.configuration);
    const Bytes encoded = from_hex(example.encoded);
    EXPECT_EQ(decoded_by(*codec, encoded, 300), regular_bytes(300)) << example.configuration;
    EXPECT_EQ(to_bytes(codec->decode(encoded, 1000).span()), regular_bytes(300));
  }
}

TEST(Lzma, FiltersForMachineCode) {
  // numcodecs.LZMA(format=3, filters=[{'id': 4, 'start_offset': 16}, {'id': 33, 'preset': 1}])
  //     .encode(b'\xe8\x10\x00\x00\x00' * 10)
  const auto codec = make_bytes_to_bytes("numcodecs.lzma", R"({"format": 3, "filters":
      [{"id": 4, "start_offset": 16}, {"id": 33, "preset": 1}]})");
  Bytes code;
  for (int i = 0; i < 10; ++i) {
    for (const unsigned byte : {0xe8, 0x10, 0, 0, 0}) code.push_back(static_cast<std::byte>(byte));
  }
  EXPECT_EQ(decoded_by(*codec,
                       from_hex("e00031001c5d0074093c1a0e693c412defa72bc6276478c9de31468827f3dfc7a9"
                                "c5c000"),
                       50),
            code);
}

TEST(Lzma, RoundTripsWithEveryFilter) {
  for (const char* filters :
       {R"([{"id": 33}])", R"([{"id": 4611686018427387905, "preset": 9}])",
        R"([{"id": 3, "dist": 256}, {"id": 33, "preset": 2147483651}])",
        R"([{"id": 5}, {"id": 33, "mode": 1, "mf": 3, "nice_len": 50, "depth": 7}])",
        R"([{"id": 6}, {"id": 7}, {"id": 8}, {"id": 33, "lc": 0, "lp": 4, "pb": 4}])",
        R"([{"id": 9, "start_offset": 4096}, {"id": 33, "dict_size": 65536}])"}) {
    for (const char* format : {"1", "3"}) {
      if (*format == '1' && std::string_view(filters).find("4611686018427387905") < 20) continue;
      const auto codec =
          make_bytes_to_bytes("numcodecs.lzma", std::string(R"({"format": )") + format +
                                                    R"(, "filters": )" + filters + "}");
      for (const std::size_t size : {0, 1, 1001, 300000}) {
        EXPECT_EQ(decoded_by(*codec, codec->encode(regular_bytes(size)).span(), size),
                  regular_bytes(size))
            << filters;
      }
    }
  }
}

TEST(Lzma, EveryChangeOfTheDataIsFound) {
  const auto codec = make_bytes_to_bytes("numcodecs.lzma", kXz.configuration);
  const Bytes encoded = from_hex(kXz.encoded);
  for (std::size_t i = 0; i < encoded.size(); ++i) {
    Bytes changed = encoded;
    changed[i] ^= std::byte{0x10};
    EXPECT_ERROR(decoded_by(*codec, changed, 300), "lzma: ") << i;
  }
}

TEST(Lzma, StreamsMayFollowEachOther) {
  Bytes twice = regular_bytes(300);
  const Bytes once = twice;
  twice.insert(twice.end(), once.begin(), once.end());
  for (const Example& example : kExamples) {
    const auto codec = make_bytes_to_bytes("numcodecs.lzma", example.configuration);
    const Bytes encoded = from_hex(std::string(example.encoded) + example.encoded);
    EXPECT_EQ(decoded_by(*codec, encoded, 600), twice) << example.configuration;
    EXPECT_ERROR(decoded_by(*codec, encoded, 300), "lzma: more than the expected 300 bytes");
  }
}

TEST(Lzma, WhatFollowsAndIsNoStreamIsIgnoredAsByPython) {
  const auto codec = make_bytes_to_bytes("numcodecs.lzma", kXz.configuration);
  for (const char* rest : {"00000000", "000000000000000000000000", "a5a5a5a5a5a5a5a5a5a5a5a5"}) {
    EXPECT_EQ(decoded_by(*codec, from_hex(std::string(kXz.encoded) + rest), 300),
              regular_bytes(300));
  }
  EXPECT_ERROR(decoded_by(*codec, from_hex(std::string(kXz.encoded) + "fd377a585a00"), 300),
               "lzma: the data ends too early");
}

TEST(Lzma, ADictionaryMustNotBeMuchLargerThanTheData) {
  // A header of .lzma that demands 4 GiB.
  Bytes encoded = from_hex(kAlone.encoded);
  std::fill_n(encoded.begin() + 1, 4, std::byte{0xff});
  EXPECT_ERROR(
      decoded_by(*make_bytes_to_bytes("numcodecs.lzma", kAlone.configuration), encoded, 300),
      "lzma: the dictionary is much larger than the data");
  const auto raw = make_bytes_to_bytes("numcodecs.lzma", R"({"format": 3, "filters":
      [{"id": 33, "dict_size": 1610612736}]})");
  EXPECT_ERROR(decoded_by(*raw, Bytes(10), 300),
               "lzma: the dictionary is much larger than the data");
}

TEST(Lzma, TheSmallestDataOfManyBytesDecodes) {
  for (const char* configuration : {R"({"format": 1})", R"({"format": 2})"}) {
    const auto codec = make_bytes_to_bytes("numcodecs.lzma", configuration);
    const Bytes zeros(20'000'000);
    const Buffer encoded = codec->encode(zeros);
    EXPECT_GE(codec->max_decoded_size(encoded.span()), zeros.size());
    EXPECT_EQ(to_bytes(codec->decode(encoded.span(), zeros.size()).span()), zeros);
  }
}

TEST(Lzma, WhatMattersForEncodingAloneIsNoErrorBefore) {
  const Bytes encoded = from_hex(kXz.encoded);
  for (const auto& [configuration, problem] : std::vector<std::pair<const char*, const char*>>{
           {R"({"check": 7})", "lzma: \"check\" is 7, which is not valid"},
           {R"({"preset": 12})", "lzma: \"preset\" is 12, which is not valid"},
           {R"({"preset": -1})", "lzma: \"preset\" is -1, which is not valid"},
           {R"({"preset": 1, "filters": [{"id": 33}]})", "lzma: both \"preset\" and \"filters\""},
           {R"({"filters": [{"id": 3}]})", "lzma: these options are not supported"},
           {R"({"filters": [{"id": 33, "lc": 5}]})", "lzma: these options are not supported"}}) {
    const auto codec = make_bytes_to_bytes("numcodecs.lzma", configuration);
    EXPECT_EQ(decoded_by(*codec, encoded, 300), regular_bytes(300));
    EXPECT_ERROR(codec->encode(regular_bytes(300)), problem);
  }
  const auto alone =
      make_bytes_to_bytes("numcodecs.lzma", R"({"format": 2, "filters": [{"id": 33}]})");
  EXPECT_EQ(decoded_by(*alone, from_hex(kAlone.encoded), 300), regular_bytes(300));
  EXPECT_ERROR(alone->encode(Bytes(3)), "lzma: format 2 takes only one filter, LZMA1");
}

TEST(Lzma, RefusesConfigurationsThatAreNotRight) {
  const auto make = [](const char* configuration) {
    return make_bytes_to_bytes("numcodecs.lzma", configuration);
  };
  EXPECT_ERROR(make(R"({"format": 0})"), "\"format\" is 0 where 1, 2 or 3 is expected");
  EXPECT_ERROR(make(R"({"format": 3})"), "\"filters\" is missing, which format 3 needs");
  EXPECT_ERROR(make(R"({"filters": {"id": 33}})"), "\"filters\" is neither a list nor null");
  EXPECT_ERROR(make(R"({"filters": [33]})"), "the filter 33 has no \"id\"");
  EXPECT_ERROR(make(R"({"filters": [{"id": 99}]})"), "has no \"id\" of an lzma filter");
  EXPECT_ERROR(make(R"({"filters": [{"id": 33, "preset": 10}]})"), "\"preset\" is 10");
  EXPECT_ERROR(make(R"({"filters": [{"id": 33, "mode": 9}]})"), "\"mode\" is 9");
  EXPECT_ERROR(make(R"({"filters": [{"id": 33, "mf": 0}]})"), "\"mf\" is 0");
  EXPECT_ERROR(make(R"({"filters": [{"id": 33, "dict_size": -1}]})"), "\"dict_size\" is -1");
  EXPECT_ERROR(make(R"({"filters": [{"id": 3}, {"id": 3}, {"id": 3}, {"id": 3}, {"id": 33}]})"),
               "\"filters\" has 5 filters; at most 4 are possible");
}

}  // namespace
}  // namespace zarrcore::test::lzma_test
