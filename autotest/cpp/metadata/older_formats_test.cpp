// v1 and the draft of 2020: how they differ from v2 and v3, whose tests say the rest.
#include <gtest/gtest.h>

#include <map>

#include "autotest/cpp/support/bytes.h"
#include "autotest/cpp/support/documents.h"
#include "autotest/cpp/support/expect_error.h"
#include "zarrcore/metadata/format.h"

namespace zarrcore::test::older_formats_test {
namespace {

Json v1_document(std::string_view compression, std::string_view options) {
  Json document = parse_json(R"({"zarr_format": 1, "shape": [4, 6], "chunks": [2, 3],
      "dtype": "<i2", "fill_value": 7, "order": "F"})");
  document["compression"] = parse_json(compression);
  document["compression_opts"] = parse_json(options);
  return document;
}

TEST(V1Array, BecomesTheOneModel) {
  const ArrayMetadata array = read_array(
      v1_format(), {{"meta", v1_document("\"zlib\"", "3")}, {"attrs", {{"units", "K"}}}}, "");
  EXPECT_EQ(array.shape, (Shape{4, 6}));
  EXPECT_EQ(array.chunk_shape, (Shape{2, 3}));
  EXPECT_EQ(array.fill_value, bytes_in_memory(std::int16_t{7}));
  EXPECT_EQ(array.chunk_key_encoding, (ChunkKeyEncoding{ChunkKeyEncoding::Kind::v2, '.'}));
  EXPECT_EQ(array.attributes["units"], "K");
  ASSERT_EQ(array.codecs.size(), 3);
  EXPECT_EQ(array.codecs[0].name, "transpose");
  EXPECT_EQ(array.codecs[1].name, "bytes");
  EXPECT_EQ(array.codecs[2].name, "numcodecs.zlib");
  EXPECT_EQ(array.codecs[2].configuration, parse_json(R"({"level": 3})"));
}

TEST(V1Array, OptionsAreALevelOrAConfiguration) {
  const auto codec = [](std::string_view compression, std::string_view options) {
    return read_array(v1_format(), {{"meta", v1_document(compression, options)}}, "").codecs.back();
  };
  EXPECT_EQ(codec("\"blosc\"", R"({"cname": "lz4", "clevel": 5, "shuffle": 1})").name,
            "numcodecs.blosc");
  EXPECT_EQ(codec("\"bz2\"", "1").configuration, parse_json(R"({"level": 1})"));
  EXPECT_EQ(codec("\"bz2\"", "null").configuration, Json::object());
  EXPECT_EQ(codec("null", "null").name, "bytes");
  EXPECT_EQ(codec("\"none\"", "null").name, "bytes");
  EXPECT_ERROR(codec("7", "null"), "\"compression\" is neither a string nor null");
}

Json draft_array() {
  return parse_json(R"({"shape": [4, 6], "data_type": ">i2", "chunk_memory_layout": "F",
      "fill_value": "0x0102", "extensions": [], "attributes": {"units": "K"},
      "chunk_grid": {"type": "regular", "chunk_shape": [2, 3], "separator": "."},
      "compressor": {"codec": "https://purl.org/zarr/spec/codec/gzip/1.0",
                     "configuration": {"level": 2}}})");
}

ArrayMetadata parse_draft_array(const Json& document, const std::string& path) {
  return read_array(
      draft_format(),
      {{"zarr.json", {{"zarr_format", "https://purl.org/zarr/spec/protocol/core/3.0"}}},
       {"meta/root/" + path + ".array.json", document}},
      path);
}

TEST(DraftArray, BecomesTheOneModel) {
  const ArrayMetadata array = parse_draft_array(draft_array(), "a/b");
  EXPECT_EQ(array.shape, (Shape{4, 6}));
  EXPECT_EQ(array.fill_value, bytes_in_memory(std::int16_t{0x0102}));
  EXPECT_EQ(array.chunk_prefix, "data/root/a/b");
  EXPECT_EQ(array.chunk_key_encoding, (ChunkKeyEncoding{ChunkKeyEncoding::Kind::draft, '.'}));
  ASSERT_EQ(array.codecs.size(), 3);
  EXPECT_EQ(array.codecs[0].name, "transpose");
  EXPECT_EQ(array.codecs[1].configuration, parse_json(R"({"endian": "big"})"));
  EXPECT_EQ(array.codecs[2].name, "numcodecs.gzip");
  EXPECT_EQ(array.codecs[2].configuration, parse_json(R"({"level": 2})"));
}

