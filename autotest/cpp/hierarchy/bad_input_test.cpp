// Bad input. Each test puts a broken node beside a good one: the message must name the node and the
// problem, and the good one must open as if it were alone.
#include <gtest/gtest.h>

#include <algorithm>

#include "autotest/cpp/support/bytes.h"
#include "autotest/cpp/support/expect_error.h"
#include "autotest/cpp/support/layout.h"
#include "autotest/cpp/support/stored_array.h"
#include "zarrcore/base/endian.h"
#include "zarrcore/hierarchy/hierarchy.h"
#include "zarrcore/store/memory_store.h"

namespace zarrcore::test::bad_input_test {
namespace {

constexpr std::size_t kMillion = 1'000'000;

class BadInput : public testing::Test {
 protected:
  BadInput() {
    put("zarr.json", R"({"zarr_format": 3, "node_type": "group"})");
    write_array(*store_, "good", document(codec_list({bytes_codec(), codec("zstd")})), values_);
  }

  void TearDown() override {
    const Hierarchy hierarchy(store_);
    const auto children = hierarchy.children("");
    EXPECT_TRUE(std::any_of(children.begin(), children.end(), [](const Child& child) {
      return child.name == "good" && child.kind == Child::Kind::array;
    }));
    const auto array = hierarchy.open_array("good", std::make_shared<Context>());
    EXPECT_EQ(read(*array, everything(kShape)), values_);
  }

  void put(const std::string& key, std::string_view text) { store_->put(key, bytes_of(text)); }

  // An array of 2 × 2 chunks.
  static Json document(const std::string& codecs = codec_list({bytes_codec()})) {
    return array_document(kShape, {4, 4}, "\"int32\"", codecs);
  }

  // The array /bad, whose chunk 0/1 is then changed.
  void write_bad(const std::string& codecs) {
    write_array(*store_, "bad", document(codecs), values_);
  }
  Bytes chunk() const { return to_bytes(store_->get("bad/c/0/1", kNoSizeLimit)->span()); }
  void put_chunk(const Bytes& bytes) { store_->put("bad/c/0/1", bytes); }

  Bytes read_bad(const Selection& selection) const {
    const auto context = std::make_shared<Context>();
    return read(*Hierarchy(store_).open_array("bad", context), selection, {.threads = 2});
  }

  void expect_bad_node(std::initializer_list<std::string_view> parts) const {
    const auto open = [this] { read_bad(everything(kShape)); };
    EXPECT_TRUE(throws_error(open, parts));
    EXPECT_TRUE(throws_error(open, {"bad"}));
  }

  // Reading the chunk, wholly and in part, is an error; reading the others is none.
  void expect_bad_chunk(std::initializer_list<std::string_view> parts) const {
    for (const Selection& selection : {everything(kShape), Selection{{1, 5}, {2, 2}, {}}}) {
      const auto open = [&] { read_bad(selection); };
      EXPECT_TRUE(throws_error(open, parts));
      EXPECT_TRUE(throws_error(open, {"array /bad", "bad/c/0/1"}));
    }
    const Selection others{{4, 0}, {4, 8}, {}};
    EXPECT_EQ(read_bad(others), selected(values_, kShape, 4, others));
  }

  static inline const Shape kShape{8, 8};

