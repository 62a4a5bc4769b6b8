#include <gtest/gtest.h>

#include "autotest/cpp/support/bytes.h"
#include "autotest/cpp/support/documents.h"
#include "autotest/cpp/support/expect_error.h"
#include "zarrcore/metadata/format.h"

namespace zarrcore::test::v2_test {
namespace {

Json document() {
  return parse_json(R"({
    "zarr_format": 2, "shape": [20, 30], "chunks": [10, 15], "dtype": "<i2", "fill_value": -1,
    "order": "C", "filters": null, "compressor": {"id": "zlib", "level": 3}
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

ArrayMetadata parsed(const Json& array, const Json& attributes = Json::object()) {
  return read_array(v2_format(), {{"a/b/.zarray", array}, {"a/b/.zattrs", attributes}}, "a/b");
}

DataType type_of(std::string_view dtype) {
  Json changed = document();
  changed["dtype"] = dtype;
  changed["fill_value"] = nullptr;
  return parsed(changed).data_type;
}

TEST(V2Array, BecomesTheOneModel) {
  const ArrayMetadata array = parsed(document(), parse_json(R"({"units": "K"})"));
  EXPECT_EQ(array.shape, (Shape{20, 30}));
  EXPECT_EQ(array.chunk_shape, (Shape{10, 15}));
  EXPECT_EQ(array.data_type, (DataType{TypeKind::signed_integer, 2}));
  EXPECT_EQ(array.fill_value, bytes_of({0xff, 0xff}));
  EXPECT_FALSE(array.fill_value_is_mandatory);
  EXPECT_EQ(array.chunk_key_encoding, (ChunkKeyEncoding{ChunkKeyEncoding::Kind::v2, '.'}));
  EXPECT_EQ(array.attributes, parse_json(R"({"units": "K"})"));
  EXPECT_EQ(array.chunk_prefix, "a/b");
  EXPECT_EQ(array.dimension_names, (std::vector<std::optional<std::string>>(2)));
  ASSERT_EQ(array.codecs.size(), 2);
  EXPECT_EQ(array.codecs[0].name, "bytes");
  EXPECT_EQ(array.codecs[0].configuration, parse_json(R"({"endian": "little"})"));
  EXPECT_EQ(array.codecs[1].name, "numcodecs.zlib");
  EXPECT_EQ(array.codecs[1].configuration, parse_json(R"({"level": 3})"));
}

TEST(V2Array, OrderFIsATransposeOfAllAxes) {
  Json changed = with("order", "\"F\"");
  changed["shape"] = {2, 3, 4};
  changed["chunks"] = {2, 3, 4};
  const ArrayMetadata array = parsed(changed);
  ASSERT_EQ(array.codecs.size(), 3);
  EXPECT_EQ(array.codecs[0].name, "transpose");
  EXPECT_EQ(array.codecs[0].configuration, parse_json(R"({"order": [2, 1, 0]})"));
}

TEST(V2Array, TheByteOrderOfTheTypeIsThatOfTheBytesCodec) {
  EXPECT_EQ(parsed(with("dtype", "\">i2\"")).codecs[0].configuration,
            parse_json(R"({"endian": "big"})"));
  EXPECT_EQ(parsed(with("dtype", "\"|i1\"")).codecs[0].configuration, Json::object());
}

TEST(V2Array, FiltersStandBeforeTheCompressor) {
  const ArrayMetadata array =
      parsed(with("filters", R"([{"id": "shuffle", "elementsize": 2}, {"id": "crc32"}])"));
  ASSERT_EQ(array.codecs.size(), 4);
  EXPECT_EQ(array.codecs[1].name, "numcodecs.shuffle");
  EXPECT_EQ(array.codecs[1].configuration, parse_json(R"({"elementsize": 2})"));
  EXPECT_EQ(array.codecs[2].name, "numcodecs.crc32");
  EXPECT_EQ(array.codecs[3].name, "numcodecs.zlib");
}

TEST(V2Array, NullOrMissingCodecsAreNone) {
  EXPECT_EQ(parsed(with("compressor", "null")).codecs.size(), 1);
  EXPECT_EQ(parsed(without("compressor")).codecs.size(), 1);
  EXPECT_EQ(parsed(without("filters")).codecs.size(), 2);
}

TEST(V2Array, AMissingOrderIsC) {
  EXPECT_EQ(parsed(without("order")).codecs[0].name, "bytes");
}

TEST(V2Array, OptionsOfBloscAndZstdMayBeGdalsWords) {
  const auto options = [](std::string_view compressor) {
    return dump_json(parsed(with("compressor", compressor)).codecs.back().configuration);
  };
  EXPECT_EQ(options(R"({"id": "blosc", "shuffle": "NONE"})"), R"({"shuffle":0})");
  EXPECT_EQ(options(R"({"id": "blosc", "shuffle": "BYTE"})"), R"({"shuffle":1})");
  EXPECT_EQ(options(R"({"id": "blosc", "shuffle": "BIT"})"), R"({"shuffle":2})");
  EXPECT_EQ(options(R"({"id": "blosc", "shuffle": "bit"})"), R"({"shuffle":2})");
  EXPECT_EQ(options(R"({"id": "blosc", "shuffle": "2"})"), R"({"shuffle":2})");
  EXPECT_EQ(options(R"({"id": "blosc", "shuffle": "noshuffle"})"), R"({"shuffle":0})");
  EXPECT_EQ(options(R"({"id": "blosc", "shuffle": -1})"), R"({"shuffle":-1})");
  EXPECT_EQ(options(R"({"id": "zstd", "level": 3, "checksum": 0})"), R"({"level":3})");
  EXPECT_EQ(options(R"({"id": "zstd", "checksum": 1})"), R"({"checksum":true})");
  EXPECT_EQ(options(R"({"id": "zstd", "level": 3, "checksum": "NO"})"), R"({"level":3})");
  EXPECT_EQ(options(R"({"id": "zstd", "checksum": "YES"})"), R"({"checksum":true})");
  EXPECT_EQ(options(R"({"id": "zstd", "checksum": "false"})"), "{}");
  EXPECT_EQ(options(R"({"id": "zstd", "checksum": true})"), R"({"checksum":true})");
  // Only of these.
  EXPECT_EQ(options(R"({"id": "zlib", "checksum": "NO"})"), R"({"checksum":"NO"})");
}

TEST(V2Array, WordsThatMeanNoOptionAreNamed) {
  EXPECT_ERROR(parsed(with("compressor", R"({"id": "zstd", "checksum": "MAYBE"})")),
               "\"checksum\" of zstd is \"MAYBE\" where true, false, YES or NO is expected");
  EXPECT_ERROR(parsed(with("compressor", R"({"id": "zstd", "checksum": ""})")),
               "\"checksum\" of zstd is \"\"");
  EXPECT_ERROR(parsed(with("compressor", R"({"id": "blosc", "shuffle": "BITE"})")),
               "\"shuffle\" of blosc is \"BITE\" where 0, 1, 2, NONE, BYTE or BIT is expected");
  EXPECT_ERROR(parsed(with("filters", R"([{"id": "blosc", "shuffle": "3"}])")),
               "\"shuffle\" of blosc is \"3\"");
}

TEST(V2Array, ATiffIsACompressor) {
  const Json changed = with("compressor", R"({"id": "imagecodecs_tiff"})");
  EXPECT_EQ(parsed(changed).codecs.back().name, "numcodecs.imagecodecs_tiff");
  EXPECT_EQ(v2_format().array_documents(parsed(changed), "")[0].content["compressor"],
            changed["compressor"]);
}

TEST(V2Array, AFillValueOfNullOrNoneIsUndefined) {
  EXPECT_EQ(parsed(with("fill_value", "null")).fill_value, std::nullopt);
  EXPECT_EQ(parsed(without("fill_value")).fill_value, std::nullopt);
}

TEST(V2Array, TheSeparatorMayBeASlash) {
  EXPECT_EQ(parsed(with("dimension_separator", "\"/\"")).chunk_key_encoding.separator, '/');
  EXPECT_EQ(parsed(with("dimension_separator", "null")).chunk_key_encoding.separator, '.');
  EXPECT_ERROR(parsed(with("dimension_separator", "\":\"")), "\"dimension_separator\" is \":\"");
  EXPECT_ERROR(parsed(with("dimension_separator", "1")), "\"dimension_separator\" is 1");
}

TEST(V2Array, UnknownMembersAreIgnored) {
  EXPECT_NO_THROW(parsed(with("_nczarr_array", R"({"dimrefs": []})")));
}

TEST(V2Array, EveryTypeString) {
  EXPECT_EQ(type_of("|b1"), (DataType{TypeKind::boolean, 1}));
  EXPECT_EQ(type_of("|i1"), (DataType{TypeKind::signed_integer, 1}));
  EXPECT_EQ(type_of("<i8"), (DataType{TypeKind::signed_integer, 8}));
  EXPECT_EQ(type_of(">u4"), (DataType{TypeKind::unsigned_integer, 4}));
  EXPECT_EQ(type_of("<f2"), (DataType{TypeKind::floating, 2}));
  EXPECT_EQ(type_of("<f8"), (DataType{TypeKind::floating, 8}));
  EXPECT_EQ(type_of("<c8"), (DataType{TypeKind::complex, 8}));
  EXPECT_EQ(type_of(">c16"), (DataType{TypeKind::complex, 16}));
  EXPECT_EQ(type_of("<c4"), (DataType{TypeKind::complex, 4}));
  EXPECT_EQ(type_of("|S12"), (DataType{TypeKind::fixed_bytes, 12}));
  EXPECT_EQ(type_of("<U12"), (DataType{TypeKind::fixed_utf32, 48}));
  EXPECT_EQ(type_of("|V7"), (DataType{TypeKind::raw, 7}));
  EXPECT_EQ(type_of("=i4"), (DataType{TypeKind::signed_integer, 4}));
  EXPECT_EQ(type_of("i4"), (DataType{TypeKind::signed_integer, 4}));
}

TEST(V2Array, OtherTypeStringsAreRefusedByName) {
  for (const char* dtype :
       {"", "<", "<i", "<i3", "<i16", "<f12", "<f1", "<c2", "b2", "|S0", "<U0", "<M8[x]", "<M8[0s]",
        "<x4", "<i4x", "<i-4", "|S99999999999999999999", "|S4294967296", "<U1073741824"}) {
    EXPECT_ERROR(type_of(dtype), "the data type \"" + std::string(dtype) + "\" is not supported");
  }
}

TEST(V2Array, EveryMemberThatIsMissingIsNamed) {
  for (const char* key : {"zarr_format", "shape", "chunks", "dtype"}) {
    EXPECT_ERROR(parsed(without(key)), "\"" + std::string(key) + "\" is missing");
  }
}

TEST(V2Array, EveryMemberOfAWrongKindIsNamed) {
  struct Case {
    const char* key;
    const char* json;
    const char* problem;
  };
  constexpr Case kCases[] = {
      {"zarr_format", "3", "\"zarr_format\" is 3 where 2 is expected"},
      {"zarr_format", "\"2\"", "\"zarr_format\" is \"2\""},
      {"zarr_format", "2.0", "\"zarr_format\" is 2.0"},
      {"shape", "20", "\"shape\" is an integer where a list of integers is expected"},
      {"shape", "[20, -30]", "\"shape\" is -30, which is negative"},
      {"shape", "[20, 30.5]", "\"shape\" is a number"},
      {"shape", "[20, \"30\"]", "\"shape\" is a string"},
      {"shape", "null", "\"shape\" is null"},
      {"chunks", "{}", "\"chunks\" is an object"},
      {"chunks", "[10, null]", "\"chunks\" is null"},
      {"dtype", "7", "the data type is an integer where a string or a list of fields is expected"},
      {"dtype", R"([["a", "<i2"]])", "the fill value -1 does not fit the data type struct"},
      {"dtype", R"([["a", "|O"]])", "the data type [\"a\",\"|O\"] is not supported"},
      {"dtype", R"([["a"]])", "the data type [\"a\"] is not supported"},
      {"dtype", "\"|O\"", "has no filter that determines their type"},
      {"dtype", "null", "the data type is null"},
      {"fill_value", "{}", "the fill value {} does not fit"},
      {"fill_value", "40000", "the fill value 40000 does not fit the data type int16"},
      {"order", "\"K\"", "\"order\" is \"K\", neither C nor F"},
      {"order", "1", "\"order\" is 1"},
      {"filters", "{}", "\"filters\" is neither a list nor null"},
      {"filters", "[null]", "a filter is not an object with an \"id\""},
      {"filters", "[{}]", "a filter is not an object with an \"id\""},
      {"compressor", "\"zlib\"", "\"compressor\" is not an object with an \"id\""},
      {"compressor", "[]", "\"compressor\" is not an object with an \"id\""},
      {"compressor", R"({"id": 7})", "\"compressor\" is not an object with an \"id\""},
  };
  for (const Case& c : kCases) EXPECT_ERROR(parsed(with(c.key, c.json)), c.problem);
}

TEST(V2Array, TheFillValueOfAStructureIsInTheByteOrdersOfItsFields) {
  Json changed = with("dtype", R"([["a", ">i2"], ["b", "<f4"]])");
  changed["fill_value"] = "AQIAAMA/";
  Bytes expected = bytes_in_memory(std::int16_t{0x0102});
  const Bytes second = bytes_in_memory(1.5F);
  expected.insert(expected.end(), second.begin(), second.end());
  EXPECT_EQ(parsed(changed).fill_value, expected);
}

TEST(V2Array, ZfpTakesTheArrayAndSoDoFiltersBeforeIt) {
  Json changed = with("compressor", R"({"id": "zfpy", "mode": 5})");
  changed["dtype"] = "<f4";
  changed["filters"] = parse_json(R"([{"id": "fixedscaleoffset", "offset": 0, "scale": 1}])");
  const ArrayMetadata array = parsed(changed);
  ASSERT_EQ(array.codecs.size(), 2);
  EXPECT_EQ(array.codecs[0].name, "numcodecs.fixedscaleoffset");
  EXPECT_EQ(array.codecs[1].name, "numcodecs.zfpy");
  changed["dtype"] = ">f4";
  EXPECT_ERROR(parsed(changed), "zfpy does not support this byte order");
}

TEST(V2Array, CategoriesAreTexts) {
  Json changed = with("dtype", "\"|O\"");
  changed["fill_value"] = nullptr;
  changed["filters"] = parse_json(R"([{"id": "categorize", "dtype": "|O", "labels": ["a", "b"]}])");
  EXPECT_EQ(parsed(changed).data_type.kind, TypeKind::variable_string);
}

TEST(V2Array, ADocumentThatIsNoObjectIsRefused) {
  for (const char* json : {"[]", "7", "\"x\"", "null", "NaN"}) {
    EXPECT_ERROR(parsed(parse_json(json)), "the document is", "where an object is expected");
  }
}

using Names = std::vector<std::optional<std::string>>;

TEST(V2Array, XarraysDimensionNamesLeaveTheAttributes) {
  const ArrayMetadata array =
      parsed(document(), parse_json(R"({"_ARRAY_DIMENSIONS": ["lat", ""], "units": "K"})"));
  EXPECT_EQ(array.dimension_names, (Names{"lat", std::nullopt}));
  EXPECT_EQ(array.attributes, parse_json(R"({"units": "K"})"));
}

TEST(V2Array, DimensionNamesThatDoNotFitStayAttributes) {
  for (const char* json : {R"(["lat"])", R"("lat lon")", R"(["lat", 7])", "null"}) {
    const Json attributes{{"_ARRAY_DIMENSIONS", parse_json(json)}};
    const ArrayMetadata array = parsed(document(), attributes);
    EXPECT_EQ(array.dimension_names, Names(2));
    EXPECT_EQ(array.attributes, attributes);
  }
}

}  // namespace
}  // namespace zarrcore::test::v2_test