TEST(DraftArray, OptionsOfBloscMayBeGdalsWords) {
  Json document = draft_array();
  document["compressor"] = parse_json(R"({"codec": "https://purl.org/zarr/spec/codec/blosc/1.0",
      "configuration": {"cname": "lz4", "shuffle": "BIT"}})");
  EXPECT_EQ(parse_draft_array(document, "a").codecs.back().configuration["shuffle"], 2);
  document["compressor"]["configuration"]["shuffle"] = "SOME";
  EXPECT_ERROR(parse_draft_array(document, "a"), "\"shuffle\" of blosc is \"SOME\"");
}

TEST(DraftArray, FiltersOfZarrPythonStandAmongTheAttributes) {
  Json document = draft_array();
  document["attributes"]["filters"] = parse_json(R"([{"id": "delta", "dtype": ">i2"}])");
  const ArrayMetadata array = parse_draft_array(document, "a");
  EXPECT_EQ(array.codecs[2].name, "numcodecs.delta");
  EXPECT_EQ(array.attributes, parse_json(R"({"units": "K"})"));
  document["attributes"]["filters"] = "none of ours";
  EXPECT_EQ(parse_draft_array(document, "a").attributes, document["attributes"]);
}

TEST(DraftArray, AnUnknownTypeIsReadAsItsFallbackIfThatIsACoreType) {
  Json document = draft_array();
  document["fill_value"] = nullptr;
  document["data_type"] = parse_json(R"({"extension": "x", "type": "decimal"})");
  for (const auto& [fallback, type] : {std::pair(">f4", DataType{TypeKind::floating, 4}),
                                       {"|u1", {}},
                                       {"bool", {TypeKind::boolean}},
                                       {"<i8", {TypeKind::signed_integer, 8}},
                                       {"r24", {TypeKind::raw, 3}}}) {
    document["data_type"]["fallback"] = fallback;
    EXPECT_EQ(parse_draft_array(document, "a").data_type, type) << fallback;
  }
  document["data_type"]["fallback"] = ">f4";
  document["chunk_memory_layout"] = "C";
  EXPECT_EQ(parse_draft_array(document, "a").codecs[0].configuration["endian"], "big");
}

TEST(DraftArray, ExtensionsThatAreNotKnownAreErrors) {
  Json document = draft_array();
  document["fill_value"] = nullptr;
  document["data_type"] = parse_json(R"({"extension": "x", "type": "decimal", "fallback": "<c8"})");
  EXPECT_ERROR(parse_draft_array(document, "a"),
               "the data type \"decimal\" of the extension \"x\" is not supported");
  document["data_type"]["fallback"] = parse_json(R"({"extension": "y", "type": "<i4"})");
  EXPECT_ERROR(parse_draft_array(document, "a"),
               "the data type \"decimal\" of the extension \"x\"");
  document["data_type"] = parse_json(R"({
      "extension": "https://purl.org/zarr/spec/protocol/extensions/datetime-dtypes/1.0",
      "type": "<M8[ns]", "fallback": "<i8"})");
  EXPECT_EQ(parse_draft_array(document, "a").data_type.kind, TypeKind::datetime);
  document["data_type"] = parse_json(R"({"extension": "x", "type": "decimal", "fallback": null})");
  EXPECT_ERROR(parse_draft_array(document, "a"), "the data type \"decimal\" is not supported");
  document = draft_array();
  document["extensions"] = parse_json(R"([{"extension": "far/out", "must_understand": true}])");
  EXPECT_ERROR(parse_draft_array(document, "a"), "the extension \"far/out\" is not supported");
  document["extensions"][0]["must_understand"] = false;
  EXPECT_NO_THROW(parse_draft_array(document, "a"));
}

TEST(DraftArray, StorageTransformersAndUnknownMembersOfTheGridAreErrors) {
  Json document = draft_array();
  document["storage_transformers"] = Json::array();
  EXPECT_NO_THROW(parse_draft_array(document, "a"));
  // As zarr-python wrote shards for a time.
  document["storage_transformers"] = parse_json(R"([{
      "extension": "https://purl.org/zarr/spec/storage_transformers/sharding/1.0",
      "type": "indexed", "configuration": {"chunks_per_shard": [2, 2]}}])");
  EXPECT_ERROR(parse_draft_array(document, "a"), "the storage transformers",
               "storage_transformers/sh", "are not supported");
  document["storage_transformers"] = "indexed";
  EXPECT_ERROR(parse_draft_array(document, "a"), "the storage transformers \"indexed\"");
  document = draft_array();
  document["chunk_grid"]["offset"] = 1;
  EXPECT_ERROR(parse_draft_array(document, "a"), "the chunk grid has a member \"offset\"");
}

