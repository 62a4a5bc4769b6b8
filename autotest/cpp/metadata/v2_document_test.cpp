// What .zarray, .zattrs and .zgroup, and the documents of v1, say of a model.
#include <gtest/gtest.h>

#include "autotest/cpp/support/bytes.h"
#include "autotest/cpp/support/documents.h"
#include "autotest/cpp/support/expect_error.h"
#include "autotest/cpp/support/same_metadata.h"
#include "zarrcore/metadata/format.h"

namespace zarrcore::test::v2_document_test {
namespace {

using Kind = ChunkKeyEncoding::Kind;

ArrayMetadata model() {
  ArrayMetadata array;
  array.shape = {20, 30};
  array.data_type = {TypeKind::signed_integer, 2};
  array.chunk_shape = {10, 15};
  array.chunk_key_encoding = {Kind::v2, '.'};
  array.fill_value = bytes_in_memory(std::int16_t{-1});
  array.codecs = {{"bytes", {{"endian", "big"}}}, {"numcodecs.zlib", {{"level", 1}}}};
  array.dimension_names = {std::nullopt, std::nullopt};
  array.chunk_prefix = "a";
  return array;
}

ArrayMetadata with_codecs(std::vector<CodecMetadata> codecs) {
  ArrayMetadata array = model();
  array.codecs = std::move(codecs);
  return array;
}

Json zarray_of(const ArrayMetadata& array) {
  return v2_format().array_documents(array, "a")[0].content;
}

Json zattrs_of(const ArrayMetadata& array) {
  return v2_format().array_documents(array, "a")[1].content;
}

Json meta_of(const ArrayMetadata& array) {
  return v1_format().array_documents(array, "")[0].content;
}

// Of an array that the text describes, without codecs but `filters`.
ArrayMetadata parsed(std::string_view dtype, std::string_view fill_value,
                     std::string_view filters = "null") {
  Json document = zarray_of(model());
  document["dtype"] = parse_json(dtype);
  document["fill_value"] = parse_json(fill_value);
  document["filters"] = parse_json(filters);
  return read_array(v2_format(), {{"a/.zarray", document}}, "a");
}

ArrayMetadata read_back(const ArrayMetadata& array) {
  return read_array(v2_format(), {{"a/.zarray", zarray_of(array)}, {"a/.zattrs", zattrs_of(array)}},
                    "a");
}

TEST(V2Document, OfAnArray) {
  EXPECT_EQ(dump_json(zarray_of(model())),
            R"({"zarr_format":2,"shape":[20,30],"chunks":[10,15],"dtype":">i2",)"
            R"("compressor":{"id":"zlib","level":1},"fill_value":-1,"order":"C","filters":null})");
  expect_same(read_back(model()), model());
}

TEST(V2Document, OfAnArrayWithEverything) {
  ArrayMetadata array = with_codecs({{"transpose", {{"order", {1, 0}}}},
                                     {"bytes", {{"endian", "little"}}},
                                     {"numcodecs.delta", {{"dtype", "<i2"}}},
                                     {"numcodecs.shuffle", {{"elementsize", 2}}},
                                     {"numcodecs.blosc", {{"cname", "lz4"}, {"shuffle", 1}}}});
  array.chunk_key_encoding.separator = '/';
  array.fill_value.reset();
  array.unknown_members = parse_json(R"({"_NCZARR_ARRAY": {"storage": "chunked"}})");
  EXPECT_EQ(dump_json(zarray_of(array)),
            R"({"zarr_format":2,"shape":[20,30],"chunks":[10,15],"dtype":"<i2",)"
            R"("compressor":{"id":"blosc","cname":"lz4","shuffle":1},"fill_value":null,)"
            R"("order":"F","filters":[{"id":"delta","dtype":"<i2"},)"
            R"({"id":"shuffle","elementsize":2}],"dimension_separator":"/",)"
            R"("_NCZARR_ARRAY":{"storage":"chunked"}})");
  expect_same(read_back(array), array);
}

TEST(V2Document, OfAGroup) {
  const GroupMetadata group{parse_json(R"({"title": "x"})"),
                            parse_json(R"({"_NCZARR_GROUP": {}})")};
  EXPECT_EQ(dump_json(v2_format().group_documents(group, "a")[0].content),
            R"({"zarr_format":2,"_NCZARR_GROUP":{}})");
}

TEST(V2Document, NamesOfDimensionsAreAnAttribute) {
  ArrayMetadata array = model();
  array.attributes = parse_json(R"({"units": "K"})");
  EXPECT_EQ(zattrs_of(array), array.attributes);
  array.dimension_names = {"y", "x"};
  EXPECT_EQ(dump_json(zattrs_of(array)), R"({"units":"K","_ARRAY_DIMENSIONS":["y","x"]})");
  expect_same(read_back(array), array);
  array.dimension_names = {"y", std::nullopt};
  EXPECT_EQ(zattrs_of(array)["_ARRAY_DIMENSIONS"], (Json{"y", ""}));
  expect_same(read_back(array), array);
}

TEST(V2Document, OfAnArrayWithoutDimensionsHasTheirNames) {
  ArrayMetadata array = model();
  array.shape = array.chunk_shape = {};
  array.dimension_names = {};
  EXPECT_EQ(zattrs_of(array)["_ARRAY_DIMENSIONS"], Json::array());
  expect_same(read_back(array), array);
  // A list that does not fit stays.
  array.attributes = parse_json(R"({"_ARRAY_DIMENSIONS": ["y"]})");
  EXPECT_EQ(zattrs_of(array), array.attributes);
  expect_same(read_back(array), array);
}

TEST(V2Document, EveryTypeString) {
  for (const char* dtype : {R"("|b1")",
                            R"("|i1")",
                            R"("<i2")",
                            R"(">i4")",
                            R"("<i8")",
                            R"("|u1")",
                            R"(">u2")",
                            R"("<u4")",
                            R"("<u8")",
                            R"("<f2")",
                            R"(">f4")",
                            R"("<f8")",
                            R"(">c8")",
                            R"("<c16")",
                            R"("<M8")",
                            R"("<M8[D]")",
                            R"(">M8[10us]")",
                            R"("<m8[ns]")",
                            R"("|S12")",
                            R"("<U8")",
                            R"(">U8")",
                            R"("|V3")",
                            R"([["a","<i2"],["b",">f4",[2,3]],["","|V2"],["c","|S3"]])",
                            R"([["a",[["x","<f8"],["y",">U2"]],[2]],["b","|b1"]])"}) {
    const ArrayMetadata array = parsed(dtype, "null");
    EXPECT_EQ(dump_json(zarray_of(array)["dtype"]), dtype);
    expect_same(read_back(array), array);
  }
}

TEST(V2Document, FillValuesAsNumPyHasThem) {
  const auto expect_kept = [](const char* dtype, const char* fill_value) {
    const ArrayMetadata array = parsed(dtype, fill_value);
    EXPECT_EQ(dump_json(zarray_of(array)["fill_value"]), fill_value) << dtype;
    expect_same(read_back(array), array);
  };
  expect_kept("\"|b1\"", "true");
  expect_kept("\"<i8\"", "-9223372036854775808");
  expect_kept("\"<u8\"", "18446744073709551615");
  for (const char* number : {"-0.0", "1.5", "\"NaN\"", "\"Infinity\"", "\"-Infinity\""}) {
    expect_kept("\">f4\"", number);
  }
  expect_kept("\"<c8\"", "[1.0,\"NaN\"]");
  expect_kept("\"<M8[s]\"", "-9223372036854775808");
  expect_kept("\"<m8[s]\"", "7");
  expect_kept("\"|S4\"", "\"YWI=\"");
  expect_kept("\"|V3\"", "\"AQID\"");
  expect_kept("\">U4\"", "\"0x12\"");
  // In the byte order of each field.
  expect_kept(R"([["a","<i2"],["b",">i2"],["c",">i2",[2]]])", "\"AQAAAQACAAM=\"");
}

TEST(V2Document, EveryNanIsSpelledNaN) {
  EXPECT_EQ(zarray_of(parsed("\"<f4\"", "\"0x7fc00001\""))["fill_value"], "NaN");
  EXPECT_EQ(zarray_of(parsed("\"<f8\"", "\"0xfff8000000000000\""))["fill_value"], "NaN");
  const ArrayMetadata array = parsed("\"<c8\"", "[0.0, \"0xffc00000\"]");
  EXPECT_EQ(dump_json(zarray_of(array)["fill_value"]), "[0.0,\"NaN\"]");
}

TEST(V2Document, ObjectsAreWhatTheFirstFilterSays) {
  for (const char* filters : {R"([{"id":"vlen-utf8"}])", R"([{"id":"json2"}])",
                              R"([{"id":"vlen-utf8"},{"id":"crc32"}])"}) {
    const ArrayMetadata array = parsed("\"|O\"", "\"n/a\"", filters);
    const Json document = zarray_of(array);
    EXPECT_EQ(document["dtype"], "|O");
    EXPECT_EQ(dump_json(document["filters"]), filters);
    expect_same(read_back(array), array);
  }
  const ArrayMetadata bytes = parsed("\"|O\"", "\"AAEC\"", R"([{"id":"vlen-bytes"}])");
  EXPECT_EQ(zarray_of(bytes)["fill_value"], "AAEC");
  expect_same(read_back(bytes), bytes);
}

TEST(V2Document, ZfpTakesTheArrayItself) {
  ArrayMetadata array = with_codecs({{"numcodecs.zfpy", {{"mode", 4}}}});
  array.data_type = {TypeKind::floating, 4};
  array.fill_value.reset();
  EXPECT_EQ(zarray_of(array)["compressor"], parse_json(R"({"id":"zfpy","mode":4})"));
  expect_same(read_back(array), array);
}

TEST(V2Document, CodecsOfV3ThatNumcodecsHasToo) {
  const auto numcodec = [](const char* name, const char* configuration) {
    const Json document =
        zarray_of(with_codecs({{"bytes", {{"endian", "big"}}}, {name, parse_json(configuration)}}));
    return dump_json(document["compressor"].is_null() ? document["filters"]
                                                      : document["compressor"]);
  };
  EXPECT_EQ(numcodec("gzip", R"({"level": 4})"), R"({"id":"gzip","level":4})");
  EXPECT_EQ(numcodec("zstd", R"({"level": 4, "checksum": false})"), R"({"id":"zstd","level":4})");
  EXPECT_EQ(numcodec("zstd", R"({"level": 4, "checksum": true})"),
            R"({"id":"zstd","level":4,"checksum":true})");
  for (const auto& [name, number] :
       {std::pair("noshuffle", "0"), {"shuffle", "1"}, {"bitshuffle", "2"}}) {
    EXPECT_EQ(numcodec("blosc", (R"({"cname": "zstd", "clevel": 5, "typesize": 2, "shuffle": ")" +
                                 std::string(name) + R"(", "blocksize": 0})")
                                    .c_str()),
              R"({"id":"blosc","cname":"zstd","clevel":5,"shuffle":)" + std::string(number) +
                  R"(,"blocksize":0})");
  }
  EXPECT_EQ(numcodec("crc32c", "{}"), R"([{"id":"crc32c"}])");
  EXPECT_ERROR(numcodec("blosc", R"({"shuffle": "riffle"})"), "blosc has no shuffle \"riffle\"");
}

