// The two formats as the hierarchy sees them: which documents they ask for, and what consolidated
// metadata becomes.
#include "zarrcore/metadata/format.h"

#include <gtest/gtest.h>

#include <set>

#include "autotest/cpp/support/documents.h"
#include "autotest/cpp/support/expect_error.h"

namespace zarrcore::test::format_test {
namespace {

// Documents under their keys; notes what was requested.
class Documents {
 public:
  Documents(std::initializer_list<std::pair<const std::string, std::string>> texts)
      : texts_(texts) {}

  DocumentSource source() {
    return documents_of_texts([this](const std::string& key) -> std::optional<std::string> {
      asked_.insert(key);
      const auto it = texts_.find(key);
      return it == texts_.end() ? std::nullopt : std::optional(it->second);
    });
  }
  const std::set<std::string>& asked() const { return asked_; }

 private:
  std::map<std::string, std::string> texts_;
  std::set<std::string> asked_;
};

constexpr const char* kV2Array =
    R"({"zarr_format": 2, "shape": [1], "chunks": [1], "dtype": "|u1", "fill_value": 0})";
constexpr const char* kV3Array = R"({
    "zarr_format": 3, "node_type": "array", "shape": [1], "data_type": "uint8", "fill_value": 0,
    "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [1]}},
    "chunk_key_encoding": "default", "codecs": ["bytes"]})";
constexpr const char* kV3Group = R"({"zarr_format": 3, "node_type": "group"})";

std::vector<std::string> keys_of(const ConsolidatedDocuments& consolidated) {
  std::vector<std::string> keys;
  for (const auto& [key, document] : consolidated.documents) keys.push_back(key);
  return keys;
}

using Keys = std::vector<std::string>;

TEST(V2Format, AnArrayHasItsAttributesBesideIt) {
  Documents documents{{"a/.zarray", kV2Array}, {"a/.zattrs", R"({"units": "K"})"}};
  const auto node = v2_format().read_node(documents.source(), "a");
  ASSERT_TRUE(node);
  EXPECT_EQ(std::get<ArrayMetadata>(*node).attributes["units"], "K");
}

TEST(V2Format, AGroupHasItsAttributesBesideIt) {
  Documents documents{{".zgroup", R"({"zarr_format": 2})"}, {".zattrs", R"({"title": "x"})"}};
  const auto node = v2_format().read_node(documents.source(), "");
  ASSERT_TRUE(node);
  EXPECT_EQ(std::get<GroupMetadata>(*node).attributes["title"], "x");
}

TEST(V2Format, NoDocumentIsNoNode) {
  Documents documents{{"a/.zattrs", "{}"}};
  EXPECT_FALSE(v2_format().read_node(documents.source(), "a"));
}

TEST(V2Format, FaultsNameTheDocument) {
  const auto read = [](Documents documents) {
    return v2_format().read_node(documents.source(), "a");
  };
  EXPECT_ERROR(read(Documents{{"a/.zarray", "{}"}}),
               "a/.zarray: the member \"zarr_format\" is missing");
  EXPECT_ERROR(read(Documents{{"a/.zgroup", R"({"zarr_format": 1})"}}),
               "a/.zgroup: \"zarr_format\" is 1");
  EXPECT_ERROR(read(Documents{{"a/.zarray", kV2Array}, {"a/.zattrs", "[]"}}),
               "a/.zattrs: the document is a list");
}

TEST(V2Format, ConsolidatedMetadataIsDocumentsByKey) {
  Documents documents{{"g/.zmetadata", R"({"zarr_consolidated_format": 1, "metadata": {
      ".zgroup": {"zarr_format": 2}, "a/b/.zarray": {"x": 1}, "a/.zgroup": {}}})"}};
  const auto consolidated = v2_format().read_consolidated(documents.source(), "g");
  ASSERT_TRUE(consolidated);
  EXPECT_EQ(keys_of(*consolidated), (Keys{"g/.zgroup", "g/a/.zgroup", "g/a/b/.zarray"}));
  EXPECT_EQ(consolidated->documents.find("g/a/b/.zarray")->second.get()["x"], 1);
  EXPECT_TRUE(consolidated->problems.empty());
}

