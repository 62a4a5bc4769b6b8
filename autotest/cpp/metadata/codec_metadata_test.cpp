#include "zarrcore/metadata/codec_metadata.h"

#include <gtest/gtest.h>

#include "autotest/cpp/support/expect_error.h"

namespace zarrcore::test::codec_metadata_test {
namespace {

NamedConfiguration parsed(std::string_view json) {
  return parse_named_configuration(parse_json(json), "a codec");
}

TEST(NamedConfiguration, HasANameAndAConfiguration) {
  const NamedConfiguration codec = parsed(R"({"name": "gzip", "configuration": {"level": 1}})");
  EXPECT_EQ(codec.name, "gzip");
  EXPECT_EQ(codec.configuration["level"], 1);
  EXPECT_TRUE(codec.must_understand);
}

TEST(NamedConfiguration, MayBeANameAlone) {
  for (const char* json :
       {R"("crc32c")", R"({"name": "crc32c"})", R"({"name": "crc32c", "configuration": null})"}) {
    const NamedConfiguration codec = parsed(json);
    EXPECT_EQ(codec.name, "crc32c");
    EXPECT_EQ(codec.configuration, Json::object());
  }
}

TEST(NamedConfiguration, MaySayThatItNeedNotBeUnderstood) {
  EXPECT_FALSE(parsed(R"({"name": "x", "must_understand": false})").must_understand);
  EXPECT_TRUE(parsed(R"({"name": "x", "must_understand": true})").must_understand);
}

TEST(NamedConfiguration, RefusesWhatIsNone) {
  EXPECT_ERROR(parsed("7"), "a codec is an integer where an object is expected");
  EXPECT_ERROR(parsed("null"), "a codec is null");
  EXPECT_ERROR(parsed("{}"), "a codec has no \"name\"");
  EXPECT_ERROR(parsed(R"({"name": 7})"), "a codec has no \"name\" that is a string");
  EXPECT_ERROR(parsed(R"({"name": "x", "configuration": []})"), "\"x\"", "is a list");
  EXPECT_ERROR(parsed(R"({"name": "x", "must_understand": "no"})"), "\"must_understand\"");
}

TEST(NamedConfiguration, ComeInLists) {
  const auto codecs = parse_codec_list(parse_json(R"(["bytes", {"name": "gzip"}])"), "\"codecs\"");
  ASSERT_EQ(codecs.size(), 2);
  EXPECT_EQ(codecs[0].name, "bytes");
  EXPECT_EQ(codecs[1].name, "gzip");
  EXPECT_ERROR(parse_codec_list(parse_json("{}"), "\"codecs\""), "\"codecs\" is an object");
  EXPECT_ERROR(parse_codec_list(parse_json("[1]"), "\"codecs\""), "a codec is an integer");
}

}  // namespace
}  // namespace zarrcore::test::codec_metadata_test
