// Changes of nodes in stores of the draft of 2020.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "autotest/cpp/support/bytes.h"
#include "autotest/cpp/support/expect_error.h"
#include "zarrcore/hierarchy/hierarchy.h"
#include "zarrcore/store/memory_store.h"

namespace zarrcore::test::draft_changes_test {
namespace {

const std::string kDraftArray =
    R"({"shape":[4],"data_type":"<i2","chunk_grid":{"type":"regular","chunk_shape":[2],)"
    R"("separator":"/"},"chunk_memory_layout":"C","compressor":{)"
    R"("codec":"https://purl.org/zarr/spec/codec/gzip/1.0","configuration":{"level":1}},)"
    R"("fill_value":"0x0007","extensions":[],"attributes":{"a":1.10}})";

class DraftChanges : public testing::TestWithParam<std::string> {
 protected:
  // The documents of a store with the array "g/a" in a group without a document.
  std::shared_ptr<MemoryStore> store() const {
    auto store = std::make_shared<MemoryStore>();
    const Json entry{{"zarr_format", "https://purl.org/zarr/spec/protocol/core/3.0"},
                     {"metadata_key_suffix", GetParam()}};
    store->put("zarr.json", bytes_of(entry.dump()));
    store->put("meta/root.group" + GetParam(), bytes_of(R"({"attributes":{"t":1.10},"mine":2})"));
    store->put("meta/root/g/a.array" + GetParam(), bytes_of(kDraftArray));
    store->put("meta/root/g/other.array" + GetParam(), bytes_of(kDraftArray));
    store->put("data/root/g/a/c0", bytes_of({1, 0, 2, 0}));
    store->put("data/root/g/other/c0", bytes_of({1, 0, 2, 0}));
    return store;
  }

  static std::unique_ptr<Hierarchy> open(const std::shared_ptr<Store>& store) {
    HierarchyOptions options;
    options.is_writable = true;
    return std::make_unique<Hierarchy>(store, options);
  }

