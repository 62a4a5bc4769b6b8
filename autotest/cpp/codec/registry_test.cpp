#include "zarrcore/codec/registry.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace zarrcore::test