TEST(V2Format, ConsolidatedMetadataNeedNotStateItsFormat) {
  Documents documents{{".zmetadata", R"({"metadata": {"a/.zarray": {"x": 1}}})"}};
  const auto consolidated = v2_format().read_consolidated(documents.source(), "");
  ASSERT_TRUE(consolidated);
  EXPECT_EQ(keys_of(*consolidated), Keys{"a/.zarray"});
}

TEST(V2Format, ConsolidatedNamesThatLeadOutAreLeftOut) {
  Documents documents{{".zmetadata", R"({"zarr_consolidated_format": 1, "metadata": {
      "../.zgroup": {}, "a/../../b/.zarray": {}, "a/./.zgroup": {}, "a\u0000/.zgroup": {},
      "good/.zgroup": {}}})"}};
  const auto consolidated = v2_format().read_consolidated(documents.source(), "");
  ASSERT_TRUE(consolidated);
  EXPECT_EQ(keys_of(*consolidated), Keys{"good/.zgroup"});
  ASSERT_EQ(consolidated->problems.size(), 4);
  EXPECT_EQ(consolidated->problems[0],
            "consolidated metadata: \"../.zgroup\" is not a valid node path");
}

TEST(V2Format, ConsolidatedMetadataOfAnotherKindIsRefusedByName) {
  const auto read = [](const char* text) {
    return v2_format().read_consolidated(Documents{{".zmetadata", text}}.source(), "");
  };
  EXPECT_ERROR(read("{}"), ".zmetadata: the member \"metadata\" is missing");
  EXPECT_ERROR(read(R"({"zarr_consolidated_format": null, "metadata": {}})"),
               ".zmetadata: \"zarr_consolidated_format\" is null, not 1");
  EXPECT_ERROR(read(R"({"zarr_consolidated_format": 2, "metadata": {}})"),
               ".zmetadata: \"zarr_consolidated_format\" is 2, not 1");
  EXPECT_ERROR(read(R"({"zarr_consolidated_format": 1})"), "\"metadata\" is missing");
  EXPECT_ERROR(read(R"({"zarr_consolidated_format": 1, "metadata": []})"),
               "\"metadata\" is not an object");
  EXPECT_ERROR(read("7"), ".zmetadata: the document is an integer");
  EXPECT_ERROR(read(R"({"zarr_consolidated_format": 1, "metadata": {}, "record_size": 10})"),
               ".zmetadata: it belongs to Kerchunk references in Parquet files");
}

TEST(V3Format, ANodeIsOneDocument) {
  Documents documents{{"a/zarr.json", kV3Array}, {"zarr.json", kV3Group}};
  EXPECT_TRUE(
      std::holds_alternative<ArrayMetadata>(*v3_format().read_node(documents.source(), "a")));
  EXPECT_TRUE(
      std::holds_alternative<GroupMetadata>(*v3_format().read_node(documents.source(), "")));
  EXPECT_FALSE(v3_format().read_node(documents.source(), "b"));
  EXPECT_EQ(documents.asked(), (std::set<std::string>{"a/zarr.json", "b/zarr.json", "zarr.json"}));
}

TEST(V3Format, FaultsNameTheDocument) {
  Documents documents{{"a/zarr.json", "{}"}};
  EXPECT_ERROR(v3_format().read_node(documents.source(), "a"),
               "a/zarr.json: the member \"zarr_format\" is missing");
}

TEST(V3Format, ConsolidatedMetadataIsDocumentsByNode) {
  Documents documents{{"g/zarr.json", R"({"zarr_format": 3, "node_type": "group",
      "attributes": {"t": 1}, "consolidated_metadata": {"kind": "inline", "must_understand": false,
      "metadata": {"a": {"x": 1}, "a/b": {"x": 2}}}})"}};
  const auto consolidated = v3_format().read_consolidated(documents.source(), "g");
  ASSERT_TRUE(consolidated);
  EXPECT_EQ(keys_of(*consolidated), (Keys{"g/a/b/zarr.json", "g/a/zarr.json", "g/zarr.json"}));
  EXPECT_EQ(consolidated->documents.find("g/a/b/zarr.json")->second.get()["x"], 2);
  // The group's own document is the same as without the others in it.
  EXPECT_EQ(dump_json(consolidated->documents.find("g/zarr.json")->second.get()),
            R"({"zarr_format":3,"node_type":"group","attributes":{"t":1}})");
}

