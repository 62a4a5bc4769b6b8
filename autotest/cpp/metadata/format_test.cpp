// The two formats as the hierarchy sees them: which documents they ask for, and what consolidated
// metadata becomes.
#include "zarrcore/metadata/format.h"

#include <gtest/gtest.h>

#include <set>

#include "autotest/cpp/support/expect_error.h"
#include "zarrcore/metadata/v2.h"
#include "zarrcore/metadata/v3.h"

namespace zarrcore::test {
namespace {

// Documents under their keys; notes what was asked for.
class Documents {
 public:
  Documents(std::initializer_list<std::pair<const std::string, std::string>> texts)
      : texts_(texts) {}

  DocumentSource source() {
    const auto document = [this](const std::string& key) -> std::optional<Json> {
      asked_.insert(key);
      const auto it = texts_.find(key);
      return it == texts_.end() ? std::nullopt : std::optional(parse_json(it->second));
    };
    return {document, [](const std::string&) { return DirectoryListing(); }};
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
  EXPECT_EQ(consolidated->documents.find("g/a/b/.zarray")->second["x"], 1);
  EXPECT_TRUE(consolidated->problems.empty());
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
  EXPECT_ERROR(read("{}"), ".zmetadata: the member \"zarr_consolidated_format\" is missing");
  EXPECT_ERROR(read(R"({"zarr_consolidated_format": 2, "metadata": {}})"),
               ".zmetadata: \"zarr_consolidated_format\" is 2, not 1");
  EXPECT_ERROR(read(R"({"zarr_consolidated_format": 1})"), "\"metadata\" is missing");
  EXPECT_ERROR(read(R"({"zarr_consolidated_format": 1, "metadata": []})"),
               "\"metadata\" is not an object");
  EXPECT_ERROR(read("7"), ".zmetadata: the document is an integer");
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
  EXPECT_EQ(consolidated->documents.find("g/a/b/zarr.json")->second["x"], 2);
  // The group's own document is there as it would be without the others in it.
  EXPECT_EQ(dump_json(consolidated->documents.find("g/zarr.json")->second),
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
                                                  "Zarr v1"}));
}

}  // namespace
}  // namespace zarrcore::test