  std::shared_ptr<MemoryStore> store_ = std::make_shared<MemoryStore>();
  Random random_{35};
  Bytes values_ = random_bytes(random_, 8 * 8 * 4);
};

TEST_F(BadInput, MissingJson) {
  put("bad/c/0/0", "a chunk");
  expect_bad_node({"there is no node at /bad"});
}

TEST_F(BadInput, BrokenJson) {
  for (const std::string_view text : {"", "{", R"({"zarr_format": 3,})", "\xff\xfe", "null"}) {
    put("bad/zarr.json", text);
    expect_bad_node({"bad/zarr.json: "});
  }
}

TEST_F(BadInput, WrongTypesInJson) {
  for (const char* member :
       {"zarr_format", "node_type", "shape", "data_type", "chunk_grid", "chunk_key_encoding",
        "fill_value", "codecs", "attributes", "dimension_names", "storage_transformers"}) {
    for (const char* json : {"7.5", "\"text\"", "{}", "[[]]", "true"}) {
      Json changed = document();
      const Json wrong = parse_json(json);
      // These happen to be right.
      if (member == std::string("attributes") && wrong.is_object()) continue;
      if (member == std::string("fill_value") && wrong == true) continue;
      changed[member] = wrong;
      put_document(*store_, "bad", changed);
      expect_bad_node({"bad/zarr.json: "});
    }
  }
}

TEST_F(BadInput, UnknownCodec) {
  put_document(*store_, "bad", document(codec_list({bytes_codec(), codec("snip")})));
  expect_bad_node({"array /bad: the codec \"snip\" is not supported"});
}

TEST_F(BadInput, UnknownDataType) {
  Json changed = document();
  changed["data_type"] = "decimal";
  put_document(*store_, "bad", changed);
  expect_bad_node({"bad/zarr.json: the data type \"decimal\" is not supported"});
}

TEST_F(BadInput, UnknownExtension) {
  Json changed = document();
  changed["colour"] = "red";
  put_document(*store_, "bad", changed);
  expect_bad_node({"bad/zarr.json: the member \"colour\" is an extension"});
}

TEST_F(BadInput, ChunkTooShort) {
  for (const std::string compressor : {"crc32c", "gzip", "zlib", "zstd", "blosc"}) {
    write_bad(codec_list({bytes_codec(), codec(compressor)}));
    Bytes bytes = chunk();
    bytes.pop_back();
    put_chunk(bytes);
    expect_bad_chunk({});
    put_chunk({});
    expect_bad_chunk({});
  }
  write_bad(codec_list({bytes_codec()}));
  put_chunk(Bytes(63));
  expect_bad_chunk({"63 bytes where 64 are expected"});
}

TEST_F(BadInput, ChunkTooLong) {
  write_bad(codec_list({bytes_codec()}));
  put_chunk(Bytes(65));
  expect_bad_chunk({"65 bytes where at most 64 can be right"});
  put_chunk(Bytes(10 * kMillion));
  expect_bad_chunk({"10000000 bytes"});
}

TEST_F(BadInput, ChunkThatDecodesToTooMuchOrTooLittle) {
  for (const std::string compressor : {"gzip", "zlib", "zstd", "blosc", "crc32c"}) {
    const std::string codecs = codec_list({bytes_codec(), codec(compressor)});
    for (const Shape& shape : {Shape{4, 3}, Shape{4, 5}, Shape{4, 40000}}) {
      write_bad(codecs);
      const CodecChain chain(parse_codec_list(parse_json(codecs), "codecs"),
                             {shape, {TypeKind::signed_integer, 4}, Bytes(4)});
      put_chunk(to_bytes(chain.encode(Bytes(element_count(shape) * 4)).span()));
      expect_bad_chunk({});
    }
  }
}

TEST_F(BadInput, CorruptChunk) {
  for (const std::string compressor : {"gzip", "zlib", "zstd", "blosc"}) {
    write_bad(codec_list({bytes_codec(), codec(compressor)}));
    Bytes noise = random_bytes(random_, chunk().size());
    put_chunk(noise);
    expect_bad_chunk({compressor});
  }
}

TEST_F(BadInput, WrongChecksum) {
  for (const std::string& checked :
       {codec("crc32c"), codec("zstd", R"("checksum": true)"), codec("gzip"), codec("zlib")}) {
    write_bad(codec_list({bytes_codec(), checked}));
    Bytes bytes = chunk();
    bytes.back() ^= std::byte{1};
    put_chunk(bytes);
    expect_bad_chunk({});
  }
  write_bad(codec_list({bytes_codec(), codec("crc32c")}));
  Bytes bytes = chunk();
  bytes.front() ^= std::byte{1};
  put_chunk(bytes);
  expect_bad_chunk({"crc32c: the checksum is wrong"});
}

TEST_F(BadInput, ShardIndexPointsOutsideItsFile) {
  const std::string plain = codec_list({bytes_codec()});
  write_bad(codec_list({sharding_codec({2, 2}, plain, plain)}));
  const Bytes shard = chunk();
  ASSERT_EQ(shard.size(), 64 + 4 * 16);
  for (const std::uint64_t offset :
       {std::uint64_t{1000}, std::uint64_t{1} << 40, UINT64_MAX - 16, UINT64_MAX}) {
    Bytes changed = shard;
    // All four inner chunks, so that any selection meets one.
    for (std::size_t i = 0; i < 4; ++i) {
      store_integer(offset, Endian::little, changed.data() + 64 + i * 16);
    }
    put_chunk(changed);
    expect_bad_chunk({std::to_string(offset)});
  }
}

TEST_F(BadInput, ShardIndexWithLengthsThatCannotBeRight) {
  const std::string plain = codec_list({bytes_codec()});
  const std::string gzipped = codec_list({bytes_codec(), codec("gzip")});
  for (const std::string& codecs : {plain, gzipped}) {
    write_bad(codec_list({sharding_codec({2, 2}, codecs, plain)}));
    Bytes shard = chunk();
    const std::size_t index = shard.size() - 64;
    for (std::size_t i = 0; i < 4; ++i) {
      store_integer(std::uint64_t{1} << 45, Endian::little, shard.data() + index + i * 16 + 8);
    }
    put_chunk(shard);
    expect_bad_chunk({"inner chunk", std::to_string(std::uint64_t{1} << 45)});
  }
}

TEST_F(BadInput, ShardIndexWithAWrongChecksum) {
  write_bad(codec_list({sharding_codec({2, 2}, codec_list({bytes_codec()}), index_codecs())}));
  Bytes shard = chunk();
  shard[shard.size() - 5] ^= std::byte{1};
  put_chunk(shard);
  expect_bad_chunk({"shard index: crc32c: the checksum is wrong"});
}

TEST_F(BadInput, ShardShorterThanItsIndex) {
  const std::string plain = codec_list({bytes_codec()});
  for (const char* location : {"start", "end"}) {
    write_bad(codec_list({sharding_codec({2, 2}, plain, plain, location)}));
    for (const std::size_t size : {0, 63}) {
      put_chunk(Bytes(size));
      expect_bad_chunk({"shard"});
    }
  }
}

TEST_F(BadInput, ChunkShapeWithAZero) {
  Json changed = document();
  changed["chunk_grid"]["configuration"]["chunk_shape"] = {4, 0};
  put_document(*store_, "bad", changed);
  expect_bad_node({"array /bad: the chunk shape is zero in dimension 1"});
}

TEST_F(BadInput, ChunkShapeWithAnOverflowingProduct) {
  const std::uint64_t large = std::uint64_t{1} << 32;
  for (const Shape& chunk_shape : {Shape{large, large}, Shape{UINT64_MAX, 1},
                                   Shape{large, large / 4}, Shape{UINT64_MAX, UINT64_MAX}}) {
    Json changed = document();
    changed["chunk_grid"]["configuration"]["chunk_shape"] = chunk_shape;
    put_document(*store_, "bad", changed);
    expect_bad_node({"array /bad: ", "larger than any memory"});
  }
}

TEST_F(BadInput, ShapeWithMoreChunksThanCanBeCounted) {
  const std::uint64_t large = std::uint64_t{1} << 34;
  Json changed = document();
  changed["shape"] = {large, large};
  changed["chunk_grid"]["configuration"]["chunk_shape"] = {1, 1};
  put_document(*store_, "bad", changed);
  expect_bad_node({"array /bad: the array has more than 2^63 chunks"});
}

TEST_F(BadInput, InnerChunkShapeThatDoesNotFit) {
  const std::string plain = codec_list({bytes_codec()});
  for (const Shape& inner : {Shape{0, 0}, Shape{3, 4}, Shape{8, 8}, Shape{UINT64_MAX, 1}}) {
    put_document(*store_, "bad", document(codec_list({sharding_codec(inner, plain, plain)})));
    expect_bad_node({"array /bad: codec \"sharding_indexed\": the inner chunk length"});
  }
}

TEST_F(BadInput, DataTypeLargerThanAnyElement) {
  Json changed = document();
  changed["data_type"] = "r8796093022208";
  put_document(*store_, "bad", changed);
  expect_bad_node({"bad/zarr.json: the data type \"r8796093022208\" is not supported"});
}

TEST_F(BadInput, AMillionLevelsOfJson) {
  for (const char* level : {"[", R"({"a":)"}) {
    std::string text = R"({"zarr_format": 3, "node_type": "group", "attributes": {"a": )";
    for (std::size_t i = 0; i < kMillion; ++i) text += level;
    put("bad/zarr.json", text);
    expect_bad_node({"bad/zarr.json: JSON is nested deeper than 256 levels"});
  }
}

TEST_F(BadInput, ManyLevelsOfShards) {
  const auto nested = [](int levels) {
    std::string codecs = codec_list({bytes_codec()});
    for (int i = 0; i < levels; ++i) {
      codecs = codec_list({sharding_codec({4, 4}, codecs, index_codecs())});
    }
    const std::string text = dump_json(document());
    return text.substr(0, text.find("\"codecs\"")) + "\"codecs\":" + codecs + "}";
  };
  put("bad/zarr.json", nested(100));
  expect_bad_node({"bad/zarr.json: JSON is nested deeper than 256 levels"});
  put("bad/zarr.json", nested(60));
  EXPECT_EQ(read_bad(everything(kShape)), Bytes(values_.size()));
  put_chunk(Bytes(1000));
  EXPECT_TRUE(throws_error([this] { read_bad(everything(kShape)); }, {"bad/c/0/1"}));
}

TEST_F(BadInput, AMillionNestedGroups) {
  std::string path = "bad";
  for (std::size_t i = 0; i < kMillion; ++i) path += "/g";
  store_->put(path + "/zarr.json", bytes_of(R"({"zarr_format": 3, "node_type": "group"})"));
  const Hierarchy hierarchy(store_);
  EXPECT_ERROR(hierarchy.node(path), "the node path \"bad/g/g", "is deeper than 128 levels");
  EXPECT_ERROR(hierarchy.open_array(path, std::make_shared<Context>()), "deeper than 128 levels");
  EXPECT_EQ(hierarchy.children("").size(), 1);
}

TEST_F(BadInput, AMillionNestedGroupsInConsolidatedMetadata) {
  std::string path = "bad";
  for (std::size_t i = 0; i < kMillion; ++i) path += "/g";
  const Json group = parse_json(R"({"zarr_format": 3, "node_type": "group"})");
  Json root = group;
  root["consolidated_metadata"] = {
      {"kind", "inline"},
      {"metadata",
       {{path, group}, {"good", parse_json(store_->get("good/zarr.json", kNoSizeLimit)->text())}}}};
  put_document(*store_, "", root);
  std::vector<std::string> problems;
  const Hierarchy hierarchy(
      store_, {.on_problem = [&](const std::string& problem) { problems.push_back(problem); }});
  ASSERT_EQ(problems.size(), 1);
  EXPECT_NE(problems[0].find("is deeper than 128 levels"), std::string::npos);
  EXPECT_EQ(hierarchy.children("").size(), 1);
}

TEST_F(BadInput, NamesThatLeadOut) {
  const Hierarchy hierarchy(store_);
  for (const char* path : {"..", "../bad", "good/../bad", "bad/.", "bad\\..\\.."}) {
    EXPECT_ERROR(hierarchy.node(path), std::string("\"") + path + "\" is not a valid node path");
    EXPECT_ERROR(hierarchy.children(path), "is not a valid node path");
  }
}

TEST_F(BadInput, NamesThatLeadOutInConsolidatedMetadata) {
  const Json group = parse_json(R"({"zarr_format": 3, "node_type": "group"})");
  Json root = group;
  Json metadata{{"../bad", group}, {"bad/../../x", group}, {"/", group}};
  metadata["good"] = parse_json(store_->get("good/zarr.json", kNoSizeLimit)->text());
  root["consolidated_metadata"] = {{"kind", "inline"}, {"metadata", metadata}};
  put_document(*store_, "", root);
  std::vector<std::string> problems;
  const Hierarchy hierarchy(
      store_, {.on_problem = [&](const std::string& problem) { problems.push_back(problem); }});
  ASSERT_EQ(problems.size(), 2);
  EXPECT_NE(problems[0].find("\"../bad\" is not a valid node path"), std::string::npos);
  EXPECT_NE(problems[1].find("\"bad/../../x\" is not a valid node path"), std::string::npos);
  EXPECT_EQ(hierarchy.children("").size(), 1);
}

// The same in v2, where the documents are others.
class BadV2Input : public testing::Test {
 protected:
  BadV2Input() {
    put(".zgroup", R"({"zarr_format": 2})");
    put("good/.zarray", dump_json(document()));
    put("good/0", "abcd");
  }