TEST(V2Document, ACompressorBeforeAChecksumIsAFilter) {
  const Json document = zarray_of(
      with_codecs({{"bytes", {{"endian", "big"}}}, {"zstd", {{"level", 1}}}, {"numcodecs.crc32"}}));
  EXPECT_EQ(document["compressor"], Json());
  EXPECT_EQ(dump_json(document["filters"]), R"([{"id":"zstd","level":1},{"id":"crc32"}])");
}

TEST(V2Document, WhatV2CannotSayIsRefusedByName) {
  const auto make = [](std::vector<CodecMetadata> codecs) {
    return zarray_of(with_codecs(std::move(codecs)));
  };
  const CodecMetadata bytes{"bytes", {{"endian", "little"}}};
  EXPECT_ERROR(make({{"sharding_indexed"}}), "Zarr v2 cannot express this array",
               "the codec \"sharding_indexed\" is not in numcodecs");
  EXPECT_ERROR(make({bytes, {"packbits"}}), "the codec \"packbits\" is not in numcodecs");
  EXPECT_ERROR(make({{"transpose", {{"order", {0, 1}}}}, bytes}),
               "the codec \"transpose\" does not reverse all axes");
  EXPECT_ERROR(
      make({{"transpose", {{"order", {1, 0}}}}, {"transpose", {{"order", {1, 0}}}}, bytes}),
      "the codec \"transpose\"");
  EXPECT_ERROR(make({{"numcodecs.delta"}, bytes}),
               "the codec \"numcodecs.delta\" precedes \"bytes\"");
  EXPECT_ERROR(make({{"numcodecs.shuffle"}}), "numcodecs has no such chain of codecs");
  EXPECT_ERROR(make({{"bytes", {{"endian", "middle"}}}}), "neither little nor big");

  ArrayMetadata array = model();
  array.chunk_runs = {{{20, 1}}, {{30, 1}}};
  EXPECT_ERROR(zarray_of(array), "the chunk grid is not regular");
  array = model();
  array.chunk_key_encoding = {Kind::default_, '/'};
  EXPECT_ERROR(zarray_of(array), "Zarr v2 cannot express the chunk keys");
  array = with_codecs({{"bytes"}});
  array.fill_value.reset();
  for (const char* name : {"bfloat16", "int4"}) {
    array.data_type = parse_type_name(name).value();
    EXPECT_ERROR(zarray_of(array), "NumPy has no data type", name);
  }
  array.data_type = parse_type_name("string").value();
  EXPECT_ERROR(zarray_of(array), "an array of objects has no filter");
  // parse_numpy_dtype() takes a structure of one nameless field for the field.
  array.data_type = make_structure({{"", {TypeKind::raw, 4}}});
  EXPECT_ERROR(zarray_of(array), "is not the data type struct");
}

