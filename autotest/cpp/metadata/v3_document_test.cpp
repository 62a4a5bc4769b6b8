// What zarr.json says of a model.
#include <gtest/gtest.h>

#include "autotest/cpp/support/bytes.h"
#include "autotest/cpp/support/expect_error.h"
#include "autotest/cpp/support/same_metadata.h"
#include "zarrcore/metadata/documents.h"

namespace zarrcore::test::v3_document_test {
namespace {

ArrayMetadata model() {
  ArrayMetadata array;
  array.shape = {20, 30};
  array.data_type = {TypeKind::signed_integer, 2};
  array.chunk_shape = {10, 15};
  array.fill_value = bytes_in_memory(std::int16_t{-1});
  array.codecs = {{"bytes", {{"endian", "big"}}}, {"gzip", {{"level", 1}}}};
  array.dimension_names = {"y", std::nullopt};
  return array;
}

ArrayMetadata read_back(const ArrayMetadata& array) {
  return std::get<ArrayMetadata>(parse_v3_node(make_v3_array_document(array), "a"));
}

void expect_kept(ArrayMetadata array) {
  array.fill_value_is_mandatory = true;
  array.fill_value_attribute_is_base64 = true;
  array.chunk_prefix = "a";
  expect_same(read_back(array), array);
}

TEST(V3Document, OfAnArray) {
  EXPECT_EQ(dump_json(make_v3_array_document(model())),
            R"({"zarr_format":3,"node_type":"array","shape":[20,30],"data_type":"int16",)"
            R"("chunk_grid":{"name":"regular","configuration":{"chunk_shape":[10,15]}},)"
            R"("chunk_key_encoding":{"name":"default","configuration":{"separator":"/"}},)"
            R"("fill_value":-1,)"
            R"("codecs":[{"name":"bytes","configuration":{"endian":"big"}},)"
            R"({"name":"gzip","configuration":{"level":1}}],)"
            R"("attributes":{},"dimension_names":["y",null]})");
  expect_kept(model());
}

TEST(V3Document, OfAGroup) {
  const GroupMetadata group{parse_json(R"({"t": NaN})"),
                            parse_json(R"({"x": {"must_understand": false}})")};
  const Json document = make_v3_group_document(group);
  EXPECT_EQ(dump_json(document), R"({"zarr_format":3,"node_type":"group","attributes":{"t":NaN},)"
                                 R"("x":{"must_understand":false}})");
  expect_same(std::get<GroupMetadata>(parse_v3_node(document, "")), group);
}

TEST(V3Document, HasNoNamesWhenNoDimensionHasOne) {
  ArrayMetadata array = model();
  array.dimension_names = {std::nullopt, std::nullopt};
  EXPECT_FALSE(make_v3_array_document(array).contains("dimension_names"));
}

TEST(V3Document, AnUndefinedFillValueIsZero) {
  ArrayMetadata array = model();
  array.fill_value.reset();
  EXPECT_EQ(make_v3_array_document(array)["fill_value"], 0);
  array.data_type = {TypeKind::fixed_utf32, 8};
  EXPECT_EQ(make_v3_array_document(array)["fill_value"], "");
  array.data_type = parse_type_name("string").value();
  EXPECT_EQ(make_v3_array_document(array)["fill_value"], "");
}

TEST(V3Document, CodecsOfNumcodecsHaveAConfiguration) {
  ArrayMetadata array = model();
  array.codecs = {{"numcodecs.packbits"}, {"bytes"}, {"crc32c"}};
  EXPECT_EQ(make_v3_array_document(array)["codecs"],
            parse_json(R"([{"name": "numcodecs.packbits", "configuration": {}},
                           {"name": "bytes"}, {"name": "crc32c"}])"));
}

TEST(V3Document, WhatNeedNotBeUnderstoodIsKept) {
  Json document = make_v3_array_document(model());
  document["later"] = {{"must_understand", false}, {"x", 1}};
  document["storage_transformers"] = parse_json(R"([{"name": "cache", "must_understand": false}])");
  document["codecs"].push_back({{"name", "trace"}, {"must_understand", false}});
  const auto array = std::get<ArrayMetadata>(parse_v3_node(document, ""));
  const Json again = make_v3_array_document(array);
  for (const char* key : {"later", "storage_transformers", "codecs"}) {
    EXPECT_EQ(again[key], document[key]) << key;
  }
}

TEST(V3Document, ARectilinearGridIsRunsOfChunks) {
  ArrayMetadata array = model();
  array.chunk_shape = {};
  array.chunk_runs = {{{10, 2}}, {{5, 2}, {20, 1}}};
  expect_kept(array);
  Json document = make_v3_array_document(array);
  EXPECT_EQ(dump_json(document["chunk_grid"]),
            R"({"name":"rectilinear","configuration":{"kind":"inline",)"
            R"("chunk_shapes":[[[10,2]],[[5,2],20]]}})");
  document["chunk_grid"]["configuration"]["chunk_shapes"] = parse_json("[[[10,1],10],[5,5,20]]");
  const auto again = std::get<ArrayMetadata>(parse_v3_node(document, ""));
  EXPECT_EQ(again.chunk_runs, array.chunk_runs);
}

TEST(V3Document, OfEveryKindOfChunkKey) {
  for (const auto kind : {ChunkKeyEncoding::Kind::default_, ChunkKeyEncoding::Kind::v2}) {
    for (const char separator : {'.', '/'}) {
      ArrayMetadata array = model();
      array.chunk_key_encoding = {kind, separator};
      expect_kept(array);
    }
  }
  ArrayMetadata array = model();
  array.chunk_key_encoding = {ChunkKeyEncoding::Kind::draft, '/'};
  EXPECT_ERROR(make_v3_array_document(array), "cannot express the chunk keys of its draft");
}

TEST(V3Document, CodecsOfShardsAreObjectsToo) {
  ArrayMetadata array = model();
  array.codecs = {{"sharding_indexed", parse_json(R"({"chunk_shape": [5, 5],
      "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, "crc32c"],
      "index_codecs": [{"name": "bytes", "configuration": {"endian": "big"}}, "crc32c"]})")}};
  EXPECT_EQ(dump_json(make_v3_array_document(array)["codecs"]),
            R"([{"name":"sharding_indexed","configuration":{"chunk_shape":[5,5],)"
            R"("codecs":[{"name":"bytes","configuration":{"endian":"little"}},)"
            R"({"name":"crc32c"}],)"
            R"("index_codecs":[{"name":"bytes","configuration":{"endian":"big"}},)"
            R"({"name":"crc32c"}]}}])");
}

TEST(V3Document, StatesTheByteOrderOfEveryTypeThatHasOne) {
  ArrayMetadata array = model();
  array.fill_value.reset();
  array.codecs = {{"bytes"}};
  array.data_type = {TypeKind::fixed_utf32, 8};
  EXPECT_EQ(read_back(array).codecs[0].configuration, parse_json(R"({"endian": "little"})"));
  array.data_type = {TypeKind::fixed_bytes, 8};
  EXPECT_EQ(read_back(array).codecs[0].configuration, Json::object());
  array.codecs = {{"bytes", {{"endian", Json::array({"big", "little"})}}}};
  EXPECT_ERROR(make_v3_array_document(array), "several byte orders");
}

TEST(V3Document, CodecsOfNumcodecsKeepTheirNames) {
  ArrayMetadata array = model();
  array.codecs = {{"bytes", {{"endian", "little"}}},
                  {"numcodecs.blosc", {{"cname", "lz4"}, {"shuffle", 1}}}};
  expect_kept(array);
}

TEST(V3DataType, IsWrittenAsItIsRead) {
  for (const char* json :
       {"\"bool\"", "\"int8\"", "\"uint64\"", "\"float16\"", "\"complex64\"", "\"complex128\"",
        "\"int2\"", "\"uint4\"", "\"bfloat16\"", "\"float8_e8m0fnu\"", "\"r24\"", "\"string\"",
        "\"bytes\"",
        R"({"name":"numpy.datetime64","configuration":{"unit":"ns","scale_factor":10}})",
        R"({"name":"numpy.timedelta64","configuration":{"unit":"generic","scale_factor":1}})",
        R"({"name":"null_terminated_bytes","configuration":{"length_bytes":12}})",
        R"({"name":"fixed_length_utf32","configuration":{"length_bytes":32}})",
        R"({"name":"struct","configuration":{"fields":[{"name":"a","data_type":"int16"},)"
        R"({"name":"b","data_type":{"name":"struct","configuration":{"fields":[)"
        R"({"name":"c","data_type":{"name":"fixed_length_utf32",)"
        R"("configuration":{"length_bytes":4}}}]}}}]}})"}) {
    EXPECT_EQ(dump_json(make_v3_data_type(parse_v3_data_type(parse_json(json)))), json);
  }
}

TEST(V3DataType, StructuresOfNumPyMayHaveNone) {
  const DataType int16{TypeKind::signed_integer, 2};
  EXPECT_ERROR(make_v3_data_type(make_structure({{"a", int16, 0, 2, {2}}})),
               "the field \"a\" of several elements");
  EXPECT_ERROR(make_v3_data_type(make_structure({{"a", int16}, {"a", int16}})), "two fields \"a\"");
}

}  // namespace
}  // namespace zarrcore::test::v3_document_test
