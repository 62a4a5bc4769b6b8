// N5: how its documents become the model of Zarr.
#include <gtest/gtest.h>

#include "autotest/cpp/support/bytes.h"
#include "autotest/cpp/support/documents.h"
#include "autotest/cpp/support/expect_error.h"
#include "zarrcore/metadata/documents.h"
#include "zarrcore/metadata/format.h"

namespace zarrcore::test::n5_test {
namespace {

std::optional<NodeMetadata> read_root(const std::string& text) {
  return n5_format().read_node(documents_of_texts([&](const std::string& key) {
                                 return key == "attributes.json" ? std::optional(text)
                                                                 : std::nullopt;
                               }),
                               "");
}

std::string document(const std::string& compression) {
  return R"({"dimensions": [6, 4], "blockSize": [3, 2], "dataType": "uint16", "units": "K", )" +
         compression + "}";
}

ArrayMetadata array_of(const std::string& compression) {
  return std::get<ArrayMetadata>(read_root(document(compression)).value());
}

TEST(N5, DimensionsAreReversed) {
  const ArrayMetadata array = array_of(R"("compression": {"type": "raw"})");
  EXPECT_EQ(array.shape, (Shape{4, 6}));
  EXPECT_EQ(array.chunk_shape, (Shape{2, 3}));
  EXPECT_EQ(array.chunk_key_encoding.encode(Shape{1, 0}, "a"), "a/0/1");
  EXPECT_EQ(array.fill_value, bytes_in_memory(std::uint16_t{0}));
  EXPECT_EQ(array.attributes, parse_json(R"({"units": "K"})"));
  EXPECT_EQ(array.codecs.front().name, "n5.block");
}

TEST(N5, CompressionsAreCodecs) {
  const auto compressor = [](const std::string& compression) {
    return array_of(compression).codecs.front().configuration["codecs"].back()["name"];
  };
  EXPECT_EQ(compressor(R"("compression": {"type": "gzip", "useZlib": true})"), "numcodecs.zlib");
  EXPECT_EQ(compressor(R"("compression": {"type": "gzip", "useZlib": false})"), "numcodecs.gzip");
  EXPECT_EQ(compressor(R"("compressionType": "xz")"), "numcodecs.lzma");
  EXPECT_EQ(compressor(R"("compression": {"type": "lz4", "blockSize": 65536})"), "n5.lz4");
  EXPECT_EQ(compressor(R"("compression": {"type": "lz4", "acceleration": 1})"), "numcodecs.lz4");
  EXPECT_ERROR(compressor(R"("compression": {"level": 1})"), "is not an object with a \"type\"");
}

TEST(N5, OnlyRootsAndArraysAreRecognized) {
  EXPECT_TRUE(read_root(R"({"n5": "2.0.0", "x": 1})").has_value());
  for (const char* text : {"{}", "[]", "7", R"({"n5": 4})", R"({"dimensions": [4]})"}) {
    EXPECT_FALSE(read_root(text).has_value()) << text;
  }
  EXPECT_ERROR(read_root(R"({"n5": "5.0.0"})"), "versions up to 4 are supported");
}

}  // namespace
}  // namespace zarrcore::test::n5_test