TEST(V1Document, OfAnArray) {
  ArrayMetadata array = with_codecs({{"transpose", {{"order", {1, 0}}}},
                                     {"bytes", {{"endian", "big"}}},
                                     {"numcodecs.zlib", {{"level", 1}}}});
  array.chunk_prefix = "";
  array.unknown_members = parse_json(R"({"x": 1})");
  EXPECT_EQ(dump_json(meta_of(array)),
            R"({"zarr_format":1,"shape":[20,30],"chunks":[10,15],"dtype":">i2",)"
            R"("compression":"zlib","compression_opts":1,"fill_value":-1,"order":"F","x":1})");
  expect_same(read_array(v1_format(), {{"meta", meta_of(array)}, {"attrs", array.attributes}}, ""),
              array);
}

TEST(V1Document, OptionsAreALevelOrAConfigurationOrNone) {
  const auto compression = [](std::vector<CodecMetadata> codecs) {
    codecs.insert(codecs.begin(), {"bytes", {{"endian", "big"}}});
    const Json document = meta_of(with_codecs(std::move(codecs)));
    return dump_json({document["compression"], document["compression_opts"]});
  };
  EXPECT_EQ(compression({}), R"(["none",null])");
  EXPECT_EQ(compression({{"numcodecs.lzma"}}), R"(["lzma",null])");
  EXPECT_EQ(compression({{"numcodecs.bz2", {{"level", 9}}}}), R"(["bz2",9])");
  EXPECT_EQ(compression({{"numcodecs.blosc", {{"cname", "lz4"}, {"clevel", 5}}}}),
            R"(["blosc",{"cname":"lz4","clevel":5}])");
}

TEST(V1Document, WhatV1CannotSayIsRefused) {
  ArrayMetadata array = model();
  array.chunk_key_encoding.separator = '/';
  EXPECT_ERROR(meta_of(array), "Zarr v1 cannot express the chunk keys");
  array = with_codecs({{"bytes", {{"endian", "big"}}}, {"numcodecs.crc32"}});
  EXPECT_ERROR(meta_of(array), "Zarr v1 cannot express the filter \"crc32\"");
}

}  // namespace
}  // namespace zarrcore::test::v2_document_test
