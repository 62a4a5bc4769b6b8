#include <gtest/gtest.h>

#include "autotest/cpp/support/bytes.h"
#include "autotest/cpp/support/expect_error.h"
#include "zarrcore/metadata/documents.h"

namespace zarrcore::test::v3_test {
namespace {

Json document() {
  return parse_json(R"({
    "zarr_format": 3, "node_type": "array", "shape": [20, 30], "data_type": "int16",
    "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [10, 15]}},
    "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
    "fill_value": -1, "codecs": [{"name": "bytes", "configuration": {"endian": "big"}}, "crc32c"],
    "attributes": {"units": "K"}, "dimension_names": ["lat", null]
  })");
}

Json with(std::string_view key, std::string_view json) {
  Json changed = document();
  changed[std::string(key)] = parse_json(json);
  return changed;
}

Json without(std::string_view key) {
  Json changed = document();
  changed.erase(std::string(key));
  return changed;
}

ArrayMetadata parsed(const Json& json) {
  return std::get<ArrayMetadata>(parse_v3_node(json, "a/b"));
}

using Names = std::vector<std::optional<std::string>>;

TEST(V3Array, BecomesTheOneModel) {
  const ArrayMetadata array = parsed(document());
  EXPECT_EQ(array.shape, (Shape{20, 30}));
  EXPECT_EQ(array.chunk_shape, (Shape{10, 15}));
  EXPECT_EQ(array.data_type, (DataType{TypeKind::signed_integer, 2}));
  EXPECT_EQ(array.fill_value, bytes_of({0xff, 0xff}));
  EXPECT_TRUE(array.fill_value_is_mandatory);
  EXPECT_EQ(array.chunk_key_encoding, (ChunkKeyEncoding{ChunkKeyEncoding::Kind::default_, '/'}));
  EXPECT_EQ(array.attributes, parse_json(R"({"units": "K"})"));
  EXPECT_EQ(array.dimension_names, (Names{"lat", std::nullopt}));
  EXPECT_EQ(array.chunk_prefix, "a/b");
  ASSERT_EQ(array.codecs.size(), 2);
  EXPECT_EQ(array.codecs[0].name, "bytes");
  EXPECT_EQ(array.codecs[1].name, "crc32c");
}

TEST(V3Array, OptionalMembersMayBeMissingOrNull) {
  for (const char* key : {"attributes", "dimension_names", "storage_transformers"}) {
    EXPECT_NO_THROW(parsed(without(key))) << key;
    EXPECT_NO_THROW(parsed(with(key, "null"))) << key;
  }
  EXPECT_EQ(parsed(without("dimension_names")).dimension_names, Names(2));
  EXPECT_EQ(parsed(without("attributes")).attributes, Json::object());
  EXPECT_NO_THROW(parsed(with("storage_transformers", "[]")));
}

TEST(V3Array, AFillValueOfNullIsUndefined) {
  EXPECT_EQ(parsed(with("fill_value", "null")).fill_value, std::nullopt);
}

TEST(V3Array, CodecsAreTheListOfTheDocumentEvenIfItIsIncomplete) {
  const auto names = [](const Json& document) {
    std::string text;
    for (const CodecMetadata& codec : parsed(document).codecs) {
      text += codec.name + dump_json(codec.configuration) + ' ';
    }
    return text;
  };
  EXPECT_EQ(names(without("codecs")), "");
  EXPECT_EQ(names(with("codecs", "[]")), "");
  EXPECT_EQ(names(with("codecs", R"(["bytes", "zstd"])")), "bytes{} zstd{} ");
  // Of GDAL 3.8.
  EXPECT_EQ(names(with("codecs", R"([{"name": "transpose", "configuration": {"order": "F"}}])")),
            R"(transpose{"order":[1,0]} )");
  EXPECT_EQ(names(with("codecs", R"([{"name": "transpose", "configuration": {"order": "C"}}])")),
            R"(transpose{"order":[0,1]} )");
}

TEST(V3Array, WithoutCodecsNobodyKnowsTheBytesOfAString) {
  Json changed = without("codecs");
  changed["data_type"] = "string";
  changed["fill_value"] = "";
  EXPECT_ERROR(parsed(changed), "the member \"codecs\" is missing");
}

TEST(V3Array, ChunkKeyEncodingsInEverySpelling) {
  using Kind = ChunkKeyEncoding::Kind;
  const auto encoding = [](std::string_view json) {
    return parsed(with("chunk_key_encoding", json)).chunk_key_encoding;
  };
  EXPECT_EQ(encoding(R"({"name": "default"})"), (ChunkKeyEncoding{Kind::default_, '/'}));
  EXPECT_EQ(encoding(R"("default")"), (ChunkKeyEncoding{Kind::default_, '/'}));
  EXPECT_EQ(encoding(R"({"name": "default", "configuration": {"separator": "."}})"),
            (ChunkKeyEncoding{Kind::default_, '.'}));
  EXPECT_EQ(encoding(R"({"name": "v2"})"), (ChunkKeyEncoding{Kind::v2, '.'}));
  EXPECT_EQ(encoding(R"({"name": "v2", "configuration": {"separator": "/"}})"),
            (ChunkKeyEncoding{Kind::v2, '/'}));
}

TEST(V3Array, EveryMemberThatIsMissingIsNamed) {
  for (const char* key : {"zarr_format", "node_type", "shape", "data_type", "chunk_grid",
                          "chunk_key_encoding", "fill_value"}) {
    EXPECT_ERROR(parsed(without(key)), "\"" + std::string(key) + "\" is missing");
  }
}

TEST(V3Array, EveryMemberOfAWrongKindIsNamed) {
  struct Case {
    const char* key;
    const char* json;
    const char* problem;
  };
  constexpr Case kCases[] = {
      {"zarr_format", "2", "\"zarr_format\" is 2 where 3 is expected"},
      {"zarr_format", "\"3\"", "\"zarr_format\" is \"3\""},
      {"node_type", "\"tree\"", "\"node_type\" is \"tree\" where array or group is expected"},
      {"node_type", "7", "\"node_type\" is 7"},
      {"shape", "{}", "\"shape\" is an object"},
      {"shape", "[20, -1]", "\"shape\" is -1, which is negative"},
      {"shape", "[20, 30.5]", "\"shape\" is a number"},
      {"data_type", "7", "\"data_type\" is an integer"},
      {"data_type", "\"int24\"", "the data type \"int24\" is not supported"},
      {"data_type", "{}", "\"data_type\" has no \"name\""},
      {"chunk_grid", "[]", "\"chunk_grid\" is a list"},
      {"chunk_grid", "\"regular\"", "\"chunk_shape\" is missing"},
      {"chunk_grid", R"({"name": "hexagonal"})", "the chunk grid \"hexagonal\" is not supported"},
      {"chunk_grid", R"({"name": "hexagonal", "must_understand": false})",
       "the chunk grid \"hexagonal\" is not supported"},
      {"chunk_grid", R"({"name": "regular", "configuration": {"chunk_shape": "x"}})",
       "\"chunk_shape\" is a string"},
      {"chunk_key_encoding", "7", "\"chunk_key_encoding\" is an integer"},
      {"chunk_key_encoding", "\"hash\"", "the chunk key encoding \"hash\" is not supported"},
      {"chunk_key_encoding", R"({"name": "hash", "must_understand": false})",
       "the chunk key encoding \"hash\" is not supported"},
      {"chunk_key_encoding", R"({"name": "v2", "configuration": {"separator": "-"}})",
       "\"separator\" is \"-\", neither . nor /"},
      {"chunk_key_encoding", R"({"name": "v2", "configuration": {"separator": 1}})",
       "\"separator\" is 1, neither . nor /"},
      {"fill_value", "\"x\"", "the fill value \"x\" does not fit the data type int16"},
      {"codecs", "{}", "\"codecs\" is an object where a list of codecs is expected"},
      {"codecs", "[7]", "a codec is an integer"},
      {"codecs", "[{\"id\": \"gzip\"}]", "a codec has no \"name\""},
      {"attributes", "[]", "\"attributes\" is a list where an object is expected"},
      {"dimension_names", "\"lat lon\"", "\"dimension_names\" is not a list of 2 names"},
      {"dimension_names", "[\"lat\"]", "\"dimension_names\" is not a list of 2 names"},
      {"dimension_names", "[\"lat\", 7]", "\"dimension_names\" holds an integer"},
      {"storage_transformers", "[{\"name\": \"index\"}]",
       "the storage transformer \"index\" is not supported"},
      {"storage_transformers", "7", "\"storage_transformers\" is an integer"},
  };
  for (const Case& c : kCases) EXPECT_ERROR(parsed(with(c.key, c.json)), c.problem);
}

TEST(V3Array, UnknownMembersOfAConfigurationAreErrors) {
  struct Case {
    const char* key;
    const char* json;
    const char* owner;
  };
  static constexpr Case kCases[] = {
      {"chunk_grid", R"({"name": "regular", "configuration": {"chunk_shape": [1, 1], "new": 1}})",
       "the chunk grid \"regular\""},
      {"chunk_grid", R"({"name": "rectilinear", "configuration": {"kind": "inline",
                         "chunk_shapes": [[20], [30]], "new": null}})",
       "the chunk grid \"rectilinear\""},
      {"chunk_key_encoding",
       R"({"name": "default", "configuration": {"separator": "/", "new": "base64"}})",
       "the chunk key encoding \"default\""},
      {"chunk_key_encoding", R"({"name": "v2", "configuration": {"new": 1}})",
       "the chunk key encoding \"v2\""},
      {"data_type", R"({"name": "int16", "configuration": {"new": 1}})", "the data type \"int16\""},
      {"data_type", R"({"name": "numpy.datetime64",
                        "configuration": {"unit": "s", "scale_factor": 1, "new": 1940}})",
       "the data type \"numpy.datetime64\""},
      {"data_type", R"({"name": "null_terminated_bytes",
                        "configuration": {"length_bytes": 2, "new": 1}})",
       "the data type \"null_terminated_bytes\""},
      {"data_type", R"({"name": "fixed_length_utf32",
                        "configuration": {"length_bytes": 4, "new": 1}})",
       "the data type \"fixed_length_utf32\""},
      {"data_type", R"({"name": "struct", "configuration": {"new": 1,
                        "fields": [{"name": "a", "data_type": "int8"}]}})",
       "the data type \"struct\""},
      {"data_type", R"({"name": "struct", "configuration": {"fields": [{"name": "a",
                        "data_type": {"name": "int8", "configuration": {"new": 1}}}]}})",
       "the data type \"int8\""},
  };
  for (const Case& c : kCases) {
    EXPECT_ERROR(parsed(with(c.key, c.json)), c.owner,
                 "the configuration has a member \"new\" that is not supported");
  }
  EXPECT_NO_THROW(parsed(with("data_type", R"({"name": "int16", "configuration": {}})")));
}