  void TearDown() override {
    const Hierarchy hierarchy(store_);
    EXPECT_EQ(read(*hierarchy.open_array("good", std::make_shared<Context>()), everything({4})),
              bytes_of("abcd"));
  }

  static Json document() {
    return parse_json(R"({"zarr_format": 2, "shape": [4], "chunks": [4], "dtype": "|u1",
                          "fill_value": 0, "order": "C", "compressor": null, "filters": null})");
  }

  void put(const std::string& key, std::string_view text) { store_->put(key, bytes_of(text)); }
  void put_bad(std::string_view member, const Json& value) {
    Json changed = document();
    changed[std::string(member)] = value;
    put("bad/.zarray", dump_json(changed));
  }

  void expect_bad(std::initializer_list<std::string_view> parts) const {
    const auto read_bad = [this] {
      const auto context = std::make_shared<Context>();
      read(*Hierarchy(store_).open_array("bad", context), everything({4}));
    };
    EXPECT_TRUE(throws_error(read_bad, parts));
  }

  std::shared_ptr<MemoryStore> store_ = std::make_shared<MemoryStore>();
};

TEST_F(BadV2Input, MissingJson) {
  put("bad/.zattrs", "{}");
  put("bad/0", "abcd");
  expect_bad({"there is no node at /bad"});
}

TEST_F(BadV2Input, BrokenJson) {
  put("bad/.zarray", "{");
  expect_bad({"bad/.zarray: not valid JSON"});
  put("bad/.zarray", dump_json(document()));
  put("bad/.zattrs", "{\"a\": }");
  expect_bad({"bad/.zattrs: not valid JSON"});
}

TEST_F(BadV2Input, WrongTypesInJson) {
  for (const char* member : {"zarr_format", "shape", "chunks", "dtype", "fill_value", "order",
                             "filters", "compressor", "dimension_separator"}) {
    for (const char* json : {"7.5", "\"text\"", "{}", "[[]]", "false"}) {
      if (member == std::string("fill_value") && json == std::string("false")) continue;
      put_bad(member, parse_json(json));
      expect_bad({"bad/.zarray: "});
    }
  }
}

TEST_F(BadV2Input, UnknownCodec) {
  put_bad("compressor", {{"id", "snip"}});
  expect_bad({"array /bad: the codec \"numcodecs.snip\" is not supported"});
  put_bad("filters", Json::array({{{"id", "pickle"}}}));
  expect_bad({"array /bad: the codec \"numcodecs.pickle\" is not supported"});
}

TEST_F(BadV2Input, ChunkTooShort) {
  put("bad/.zarray", dump_json(document()));
  put("bad/0", "abc");
  expect_bad({"array /bad: chunk bad/0: the chunk has 3 bytes where 4 are expected"});
}

TEST_F(BadV2Input, ChunkTooLong) {
  put("bad/.zarray", dump_json(document()));
  put("bad/0", "abcde");
  expect_bad({"array /bad: chunk bad/0: ", "5 bytes where at most 4 can be right"});
}

TEST_F(BadV2Input, CorruptChunk) {
  for (const char* id : {"zlib", "gzip", "zstd", "blosc"}) {
    put_bad("compressor", {{"id", id}});
    put("bad/0", "this is not compressed");
    expect_bad({"array /bad: chunk bad/0: ", id});
  }
}

TEST_F(BadV2Input, ChunkShapeWithAZero) {
  put_bad("chunks", {0});
  expect_bad({"array /bad: the chunk shape is zero in dimension 0"});
}

TEST_F(BadV2Input, ChunkShapeWithAnOverflowingProduct) {
  Json changed = document();
  changed["shape"] = {4, 4};
  changed["chunks"] = {std::uint64_t{1} << 33, std::uint64_t{1} << 33};
  put("bad/.zarray", dump_json(changed));
  expect_bad({"array /bad: ", "larger than any memory"});
}

TEST_F(BadV2Input, AMillionLevelsOfJson) {
  put("bad/.zarray", dump_json(document()));
  put("bad/.zattrs", "{\"a\": " + std::string(kMillion, '['));
  expect_bad({"bad/.zattrs: JSON is nested deeper than 256 levels"});
}

TEST_F(BadV2Input, NamesThatLeadOutInConsolidatedMetadata) {
  Json metadata{{".zgroup", {{"zarr_format", 2}}}, {"../bad/.zgroup", {{"zarr_format", 2}}}};
  metadata["good/.zarray"] = document();
  put(".zmetadata", dump_json(Json{{"zarr_consolidated_format", 1}, {"metadata", metadata}}));
  std::vector<std::string> problems;
  const Hierarchy hierarchy(
      store_, {.on_problem = [&](const std::string& problem) { problems.push_back(problem); }});
  ASSERT_EQ(problems.size(), 1);
  EXPECT_NE(problems[0].find("\"../bad/.zgroup\" is not a valid node path"), std::string::npos);
  EXPECT_EQ(hierarchy.children("").size(), 1);
}

}  // namespace
}  // namespace zarrcore::test::bad_input_test
