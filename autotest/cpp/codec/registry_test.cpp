#include "zarrcore/codec/registry.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "autotest/cpp/support/codecs.h"
#include "autotest/cpp/support/expect_error.h"

namespace zarrcore::test::registry_test {
namespace {

TEST(Registry, KnowsTheCodecsOfTheSpecificationAndOfNumcodecs) {
  for (const char* name : {"bytes", "endian", "transpose", "blosc", "gzip", "zlib", "zstd",
                           "crc32c", "sharding_indexed", "numcodecs.blosc", "numcodecs.gzip",
                           "numcodecs.zlib", "numcodecs.zstd", "numcodecs.crc32c"}) {
    EXPECT_NE(find_codec(name), nullptr) << name;
  }
}

TEST(Registry, OtherNamesAreNone) {
  for (const char* name : {"", "Gzip", "gzip ", "numcodecs.pickle", "numcodecs.numcodecs.gzip"}) {
    EXPECT_EQ(find_codec(name), nullptr) << name;
  }
}

TEST(Registry, KnowsTheFiltersAndCompressorsOfNumcodecs) {
  for (const char* id : {"adler32", "astype", "base64", "bitround", "bz2", "categorize", "crc32",
                         "delta", "fixedscaleoffset", "fletcher32", "jenkins_lookup3", "lz4",
                         "lzma", "packbits", "quantize", "shuffle"}) {
    EXPECT_NE(find_codec(std::string("numcodecs.") + id), nullptr) << id;
  }
}

TEST(Registry, WhatIsKnownAndNotSupportedHasAReason) {
  const auto chain_with = [](const std::string& name) {
    return make_chain(R"([{"name": "bytes"}, {"name": ")" + name + R"("}])", spec_of({1}));
  };
  EXPECT_ERROR(chain_with("numcodecs.pickle"),
               "\"numcodecs.pickle\" is not supported: decoding it could run any code");
  EXPECT_ERROR(chain_with("numcodecs.pcodec"), "copy the array with zarr-python");
  EXPECT_ERROR(chain_with("zarrs.gdeflate"), "copy the array with zarrs");
  EXPECT_ERROR(chain_with("numcodecs.imagecodecs_tiff"), "its chunks are TIFF files");
  EXPECT_EQ(refusal_reason("numcodecs.other"), "");
}

TEST(Registry, ZarrsNamesItsCodecsByUrlsToo) {
  for (const char* name : {"https://codec.zarrs.dev/array_to_bytes/vlen", "zarrs.vlen_v2",
                           "https://codec.zarrs.dev/bytes_to_bytes/fletcher32",
                           "https://codec.zarrs.dev/array_to_array/bitround"}) {
    EXPECT_NE(find_codec(name), nullptr) << name;
  }
  EXPECT_EQ(find_codec("https://codec.zarrs.dev/array_to_bytes/other"), nullptr);
  EXPECT_EQ(find_codec("https://codec.zarrs.dev/"), nullptr);
  EXPECT_EQ(find_codec("zarrs."), nullptr);
  EXPECT_NE(refusal_reason("https://codec.zarrs.dev/bytes_to_bytes/gdeflate"), "");
  EXPECT_NE(refusal_reason("https://codec.zarrs.dev/array_to_bytes/pcodec"), "");
  EXPECT_EQ(refusal_reason("zarrs.other"), "");
}

TEST(Registry, MembersThatACodecDoesNotKnowAreErrors) {
  const auto chain_of = [](const std::string& codecs) { return make_chain(codecs, spec_of({4})); };
  const std::string before = R"({"name": "bytes"}, )";
  for (const char* name : {"gzip", "zstd", "blosc", "crc32c", "numcodecs.zlib", "numcodecs.shuffle",
                           "numcodecs.lzma", "numcodecs.fletcher32"}) {
    EXPECT_ERROR(chain_of("[" + before + R"({"name": ")" + name +
                          R"(", "configuration": {"dictionary": null}}])"),
                 std::string("codec \"") + name + '"',
                 "the configuration has a member \"dictionary\" that is not supported");
  }
  EXPECT_ERROR(chain_of(R"([{"name": "bytes", "configuration": {"endian": "big", "bits": 7}}])"),
               "codec \"bytes\"", "a member \"bits\"");
  EXPECT_ERROR(chain_of("[" + before + R"({"name": "crc32c",
                        "configuration": {"location": "start"}}])"),
               "a member \"location\"");
  // A name is not a part of another one.
  EXPECT_ERROR(chain_of("[" + before + R"({"name": "zstd", "configuration": {"check": 1}}])"),
               "a member \"check\"");
  EXPECT_ERROR(chain_of("[" + before + R"({"name": "zstd", "configuration": {"": 1}}])"),
               "a member \"\"");
  EXPECT_ERROR(chain_of(R"([{"name": "sharding_indexed", "configuration": {"chunk_shape": [2],
                           "codecs": ["bytes"], "index_codecs": ["bytes"], "order": "F"}}])"),
               "a member \"order\"");
}

TEST(Registry, MembersThatWritersAddWithoutMeaningAreAccepted) {
  for (const char* codec :
       {R"({"name": "numcodecs.lzma", "configuration": {"preset": 6, "delta": 1}})",
        R"({"name": "numcodecs.blosc", "configuration": {"cname": "lz4", "typesize": 1}})"}) {
    EXPECT_NO_THROW(make_chain(R"([{"name": "bytes"}, )" + std::string(codec) + "]", spec_of({4})));
  }
  const DataType text{TypeKind::variable_string, sizeof(VariableElement)};
  EXPECT_NO_THROW(make_chain(R"([{"name": "numcodecs.json2", "configuration": {
      "encoding": "utf-8", "skipkeys": false, "ensure_ascii": true, "check_circular": true,
      "allow_nan": true, "indent": null, "separators": [",", ":"], "sort_keys": true,
      "strict": true}}])",
                             spec_of({4}, text)));
}

class Reverse final : public BytesToBytesCodec {
 public:
  Buffer encode(ByteSpan decoded) const override {
    Buffer encoded(decoded.size());
    std::reverse_copy(decoded.begin(), decoded.end(), encoded.data());
    return encoded;
  }
  void decode(ByteSpan encoded, MutableByteSpan decoded) const override {
    std::reverse_copy(encoded.begin(), encoded.end(), decoded.begin());
  }
  Buffer decode(ByteSpan encoded, std::uint64_t /*max_size*/) const override {
    return encode(encoded);
  }
};

Codec make_reverse(const Json& /*configuration*/, const ChunkSpec& /*spec*/) {
  return std::make_unique<Reverse>();
}

TEST(Registry, AProviderAddsCodecsButReplacesNone) {
  EXPECT_EQ(find_codec("reverse"), nullptr);
  set_codec_provider([](std::string_view name) -> CodecFactory {
    return name == "reverse" || name == "gzip" ? &make_reverse : nullptr;
  });
  const CodecChain chain = make_chain(R"(["bytes", "reverse"])", spec_of({3}));
  EXPECT_NE(make_chain(R"(["bytes", "gzip"])", spec_of({3})).encode(bytes_of({1, 2, 3})).size(),
            3u);
  EXPECT_EQ(find_codec("other"), nullptr);
  set_codec_provider(nullptr);
  EXPECT_EQ(find_codec("reverse"), nullptr);
  const Buffer encoded = chain.encode(bytes_of({1, 2, 3}));
  EXPECT_EQ(Bytes(encoded.span().begin(), encoded.span().end()), bytes_of({3, 2, 1}));
}

}  // namespace
}  // namespace zarrcore::test::registry_test