  static std::string text_of(Store& store, const std::string& key) {
    const auto value = store.get(key, kNoSizeLimit);
    return value ? dump_json(parse_json(value->text()), {.as_read = true}) : "(none)";
  }
};

INSTANTIATE_TEST_SUITE_P(Suffixes, DraftChanges, testing::Values(".json", ".js", ""));

TEST_P(DraftChanges, AnUpdateChangesShapeAndAttributesAlone) {
  const auto memory = store();
  const auto hierarchy = open(memory);
  hierarchy->update_node("g/a", [](NodeMetadata& node) {
    auto& array = std::get<ArrayMetadata>(node);
    array.shape = {6};
    array.attributes["b"] = "new";
    array.dimension_names = {"x"};
  });
  hierarchy->flush();
  std::string expected = kDraftArray;
  expected.replace(expected.find("[4]"), 3, "[6]");
  expected.replace(expected.find("1.10}"), 5, R"(1.10,"b":"new","_ARRAY_DIMENSIONS":["x"]})");
  EXPECT_EQ(text_of(*memory, "meta/root/g/a.array" + GetParam()), expected);
  EXPECT_EQ(text_of(*memory, "meta/root/g/other.array" + GetParam()), kDraftArray);
  const auto again = as_array(Hierarchy(memory).node("g/a"));
  EXPECT_EQ(again->shape, Shape{6});
  EXPECT_EQ(again->dimension_names.at(0), "x");
  EXPECT_EQ(again->attributes["b"], "new");
}

TEST_P(DraftChanges, AFillValueCanChange) {
  const auto memory = store();
  const auto hierarchy = open(memory);
  hierarchy->update_node("g/a", [](NodeMetadata& node) {
    std::get<ArrayMetadata>(node).fill_value = bytes_of({9, 0});
  });
  hierarchy->flush();
  EXPECT_EQ(as_array(Hierarchy(memory).node("g/a"))->fill_value, bytes_of({9, 0}));
}

TEST_P(DraftChanges, GroupsCanBeUpdated) {
  const auto memory = store();
  const auto hierarchy = open(memory);
  for (const char* path : {"", "g"}) {
    hierarchy->update_node(
        path, [](NodeMetadata& node) { std::get<GroupMetadata>(node).attributes["b"] = "new"; });
  }
  hierarchy->flush();
  EXPECT_EQ(text_of(*memory, "meta/root.group" + GetParam()),
            R"({"attributes":{"t":1.10,"b":"new"},"mine":2})");
  EXPECT_EQ(text_of(*memory, "meta/root/g.group" + GetParam()),
            R"({"extensions":[],"attributes":{"b":"new"}})");
}

TEST_P(DraftChanges, OfARootOfBothKindsTheGroupCanBeUpdated) {
  const auto memory = store();
  memory->erase("meta/root.group" + GetParam());  // it is implied
  memory->put("meta/root.array" + GetParam(), bytes_of(kDraftArray));
  const auto hierarchy = open(memory);
  EXPECT_ERROR(hierarchy->update_node(
                   "", [](NodeMetadata& /*node*/) {}, NodeKind::array),
               "an array that is also a group");
  hierarchy->update_node(
      "", [](NodeMetadata& node) { std::get<GroupMetadata>(node).attributes["b"] = "new"; });
  hierarchy->flush();
  EXPECT_EQ(text_of(*memory, "meta/root.array" + GetParam()), kDraftArray);
  EXPECT_EQ(text_of(*memory, "meta/root.group" + GetParam()),
            R"({"extensions":[],"attributes":{"b":"new"}})");
}

TEST_P(DraftChanges, AttributesDoNotBecomeFilters) {
  const auto memory = store();
  const auto hierarchy = open(memory);
  hierarchy->update_node("g/a", [](NodeMetadata& node) {
    std::get<ArrayMetadata>(node).attributes["filters"] =
        parse_json(R"([{"id":"delta","dtype":"<i2"}])");
  });
  EXPECT_ERROR(hierarchy->flush(), "/g/a", "would change the codecs");
  EXPECT_EQ(text_of(*memory, "meta/root/g/a.array" + GetParam()), kDraftArray);
}

TEST_P(DraftChanges, NodesAreErasedWithTheirChunks) {
  const auto memory = store();
  const auto hierarchy = open(memory);
  EXPECT_NE(hierarchy->node("g/a"), nullptr);
  hierarchy->erase_node("g/a");
  EXPECT_EQ(hierarchy->node("g/a"), nullptr);
  EXPECT_EQ(memory->list("data/root/g").prefixes, std::vector<std::string>{"other"});
  EXPECT_EQ(Hierarchy(memory).child_names("g", NodeKind::array), std::vector<std::string>{"other"});
  hierarchy->erase_node("g");
  EXPECT_TRUE(memory->list("data/root").is_empty());
  EXPECT_TRUE(Hierarchy(memory).child_names("", NodeKind::group).empty());
}

ArrayMetadata new_array(const Format& format) {
  ArrayMetadata array;
  array.shape = array.chunk_shape = {2};
  array.data_type = {TypeKind::complex, 8};
  const NewArrayRules& rules = *format.new_array_rules();
  array.chunk_key_encoding = {rules.key_kind, rules.key_separator};
  array.codecs = {{"bytes", {{"endian", "big"}}},
                  {"numcodecs.delta", {{"dtype", ">c8"}}},
                  {"gzip", {{"level", 1}}}};
  array.dimension_names = {"x"};
  return array;
}

TEST_P(DraftChanges, NewNodesHaveWholeDocuments) {
  const auto memory = store();
  const auto hierarchy = open(memory);
  hierarchy->create_node("g/h", GroupMetadata());
  hierarchy->create_node("g/h/new", new_array(hierarchy->format()));
  EXPECT_EQ(text_of(*memory, "meta/root/g/h.group" + GetParam()),
            R"({"extensions":[],"attributes":{}})");
  EXPECT_EQ(text_of(*memory, "meta/root/g/h/new.array" + GetParam()),
            R"({"shape":[2],"data_type":{"extension":)"
            R"("https://purl.org/zarr/spec/protocol/extensions/complex-dtypes/1.0",)"
            R"("type":">c8","fallback":null},)"
            R"("chunk_grid":{"type":"regular","chunk_shape":[2],"separator":"/"},)"
            R"("chunk_memory_layout":"C",)"
            R"("compressor":{"codec":"https://purl.org/zarr/spec/codec/gzip/1.0",)"
            R"("configuration":{"level":1}},"fill_value":null,"extensions":[],)"
            R"("attributes":{"_ARRAY_DIMENSIONS":["x"],)"
            R"("filters":[{"id":"delta","dtype":">c8"}]}})");
  const auto again = as_array(Hierarchy(memory).node("g/h/new"));
  EXPECT_EQ(again->chunk_prefix, "data/root/g/h/new");
  EXPECT_EQ(again->data_type, (DataType{TypeKind::complex, 8}));
  EXPECT_EQ(again->codecs.size(), 3u);
  EXPECT_EQ(as_array(hierarchy->node("g/h/new"))->chunk_prefix, again->chunk_prefix);
}

TEST_P(DraftChanges, NewNodesReplaceNothing) {
  const auto memory = store();
  memory->put("data/root/g/old/c0", bytes_of({1}));
  const auto hierarchy = open(memory);
  EXPECT_ERROR(hierarchy->create_node("g/a", GroupMetadata()), "/g/a", "already exists");
  EXPECT_ERROR(hierarchy->create_node("g/old", GroupMetadata()), "/g/old",
               "something else than a node");
  EXPECT_ERROR(hierarchy->create_node("none/b", GroupMetadata()), "/none", "does not exist");
  EXPECT_ERROR(hierarchy->rename_node("g/a", "other"), "/g/a", "already exists");
  ArrayMetadata array = new_array(hierarchy->format());
  array.chunk_key_encoding = {ChunkKeyEncoding::Kind::v2, '.'};
  EXPECT_ERROR(hierarchy->create_node("g/b", array), "/g/b", "cannot express the chunk keys");
  EXPECT_EQ(Hierarchy(memory).child_names("g", NodeKind::array),
            (std::vector<std::string>{"a", "other"}));
}

TEST_P(DraftChanges, ArraysAndGroupsAreRenamedWithTheirChunks) {
  const auto memory = store();
  const auto hierarchy = open(memory);
  hierarchy->update_node(
      "g/a", [](NodeMetadata& node) { std::get<ArrayMetadata>(node).attributes["b"] = "new"; });
  hierarchy->rename_node("g/a", "b");
  EXPECT_EQ(hierarchy->node("g/a"), nullptr);
  EXPECT_EQ(as_array(hierarchy->node("g/b"))->chunk_prefix, "data/root/g/b");
  EXPECT_EQ(as_array(hierarchy->node("g/b"))->attributes["b"], "new");
  hierarchy->rename_node("g", "h");
  EXPECT_EQ(memory->list_all("data/root"),
            (std::vector<std::string>{"data/root/h/b/c0", "data/root/h/other/c0"}));
  EXPECT_EQ(Hierarchy(memory).child_names("", NodeKind::group), std::vector<std::string>{"h"});
  EXPECT_EQ(text_of(*memory, "meta/root/h/other.array" + GetParam()), kDraftArray);
  EXPECT_TRUE(memory->list("meta/root/g").is_empty());
}

}  // namespace
}  // namespace zarrcore::test::draft_changes_test