TEST(V3Array, AnUnknownMemberIsRefusedByNameUnlessItNeedNotBeUnderstood) {
  for (const char* json : {"{}", "7", R"({"must_understand": true})",
                           R"({"must_understand": "false"})", R"([{"must_understand": false}])"}) {
    EXPECT_ERROR(parsed(with("colour", json)), "the member \"colour\" is an extension");
  }
  EXPECT_NO_THROW(parsed(with("colour", R"({"must_understand": false, "name": "x"})")));
}

TEST(V3Array, ADocumentThatIsNoObjectIsRefused) {
  for (const char* json : {"[]", "7", "\"x\"", "null", "NaN"}) {
    EXPECT_ERROR(parse_v3_node(parse_json(json), ""), "the document is",
                 "where an object is expected");
  }
}

TEST(V3Group, HasAttributes) {
  const NodeMetadata node = parse_v3_node(
      parse_json(R"({"zarr_format": 3, "node_type": "group", "attributes": {"a": NaN}})"), "");
  EXPECT_EQ(dump_json(std::get<GroupMetadata>(node).attributes), R"({"a":NaN})");
}

TEST(V3Group, NeedsNoAttributes) {
  const auto node = parse_v3_node(parse_json(R"({"zarr_format": 3, "node_type": "group"})"), "");
  EXPECT_EQ(std::get<GroupMetadata>(node).attributes, Json::object());
}