TEST(V3Format, ConsolidatedNamesThatLeadOutAreLeftOut) {
  Documents documents{{"zarr.json", R"({"zarr_format": 3, "node_type": "group",
      "consolidated_metadata": {"kind": "inline", "metadata": {
      "..": {}, "a/../b": {}, "a\\b": {}, "good": {}}}})"}};
  const auto consolidated = v3_format().read_consolidated(documents.source(), "");
  ASSERT_TRUE(consolidated);
  EXPECT_EQ(keys_of(*consolidated), (Keys{"good/zarr.json", "zarr.json"}));
  EXPECT_EQ(consolidated->problems.size(), 3);
}

TEST(V3Format, NoConsolidatedMetadataIsNone) {
  for (const char* text : {kV3Group, kV3Array, "[]", R"({"consolidated_metadata": null})"}) {
    EXPECT_FALSE(v3_format().read_consolidated(Documents{{"zarr.json", text}}.source(), ""));
  }
}

TEST(V3Format, ConsolidatedMetadataOfAnotherKindIsRefusedByName) {
  const auto read = [](const std::string& member) {
    return v3_format().read_consolidated(
        Documents{{"zarr.json", R"({"consolidated_metadata": )" + member + "}"}}.source(), "");
  };
  EXPECT_ERROR(read("7"), "zarr.json: ");
  EXPECT_ERROR(read("{}"), "zarr.json: the member \"kind\" is missing");
  EXPECT_ERROR(read(R"({"kind": "external", "metadata": {}})"), "kind \"external\"");
  EXPECT_ERROR(read(R"({"kind": "inline"})"), "\"metadata\" is missing");
  EXPECT_ERROR(read(R"({"kind": "inline", "metadata": 7})"), "\"metadata\" is not an object");
}

TEST(Formats, KnowTheirDocuments) {
  for (const char* name : {".zarray", ".zgroup", ".zattrs", ".zmetadata"}) {
    EXPECT_TRUE(v2_format().is_document(name));
    EXPECT_FALSE(v3_format().is_document(name));
  }
  EXPECT_TRUE(v3_format().is_document("zarr.json"));
  EXPECT_FALSE(v2_format().is_document("zarr.json"));
}

TEST(Formats, TheMostLikelyStandsFirst) {
  std::vector<std::string_view> names;
  for (const Format* format : formats()) names.push_back(format->name());
  EXPECT_EQ(names, (std::vector<std::string_view>{"Zarr v3", "Zarr v2", "Zarr v3 draft of 2020",
                                                  "Zarr v1", "N5"}));
}

ArrayMetadata array_of(const Format& format) {
  ArrayMetadata array;
  array.shape = array.chunk_shape = {1};
  array.dimension_names = {"x"};
  array.codecs = {{"bytes"}};
  if (format.name() != v3_format().name())
    array.chunk_key_encoding = {ChunkKeyEncoding::Kind::v2, '.'};
  return array;
}

Keys keys_of(const std::vector<Document>& documents) {
  Keys keys;
  for (const Document& document : documents) keys.push_back(document.key);
  return keys;
}

TEST(V2Format, WritesDocumentsBesideEachOther) {
  const Format& format = v2_format();
  const auto array = format.array_documents(array_of(format), "g/a");
  EXPECT_EQ(keys_of(array), (Keys{"g/a/.zarray", "g/a/.zattrs"}));
  EXPECT_EQ(array[1].content, parse_json(R"({"_ARRAY_DIMENSIONS": ["x"]})"));
  const auto group = format.group_documents({parse_json(R"({"t": 1})")}, "");
  EXPECT_EQ(keys_of(group), (Keys{".zgroup", ".zattrs"}));
  EXPECT_EQ(group[1].content, parse_json(R"({"t": 1})"));
  EXPECT_EQ(format.node_keys("g"), (Keys{"g/.zarray", "g/.zgroup", "g/.zattrs", "g/.zmetadata"}));
}

TEST(V3Format, WritesOneDocument) {
  const Format& format = v3_format();
  EXPECT_EQ(keys_of(format.array_documents(array_of(format), "g/a")), Keys{"g/a/zarr.json"});
  EXPECT_EQ(keys_of(format.group_documents({}, "")), Keys{"zarr.json"});
  EXPECT_EQ(format.node_keys("g"), Keys{"g/zarr.json"});
}

