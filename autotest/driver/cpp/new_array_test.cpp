#include "driver/new_array/new_array.h"

#include <gtest/gtest.h>

#include <cstring>

#include "autotest/driver/cpp/options.h"
#include "driver/types/type_mapping.h"
#include "zarrcore/array/array_writer.h"
#include "zarrcore/hierarchy/hierarchy.h"
#include "zarrcore/metadata/format.h"
#include "zarrcore/store/memory_store.h"

namespace gdal_zarr::test::new_array_test {
namespace {

using test::error_of;
using test::option_list;
using test::warnings_of;
using zarrcore::ArrayMetadata;
using zarrcore::dump_json;
using zarrcore::Json;
using zarrcore::Shape;

GDALExtendedDataType number(GDALDataType type) {
  return GDALExtendedDataType::Create(type);
}

const zarrcore::Format& format_of(int zarr_format) {
  return zarr_format == 2 ? zarrcore::v2_format() : zarrcore::v3_format();
}

NewArray array_of(const GDALExtendedDataType& type, int zarr_format, Shape shape = {300, 400}) {
  NewArray array;
  array.dimension_names.resize(shape.size());
  array.shape = std::move(shape);
  array.type = GDALExtendedDataType(type);
  array.format = &format_of(zarr_format);
  return array;
}

ArrayMetadata make(const NewArray& array, const std::vector<std::string>& options = {}) {
  return make_array_metadata(array, option_list(options).List());
}

// The document of an array, as it goes into a store.
Json document(const NewArray& array, const std::vector<std::string>& options = {}) {
  return array.format->array_documents(make(array, options), "").front().content;
}

std::string codecs(const NewArray& array, const std::vector<std::string>& options = {}) {
  return dump_json(document(array, options)["codecs"]);
}

// Filters and compressor of v2.
std::string filters(const NewArray& array, const std::vector<std::string>& options) {
  const Json made = document(array, options);
  return dump_json(made["filters"]) + ' ' + dump_json(made["compressor"]);
}

std::string error(const NewArray& array, const std::vector<std::string>& options) {
  return error_of([&] { make(array, options); });
}

TEST(NewArray, OfZarrV2) {
  NewArray array = array_of(number(GDT_Int16), 2, {3, 1000, 200});
  array.dimension_names = {"band", "", "x"};
  EXPECT_EQ(dump_json(document(array)),
            R"({"zarr_format":2,"shape":[3,1000,200],"chunks":[1,256,200],"dtype":"<i2",)"
            R"("compressor":null,"fill_value":null,"order":"C","filters":null})");
  EXPECT_EQ(dump_json(zarrcore::v2_format().array_documents(make(array), "")[1].content),
            R"({"_ARRAY_DIMENSIONS":["band","","x"]})");
  EXPECT_FALSE(make(array).fill_value);
}

TEST(NewArray, OfZarrV3) {
  NewArray array = array_of(number(GDT_Float32), 3, {3, 1000, 200});
  array.dimension_names = {"band", "", "x"};
  EXPECT_EQ(dump_json(document(array)),
            R"({"zarr_format":3,"node_type":"array","shape":[3,1000,200],"data_type":"float32",)"
            R"("chunk_grid":{"name":"regular","configuration":{"chunk_shape":[1,256,200]}},)"
            R"("chunk_key_encoding":{"name":"default","configuration":{"separator":"/"}},)"
            R"("fill_value":0.0,)"
            R"("codecs":[{"name":"bytes","configuration":{"endian":"little"}}],)"
            R"("attributes":{},"dimension_names":["band",null,"x"]})");
  EXPECT_TRUE(make(array).fill_value_is_mandatory);
}

TEST(NewArray, ChunkKeys) {
  const NewArray v2 = array_of(number(GDT_Byte), 2);
  const NewArray v3 = array_of(number(GDT_Byte), 3);
  const std::uint64_t chunk[] = {1, 2};
  EXPECT_EQ(make(v2).chunk_key_encoding.encode(chunk), "1.2");
  EXPECT_EQ(make(v2, {"DIM_SEPARATOR=/"}).chunk_key_encoding.encode(chunk), "1/2");
  EXPECT_EQ(make(v3).chunk_key_encoding.encode(chunk), "c/1/2");
  EXPECT_EQ(make(v3, {"DIM_SEPARATOR=."}).chunk_key_encoding.encode(chunk), "c.1.2");
}

TEST(NewArray, CompressorsOfZarrV2AreThoseOfNumcodecs) {
  const NewArray array = array_of(number(GDT_UInt16), 2);
  EXPECT_EQ(filters(array, {"COMPRESS=BLOSC"}),
            R"(null {"id":"blosc","cname":"lz4","clevel":5,"shuffle":1,"blocksize":0})");
  EXPECT_EQ(filters(array, {"COMPRESS=BLOSC", "BLOSC_CNAME=zstd", "BLOSC_CLEVEL=9",
                            "BLOSC_SHUFFLE=NONE", "BLOSC_BLOCKSIZE=65536"}),
            R"(null {"id":"blosc","cname":"zstd","clevel":9,"shuffle":0,"blocksize":65536})");
  EXPECT_EQ(filters(array, {"COMPRESS=BZ2"}), R"(null {"id":"bz2","level":9})");
  EXPECT_EQ(filters(array, {"COMPRESS=GZIP", "GZIP_LEVEL=1"}), R"(null {"id":"gzip","level":1})");
  EXPECT_EQ(filters(array, {"COMPRESS=LZ4"}), R"(null {"id":"lz4","acceleration":1})");
  EXPECT_EQ(filters(array, {"COMPRESS=LZMA"}),
            R"(null {"id":"lzma","format":1,"check":-1,"preset":6,"filters":null})");
  EXPECT_EQ(filters(array, {"COMPRESS=LZMA", "LZMA_PRESET=9", "LZMA_DELTA=6"}),
            R"(null {"id":"lzma","format":3,"check":-1,"preset":null,)"
            R"("filters":[{"id":3,"dist":6},{"id":33,"preset":9}]})");
  EXPECT_EQ(filters(array, {"COMPRESS=ZLIB"}), R"(null {"id":"zlib","level":6})");
  EXPECT_EQ(filters(array, {"COMPRESS=ZSTD"}), R"(null {"id":"zstd","level":13})");
  EXPECT_EQ(filters(array_of(number(GDT_Float32), 2), {"COMPRESS=ZFP", "ZFP_TOLERANCE=0.5"}),
            R"(null {"id":"zfpy","mode":4,"tolerance":0.5,"rate":-1,"precision":-1})");
}

TEST(NewArray, CompressorsOfZarrV3) {
  const NewArray array = array_of(number(GDT_UInt16), 3);
  const std::string bytes = R"([{"name":"bytes","configuration":{"endian":"little"}},)";
  EXPECT_EQ(codecs(array, {"COMPRESS=BLOSC"}),
            bytes + R"({"name":"blosc","configuration":{"typesize":2,"cname":"lz4","clevel":5,)"
                    R"("shuffle":"shuffle","blocksize":0}}])");
  EXPECT_EQ(codecs(array, {"COMPRESS=GZIP"}),
            bytes + R"({"name":"gzip","configuration":{"level":6}}])");
  EXPECT_EQ(codecs(array, {"COMPRESS=ZSTD", "ZSTD_LEVEL=3"}),
            bytes + R"({"name":"zstd","configuration":{"level":3,"checksum":false}}])");
  EXPECT_EQ(codecs(array, {"COMPRESS=ZLIB"}),
            bytes + R"({"name":"numcodecs.zlib","configuration":{"level":6}}])");
  EXPECT_EQ(codecs(array, {"COMPRESS=ZSTD", "ZSTD_CHECKSUM=YES"}),
            bytes + R"({"name":"zstd","configuration":{"level":13,"checksum":true}}])");
  EXPECT_EQ(codecs(array_of(number(GDT_Byte), 3)),
            R"([{"name":"bytes","configuration":{"endian":"little"}}])");
  EXPECT_EQ(codecs(array_of(number(GDT_Byte), 3), {"@ENDIAN=big"}),
            R"([{"name":"bytes","configuration":{"endian":"big"}}])");
}

TEST(NewArray, BloscIsToldWhatAnElementIs) {
  const auto blosc = [](const GDALExtendedDataType& type, const std::vector<std::string>& more) {
    std::vector<std::string> options{"COMPRESS=BLOSC"};
    options.insert(options.end(), more.begin(), more.end());
    const Json made = document(array_of(type, 3), options)["codecs"].back()["configuration"];
    return dump_json(made["typesize"]) + ' ' + made["shuffle"].get<std::string>();
  };
  EXPECT_EQ(blosc(number(GDT_Float64), {}), "8 shuffle");
  EXPECT_EQ(blosc(number(GDT_Float64), {"BLOSC_SHUFFLE=BIT"}), "8 bitshuffle");
  EXPECT_EQ(blosc(number(GDT_CFloat64), {}), "16 shuffle");
  EXPECT_EQ(blosc(number(GDT_Byte), {}), "1 shuffle");
  EXPECT_EQ(blosc(number(GDT_Byte), {"BLOSC_SHUFFLE=BIT"}), "1 bitshuffle");
  EXPECT_EQ(blosc(number(GDT_Float64), {"FILTER=SHUFFLE"}), "1 shuffle");
  EXPECT_EQ(blosc(GDALExtendedDataType::CreateString(), {}), "1 shuffle");
}

TEST(NewArray, TheOrderOfFilters) {
  const std::vector<std::string> all{"KEEPBITS=7",    "FILTER=DELTA",   "DELTA_DTYPE=<i4",
                                     "COMPRESS=ZLIB", "CHECKSUM=CRC32", "CHUNK_MEMORY_LAYOUT=F"};
  const NewArray v2 = array_of(number(GDT_Float32), 2);
  EXPECT_EQ(filters(v2, all),
            R"([{"id":"bitround","keepbits":7},{"id":"delta","dtype":"<i4"},{"id":"crc32"}] )"
            R"({"id":"zlib","level":6})");
  EXPECT_EQ(document(v2, all)["order"], "F");
  EXPECT_EQ(codecs(array_of(number(GDT_Int32), 3),
                   {"FILTER=DELTA", "COMPRESS=ZSTD", "CHECKSUM=CRC32C", "CHUNK_MEMORY_LAYOUT=F"}),
            R"([{"name":"transpose","configuration":{"order":[1,0]}},)"
            R"({"name":"numcodecs.delta","configuration":{"dtype":"<i4"}},)"
            R"({"name":"bytes","configuration":{"endian":"little"}},)"
            R"({"name":"zstd","configuration":{"level":13,"checksum":false}},{"name":"crc32c"}])");
  EXPECT_EQ(filters(array_of(number(GDT_Int32), 2), {"FILTER=SHUFFLE", "COMPRESS=GZIP"}),
            R"([{"id":"shuffle","elementsize":4}] {"id":"gzip","level":6})");
  // The order of one dimension is the order of its elements.
  EXPECT_EQ(document(array_of(number(GDT_Byte), 2, {10}), {"CHUNK_MEMORY_LAYOUT=F"})["order"], "C");
}

TEST(NewArray, ShardsHoldTheCodecs) {
  EXPECT_EQ(codecs(array_of(number(GDT_Int16), 3),
                   {"BLOCKSIZE=256,128", "SHARD_CHUNK_SHAPE=64,32", "COMPRESS=GZIP"}),
            R"([{"name":"sharding_indexed","configuration":{"chunk_shape":[64,32],"codecs":[)"
            R"({"name":"bytes","configuration":{"endian":"little"}},)"
            R"({"name":"gzip","configuration":{"level":6}}],"index_codecs":[)"
            R"({"name":"bytes","configuration":{"endian":"little"}},{"name":"crc32c"}],)"
            R"("index_location":"end"}}])");
}

TEST(NewArray, RoundingIsForFloatsOfRasters) {
  EXPECT_EQ(codecs(array_of(number(GDT_Float64), 3), {"KEEPBITS=12"}),
            R"([{"name":"numcodecs.bitround","configuration":{"keepbits":12}},)"
            R"({"name":"bytes","configuration":{"endian":"little"}}])");
  EXPECT_EQ(filters(array_of(number(GDT_Float64), 2, {10}), {"KEEPBITS=12"}), "null null");
  EXPECT_EQ(
      error(array_of(number(GDT_Int32), 2), {"KEEPBITS=12"}),
      "creation option KEEPBITS does not support arrays of the type int32: it rounds floating "
      "point numbers");
  EXPECT_EQ(
      error(array_of(number(GDT_Float32), 2), {"KEEPBITS=24"}),
      "creation option KEEPBITS=24 does not support arrays of the type float32: its mantissa has "
      "23 bits");
}

TEST(NewArray, DifferencesAreExactUnlessAskedOtherwise) {
  const NewArray floats = array_of(number(GDT_Float32), 2);
  EXPECT_EQ(error(floats, {"FILTER=DELTA"}),
            "creation option FILTER=DELTA does not support arrays of the type float32: sums of "
            "floating point numbers are not exact; DELTA_DTYPE can treat their bits as integers");
  EXPECT_TRUE(warnings_of([&] {
                EXPECT_EQ(filters(floats, {"FILTER=DELTA", "DELTA_DTYPE=<i4"}),
                          R"([{"id":"delta","dtype":"<i4"}] null)");
              }).empty());
  EXPECT_EQ(warnings_of([&] {
              EXPECT_EQ(filters(floats, {"FILTER=DELTA", "DELTA_DTYPE=f4"}),
                        R"([{"id":"delta","dtype":"<f4"}] null)");
            }),
            (std::vector<std::string>{"creation option DELTA_DTYPE=f4: sums of floating point "
                                      "numbers are not exact"}));
  EXPECT_EQ(error(array_of(number(GDT_Float32), 3), {"FILTER=DELTA"}),
            "creation option FILTER=DELTA does not support arrays of the type float32: sums of "
            "floating point numbers are not exact");
  EXPECT_EQ(error(array_of(number(GDT_UInt16), 3), {"FILTER=DELTA", "DELTA_DTYPE=<i2"}),
            "creation option DELTA_DTYPE=<i2 does not support arrays of the type uint16: it must "
            "be the same type: readers would convert from one to the other");
  for (const char* dtype : {"<i4", "int99", "", "<M8[s]", "S2"}) {
    EXPECT_EQ(
        error(array_of(number(GDT_UInt16), 2),
              {"FILTER=DELTA", "DELTA_DTYPE=" + std::string(dtype)}),
        "creation option DELTA_DTYPE=" + std::string(dtype) +
            " does not support arrays of the type uint16: it must be a number of the same size, "
            "such as <i2");
  }
  EXPECT_EQ(error(array_of(number(GDT_CFloat32), 2), {"FILTER=DELTA"}),
            "creation option FILTER=DELTA does not support arrays of the type complex64: its "
            "elements are not integers");
}

TEST(NewArray, Strings) {
  const auto any = GDALExtendedDataType::CreateString();
  const auto short_ones = GDALExtendedDataType::CreateString(5);
  EXPECT_EQ(document(array_of(any, 3))["data_type"], "string");
  EXPECT_EQ(document(array_of(short_ones, 3), {"STRING_FORMAT=VARIABLE"})["data_type"], "string");
  EXPECT_EQ(document(array_of(short_ones, 3))["data_type"], "string");
  EXPECT_EQ(dump_json(document(array_of(short_ones, 3), {"STRING_FORMAT=ASCII"})["data_type"]),
            R"({"name":"null_terminated_bytes","configuration":{"length_bytes":5}})");
  EXPECT_EQ(document(array_of(any, 3))["fill_value"], "");
  EXPECT_EQ(codecs(array_of(any, 3)), R"([{"name":"vlen-utf8"}])");
  EXPECT_EQ(document(array_of(any, 2))["dtype"], "|O");
  EXPECT_EQ(filters(array_of(any, 2), {"COMPRESS=ZSTD"}),
            R"([{"id":"vlen-utf8"}] {"id":"zstd","level":13})");
  EXPECT_EQ(document(array_of(any, 2), {"STRING_FORMAT=ASCII"})["dtype"], "|O");
  EXPECT_EQ(document(array_of(short_ones, 2), {"STRING_FORMAT=VARIABLE"})["dtype"], "|O");
  EXPECT_EQ(document(array_of(short_ones, 2))["dtype"], "|S5");
  EXPECT_EQ(document(array_of(short_ones, 2), {"STRING_FORMAT=ASCII"})["dtype"], "|S5");
  EXPECT_EQ(document(array_of(short_ones, 2), {"STRING_FORMAT=UNICODE"})["dtype"], "<U5");
  EXPECT_EQ(error(array_of(any, 2), {"FILTER=SHUFFLE"}),
            "creation option FILTER=SHUFFLE does not support arrays of the type string: the length "
            "of its elements varies");
}

GDALExtendedDataType compound(
    const std::vector<std::pair<std::string, GDALExtendedDataType>>& members) {
  std::vector<std::unique_ptr<GDALEDTComponent>> components;
  std::size_t size = 0;
  for (const auto& [name, type] : members) {
    components.push_back(std::make_unique<GDALEDTComponent>(name, size, type));
    size += type.GetSize() + 3;  // padding, which is not stored
  }
  return GDALExtendedDataType::Create("", size, std::move(components));
}

TEST(NewArray, Compounds) {
  const GDALExtendedDataType type =
      compound({{"id", number(GDT_Int32)},
                {"name", GDALExtendedDataType::CreateString(4)},
                {"at", compound({{"x", number(GDT_Float32)}, {"y", number(GDT_Float64)}})}});
  EXPECT_EQ(dump_json(document(array_of(type, 2))["dtype"]),
            R"([["id","<i4"],["name","|S4"],["at",[["x","<f4"],["y","<f8"]]]])");
  EXPECT_EQ(dump_json(document(array_of(type, 3), {"STRING_FORMAT=UNICODE"})["data_type"]),
            R"({"name":"struct","configuration":{"fields":[{"name":"id","data_type":"int32"},)"
            R"({"name":"name","data_type":{"name":"fixed_length_utf32",)"
            R"("configuration":{"length_bytes":16}}},)"
            R"({"name":"at","data_type":{"name":"struct","configuration":{"fields":[)"
            R"({"name":"x","data_type":"float32"},{"name":"y","data_type":"float64"}]}}}]}})");
  EXPECT_EQ(error(array_of(compound({{"s", GDALExtendedDataType::CreateString()}}), 3), {}),
            "a string in a compound needs a maximum length");
  EXPECT_EQ(error(array_of(compound({{"", number(GDT_Byte)}}), 3), {}),
            "a component of a compound has no name");
  EXPECT_EQ(error(array_of(compound({{"a", number(GDT_Byte)}, {"a", number(GDT_Byte)}}), 3), {}),
            "two components of a compound are called \"a\"");
}

TEST(NewArray, RefusesChunksTooLargeForTheirCompressor) {
  const NewArray array = array_of(number(GDT_Float64), 3, {100000, 100000});
  EXPECT_EQ(error(array, {"BLOCKSIZE=16384,16384", "COMPRESS=BLOSC"}),
            "chunks of 2147483648 bytes are too large for creation option COMPRESS=BLOSC: its "
            "limit is 2147483631");
  EXPECT_EQ(error(array, {"BLOCKSIZE=4294967296,4294967296", "COMPRESS=GZIP"}),
            "chunks of 2^64 or more bytes are too large for creation option COMPRESS=GZIP: its "
            "limit is 2147483647");
  EXPECT_EQ(error(array, {"BLOCKSIZE=16384,16384"}), "no error");
  EXPECT_NE(error(array, {"BLOCKSIZE=4294967296,4294967296"}), "no error");
  // Each inner chunk is compressed by itself.
  EXPECT_EQ(error(array, {"BLOCKSIZE=16384,16384", "SHARD_CHUNK_SHAPE=512,512", "COMPRESS=BLOSC"}),
            "no error");
}

TEST(NewArray, ZfpTakesOneParameterAndNothingBefore) {
  const NewArray array = array_of(number(GDT_Float64), 3);
  EXPECT_EQ(codecs(array, {"COMPRESS=ZFP"}),
            R"([{"name":"numcodecs.zfpy","configuration":)"
            R"({"mode":4,"tolerance":-1,"rate":-1,"precision":-1}}])");
  EXPECT_EQ(codecs(array, {"COMPRESS=ZFP", "ZFP_PRECISION=20"}),
            R"([{"name":"numcodecs.zfpy","configuration":)"
            R"({"mode":3,"tolerance":-1,"rate":-1,"precision":20}}])");
  EXPECT_EQ(error(array, {"COMPRESS=ZFP", "ZFP_RATE=8", "ZFP_TOLERANCE=1"}),
            "creation options ZFP_TOLERANCE and ZFP_RATE exclude each other");
  EXPECT_EQ(error(array, {"COMPRESS=ZFP", "KEEPBITS=8"}),
            "creation option COMPRESS=ZFP excludes FILTER and KEEPBITS");
  EXPECT_EQ(
      error(array_of(number(GDT_Int32), 3), {"COMPRESS=ZFP", "ZFP_TOLERANCE=1"}),
      "creation option ZFP_TOLERANCE does not support arrays of the type int32: zfp honours it for "
      "floating point numbers only");
  // What only the codec knows.
  EXPECT_NE(error(array_of(number(GDT_Int16), 3), {"COMPRESS=ZFP"}), "no error");
  EXPECT_NE(error(array_of(number(GDT_Float32), 3, {2, 2, 2, 2, 2}), {"COMPRESS=ZFP"}), "no error");
}

// Creates an array by its options, writes numbers, and reads them from what is in the store.
struct Case {
  int zarr_format;
  GDALDataType type;
  std::vector<std::string> options;
};

void PrintTo(const Case& test_case, std::ostream* stream) {
  *stream << "v" << test_case.zarr_format << ' ' << GDALGetDataTypeName(test_case.type);
  for (const std::string& option : test_case.options) *stream << ' ' << option;
}

class CreatedArray : public testing::TestWithParam<Case> {};

std::vector<Case> cases() {
  std::vector<std::vector<std::string>> option_lists{
      {},
      {"COMPRESS=BLOSC"},
      {"COMPRESS=BZ2"},
      {"COMPRESS=GZIP"},
      {"COMPRESS=LZ4"},
      {"COMPRESS=LZMA"},
      {"COMPRESS=LZMA", "LZMA_DELTA=2"},
      {"COMPRESS=ZLIB"},
      {"COMPRESS=ZSTD"},
      {"COMPRESS=ZSTD", "FILTER=SHUFFLE", "CHECKSUM=CRC32C", "CHUNK_MEMORY_LAYOUT=F"},
      {"CHECKSUM=CRC32", "DIM_SEPARATOR=/"},
      {"COMPRESS=BLOSC", "CHECKSUM=ADLER32", "DIM_SEPARATOR=."},
      {"COMPRESS=LZ4", "CHECKSUM=FLETCHER32"},
      {"CHUNKS=AUTO"}};
  for (const char* name : {"blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"}) {
    option_lists.push_back({"COMPRESS=BLOSC", "BLOSC_CNAME=" + std::string(name)});
  }
  std::vector<Case> all;
  for (const int zarr_format : {2, 3}) {
    for (const auto& options : option_lists) {
      for (const GDALDataType type : {GDT_Byte, GDT_Int16, GDT_UInt32, GDT_Int64, GDT_Float32,
                                      GDT_Float64, GDT_CFloat32, GDT_CFloat64}) {
        all.push_back({zarr_format, type, options});
      }
    }
    for (const GDALDataType type : {GDT_Byte, GDT_Int16, GDT_UInt64}) {
      all.push_back({zarr_format, type, {"FILTER=DELTA", "CHUNK_MEMORY_LAYOUT=F"}});
    }
    for (const GDALDataType type : {GDT_Int32, GDT_Int64, GDT_Float32, GDT_Float64}) {
      all.push_back({zarr_format, type, {"COMPRESS=ZFP", "CHUNK_MEMORY_LAYOUT=F"}});
    }
    // Numbers that have no more bits.
    all.push_back({zarr_format, GDT_Float32, {"KEEPBITS=16", "COMPRESS=ZSTD"}});
  }
  all.push_back({2, GDT_Float32, {"FILTER=DELTA", "DELTA_DTYPE=<u4", "KEEPBITS=16"}});
  all.push_back({2, GDT_Int16, {"FILTER=DELTA", "DELTA_DTYPE=>u2"}});
  for (const GDALDataType type : {GDT_Byte, GDT_Float64}) {
    all.push_back({3, type, {"SHARDING=AUTO", "SHARD_CHUNK_SHAPE=32,64", "COMPRESS=ZSTD"}});
    all.push_back({3,
                   type,
                   {"BLOCKSIZE=128,128", "SHARD_CHUNK_SHAPE=32,64", "COMPRESS=BLOSC",
                    "CHUNK_MEMORY_LAYOUT=F", "CHECKSUM=CRC32C"}});
  }
  return all;
}

TEST_P(CreatedArray, GivesBackWhatWasWritten) {
  const Case& test_case = GetParam();
  const Shape shape{100, 300};
  const ArrayMetadata metadata =
      make(array_of(number(test_case.type), test_case.zarr_format, shape), test_case.options);
  const auto store = std::make_shared<zarrcore::MemoryStore>();
  zarrcore::Hierarchy::create(store, format_of(test_case.zarr_format), metadata);

  std::vector<std::int32_t> values(30000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int>(i * i % 251);
  const auto encoder = make_element_encoder(number(GDT_Int32), metadata.data_type);
  const zarrcore::Strides strides = zarrcore::c_strides(shape, sizeof(std::int32_t));
  const zarrcore::Selection everything{{0, 0}, {100, 300}, {}};
  {
    const zarrcore::Hierarchy hierarchy(store);
    zarrcore::ArrayWriter writer(hierarchy.open_array("", std::make_shared<zarrcore::Context>()));
    writer.write(everything,
                 {reinterpret_cast<const std::byte*>(values.data()), strides, encoder.get()});
    writer.flush();
  }
  const zarrcore::Hierarchy hierarchy(store);
  const auto array = hierarchy.open_array("", std::make_shared<zarrcore::Context>());
  EXPECT_EQ(array->data_type(), metadata.data_type);
  EXPECT_EQ(gdal_type(array->data_type()), number(test_case.type));
  const auto decoder = make_converter(array->data_type(), number(GDT_Int32));
  std::vector<std::int32_t> read(values.size(), -1);
  array->read(everything, {reinterpret_cast<std::byte*>(read.data()), strides, decoder.get()});
  EXPECT_EQ(read, values);
}

INSTANTIATE_TEST_SUITE_P(Options, CreatedArray, testing::ValuesIn(cases()));

}  // namespace
}  // namespace gdal_zarr::test::new_array_test