TEST(V3Group, AnUnknownMemberIsRefusedByNameUnlessItNeedNotBeUnderstood) {
  Json group = parse_json(R"({"zarr_format": 3, "node_type": "group", "shape": [1]})");
  EXPECT_ERROR(parse_v3_node(group, ""), "the member \"shape\" is an extension");
  group["shape"] = {{"must_understand", false}};
  EXPECT_NO_THROW(parse_v3_node(group, ""));
}

TEST(V3Group, AttributesOfAWrongKindAreNamed) {
  EXPECT_ERROR(
      parse_v3_node(parse_json(R"({"zarr_format": 3, "node_type": "group", "attributes": 7})"), ""),
      "\"attributes\" is an integer");
}

TEST(V3DataType, ExtensionsOfFixedLength) {
  const auto type = [](std::string_view name, std::string_view length) {
    return parse_v3_data_type(
        Json{{"name", name}, {"configuration", {{"length_bytes", parse_json(length)}}}});
  };
  EXPECT_EQ(type("fixed_length_utf32", "12"), (DataType{TypeKind::fixed_utf32, 12}));
  EXPECT_EQ(type("null_terminated_bytes", "5"), (DataType{TypeKind::fixed_bytes, 5}));
  EXPECT_EQ(type("raw_bytes", "5"), (DataType{TypeKind::raw, 5}));
  EXPECT_ERROR(type("fixed_length_utf32", "13"), "13 bytes, which is not a multiple of 4");
  EXPECT_ERROR(type("raw_bytes", "0"), "the data type raw_bytes has elements of 0 bytes");
  EXPECT_ERROR(type("raw_bytes", "1099511627776"), "has elements of 1099511627776 bytes");
  EXPECT_ERROR(type("raw_bytes", "-1"), "\"length_bytes\" is -1");
  EXPECT_ERROR(type("raw_bytes", "\"5\""), "\"length_bytes\" is a string");
  EXPECT_ERROR(parse_v3_data_type(Json("raw_bytes")), "has no \"length_bytes\"");
}

TEST(V3DataType, CoreTypesMayBeObjects) {
  EXPECT_EQ(parse_v3_data_type(Json{{"name", "float32"}}), (DataType{TypeKind::floating, 4}));
}

TEST(V3DataType, AnUnknownOneIsRefusedEvenIfItNeedNotBeUnderstood) {
  EXPECT_ERROR(parse_v3_data_type(Json{{"name", "decimal"}, {"must_understand", false}}),
               "the data type \"decimal\" is not supported");
}

}  // namespace
}  // namespace zarrcore::test::v3_test