TEST(V1Format, WritesOneArray) {
  const Format& format = v1_format();
  const auto array = format.array_documents(array_of(format), "");
  EXPECT_EQ(keys_of(array), (Keys{"meta", "attrs"}));
  EXPECT_EQ(array[1].content, parse_json(R"({"_ARRAY_DIMENSIONS": ["x"]})"));
  EXPECT_EQ(format.node_keys(""), (Keys{"meta", "attrs"}));
  EXPECT_EQ(format.node_keys("a"), Keys());
  EXPECT_ERROR(format.array_documents(array_of(format), "a"), "Zarr v1 has one array");
  EXPECT_TRUE(format.group_documents({}, "").empty());  // until a new store has its array
  EXPECT_ERROR(format.group_documents({}, "a"), "Zarr v1 has no groups");
  EXPECT_ERROR(format.consolidated_document({}, ""), "Zarr v1 has no consolidated metadata");
}

TEST(DraftFormat, IsNotWritten) {
  const Format& format = draft_format();
  constexpr const char* kMessage = "new stores of the 2020 draft cannot be written";
  EXPECT_ERROR(format.array_documents(array_of(format), "a"), kMessage);
  EXPECT_ERROR(format.group_documents({}, "a"), kMessage);
  EXPECT_ERROR(format.node_keys("a"), kMessage);
  EXPECT_ERROR(format.consolidated_document({}, "a"), "has no consolidated metadata");
}

TEST(Formats, NameTheDocumentThatCannotBeWritten) {
  for (const Format* format : {&v2_format(), &v3_format()}) {
    ArrayMetadata array = array_of(*format);
    array.chunk_key_encoding = {ChunkKeyEncoding::Kind::draft, '/'};
    EXPECT_ERROR(format->array_documents(array, "g/a"), "g/a/", ": Zarr v", "the chunk keys");
  }
}

TEST(Formats, TextKeepsAllThatDocumentsHold) {
  const Json content = parse_json(R"({"a": [NaN, -Infinity], "b": "é😀"})");
  EXPECT_EQ(v3_format().document_text(content), R"({
  "a": [
    NaN,
    -Infinity
  ],
  "b": "é😀"
})");
  for (const Format* format : {&v1_format(), &v2_format()}) {
    EXPECT_EQ(format->document_text(content), R"({
  "a": [
    NaN,
    -Infinity
  ],
  "b": "\u00e9\ud83d\ude00"
})");
  }
}

TEST(V2Format, ConsolidatesAGroupAndAllBelow) {
  const DocumentMap documents{{"g/.zgroup", 1},     {"g/.zattrs", 2}, {"g/a/.zarray", 3},
                              {"g/.zmetadata", 4},  {".zgroup", 5},   {"ga/.zarray", 6},
                              {"g/b/.zmetadata", 7}};
  const Document document = v2_format().consolidated_document(documents, "g");
  EXPECT_EQ(document.key, "g/.zmetadata");
  EXPECT_EQ(dump_json(document.content), R"({"zarr_consolidated_format":1,)"
                                         R"("metadata":{".zattrs":2,".zgroup":1,"a/.zarray":3}})");
}

TEST(V3Format, ConsolidatesAGroupAndAllBelow) {
  const Json nested = parse_json(R"({"x": 1, "consolidated_metadata": {}})");
  const DocumentMap documents{
      {"g/zarr.json", parse_json(R"({"t": 1, "consolidated_metadata": 7})")},
      {"g/a/zarr.json", nested},
      {"g/a/b/zarr.json", parse_json(R"({"x": 2})")},
      {"zarr.json", nested},
      {"ga/zarr.json", nested},
      {"g/a/.zarray", nested}};
  const Document document = v3_format().consolidated_document(documents, "g");
  EXPECT_EQ(document.key, "g/zarr.json");
  EXPECT_EQ(dump_json(document.content),
            R"({"t":1,"consolidated_metadata":{"kind":"inline","must_understand":false,)"
            R"("metadata":{"a/b":{"x":2},"a":{"x":1}}}})");
  EXPECT_ERROR(v3_format().consolidated_document(documents, "h"),
               "h/zarr.json: no such group to consolidate");
}

}  // namespace
}  // namespace zarrcore::test::format_test
