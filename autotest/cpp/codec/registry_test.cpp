#include "zarrcore/codec/registry.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "autotest/cpp/support/codecs.h"
#include "autotest/cpp/support/expect_error.h"

namespace zarrcore::test {
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
               "\"numcodecs.pickle\" is not supported: to decode it could run any code");
  EXPECT_ERROR(chain_with("numcodecs.pcodec"), "needs the library pcodec");
  EXPECT_ERROR(chain_with("numcodecs.imagecodecs_tiff"), "its chunks are TIFF files");
  EXPECT_ERROR(chain_with("numcodecs.vlen-array"), "\"numcodecs.vlen-array\" is not supported: ");
  EXPECT_EQ(refusal_reason("numcodecs.other"), "");
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
  const CodecFactory gzip = find_codec("gzip");
  set_codec_provider([](std::string_view name) -> CodecFactory {
    return name == "reverse" || name == "gzip" ? &make_reverse : nullptr;
  });
  const CodecChain chain = make_chain(R"(["bytes", "reverse"])", spec_of({3}));
  EXPECT_EQ(find_codec("gzip"), gzip);
  EXPECT_EQ(find_codec("other"), nullptr);
  set_codec_provider(nullptr);
  EXPECT_EQ(find_codec("reverse"), nullptr);
  const Buffer encoded = chain.encode(bytes_of({1, 2, 3}));
  EXPECT_EQ(Bytes(encoded.span().begin(), encoded.span().end()), bytes_of({3, 2, 1}));
}

}  // namespace
}  // namespace zarrcore::test