TEST(DraftArray, RawBytesAreAStructureOfOneNamelessField) {
  Json document = draft_array();
  document["fill_value"] = nullptr;
  document["data_type"] = parse_json(R"({"extension": "x", "type": [["", "|V8"]]})");
  EXPECT_EQ(parse_draft_array(document, "a").data_type, (DataType{TypeKind::raw, 8}));
}

// The documents of a store and what stands directly below `meta/root`.
DocumentSource draft_store(std::map<std::string, std::string> texts, DirectoryListing below) {
  texts.emplace("zarr.json", R"({"zarr_format": "https://purl.org/zarr/spec/protocol/core/3.0"})");
  DocumentSource source = documents_of_texts(
      [texts = std::move(texts)](const std::string& key) -> std::optional<std::string> {
        const auto it = texts.find(key);
        return it == texts.end() ? std::nullopt : std::optional(it->second);
      });
  source.list = [below = std::move(below)](const std::string& prefix) {
    return prefix == "meta/root" ? below : DirectoryListing();
  };
  return source;
}

TEST(DraftFormat, ARootMayBeAnArrayAndAGroup) {
  const Format& draft = draft_format();
  const std::string array = draft_array().dump();
  const DocumentSource both =
      draft_store({{"meta/root.array.json", array}, {"meta/root.group.json", "{}"}}, {});
  const DocumentSource implied = draft_store(
      {{"meta/root.array.json", array}, {"meta/root/g.group.json", "{}"}}, {{"g.group.json"}, {}});
  for (const DocumentSource& source : {both, implied}) {
    EXPECT_TRUE(std::holds_alternative<GroupMetadata>(draft.read_node(source, "").value()));
    ASSERT_TRUE(draft.read_root_array(source));
    EXPECT_EQ(draft.read_root_array(source)->chunk_prefix, "data/root");
  }
  const DocumentSource alone = draft_store({{"meta/root.array.json", array}}, {});
  EXPECT_TRUE(std::holds_alternative<ArrayMetadata>(draft.read_node(alone, "").value()));
  EXPECT_FALSE(draft.read_root_array(alone));
  const DocumentSource broken =
      draft_store({{"meta/root.array.json", "{}"}, {"meta/root.group.json", "{}"}}, {});
  EXPECT_ERROR(draft.read_root_array(broken), "meta/root.array.json: ", "\"shape\" is missing");
}

TEST(DraftFormat, GroupsAreImpliedAndConsolidatedMetadataIsNoNode) {
  const std::map<std::string, std::string> texts{
      {"zarr.json", R"({"zarr_format": "https://purl.org/zarr/spec/protocol/core/3.0",
                        "metadata_key_suffix": ".js"})"},
      {"meta/root/g/a.array.js", draft_array().dump()},
      {"meta/root/consolidated/.group.js", "{}"}};
  DocumentSource source =
      documents_of_texts([&](const std::string& key) -> std::optional<std::string> {
        const auto it = texts.find(key);
        return it == texts.end() ? std::nullopt : std::optional(it->second);
      });
  source.list = [](const std::string& prefix) -> DirectoryListing {
    if (prefix == "meta/root") return {{}, {"consolidated", "g"}};
    if (prefix == "meta/root/g") return {{"a.array.js"}, {}};
    return {};
  };
  const Format& draft = draft_format();
  EXPECT_EQ(draft.child_names(source, ""), (std::vector<std::string>{"g"}));
  EXPECT_EQ(draft.child_names(source, "g"), (std::vector<std::string>{"a"}));
  EXPECT_TRUE(std::holds_alternative<GroupMetadata>(draft.read_node(source, "").value()));
  EXPECT_TRUE(std::holds_alternative<GroupMetadata>(draft.read_node(source, "g").value()));
  EXPECT_TRUE(std::holds_alternative<ArrayMetadata>(draft.read_node(source, "g/a").value()));
  EXPECT_FALSE(draft.read_node(source, "h"));
}

}  // namespace
}  // namespace zarrcore::test::older_formats_test
