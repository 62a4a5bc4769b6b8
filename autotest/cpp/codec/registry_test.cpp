#include "zarrcore/codec/registry.h"

#include <gtest/gtest.h>

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
  EXPECT_ERROR(chain_with("numcodecs.imagecodecs_tiff"), "needs the library imagecodecs");
  EXPECT_ERROR(chain_with("numcodecs.vlen-array"), "\"numcodecs.vlen-array\" is not supported: ");
  EXPECT_EQ(refusal_reason("numcodecs.other"), "");
}

}  // namespace
}  // namespace zarrcore::test
