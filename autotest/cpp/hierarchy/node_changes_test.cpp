#include <gtest/gtest.h>

#include "autotest/cpp/support/any_hierarchy.h"
#include "autotest/cpp/support/bytes.h"
#include "autotest/cpp/support/expect_error.h"
#include "zarrcore/hierarchy/hierarchy.h"
#include "zarrcore/metadata/format.h"
#include "zarrcore/store/memory_store.h"

namespace zarrcore::test::node_changes_test {
namespace {

class NodeChanges : public AnyHierarchy {};

INSTANTIATE_TEST_SUITE_P(Formats, NodeChanges, hierarchy_cases());

TEST_P(NodeChanges, NodesAreThereAtOnceAndAfterFlush) {
  hierarchy_->create_node("g", group_with("group"));
  ArrayMetadata metadata = array("g/a");
  metadata.attributes["title"] = "array";
  hierarchy_->create_node("g/a", metadata);
  for (int flushed = 0; flushed < 2; ++flushed) {
    expect_found("", "root");
    expect_found("g", "group");
    expect_found("g/a", "array");
    EXPECT_EQ(hierarchy_->children("g").size(), 1U);
    EXPECT_FALSE(is_consolidated_now() && flushed == 0);
    hierarchy_->flush();
  }
  EXPECT_EQ(is_consolidated_now(), GetParam().is_consolidated);
}

TEST_P(NodeChanges, ChangesOfAttributesReachEveryReader) {
  hierarchy_->create_node("g", group_with("group"));
  hierarchy_->create_node("g/a", array("g/a"));
  hierarchy_->flush();
  ArrayMetadata changed = array("g/a");
  changed.attributes["title"] = "changed";
  hierarchy_->update_node("g/a", becomes(changed));
  hierarchy_->update_node("", becomes(group_with("new root")));
  EXPECT_EQ(title(*hierarchy_, "g/a"), "changed");
  EXPECT_EQ(is_consolidated_now(), GetParam().is_consolidated);
  hierarchy_->flush_node("g/a");
  EXPECT_FALSE(is_consolidated_now());
  expect_found("g/a", "changed");
  hierarchy_->flush();
  expect_found("g/a", "changed");
  expect_found("", "new root");
  EXPECT_EQ(is_consolidated_now(), GetParam().is_consolidated);
}

TEST_P(NodeChanges, ManyChangesOfAttributesCopyNothing) {
  hierarchy_->create_node("g", group_with("group"));
  hierarchy_->create_node("g/a", array("g/a"));
  hierarchy_->flush();
  const auto set_title = [&](const std::string& path, const char* text, long held = 0) {
    hierarchy_->update_attributes(
        path, [&](Json& attributes) { attributes["title"] = text; }, {}, held);
  };
  for (const std::string path : {"g", "g/a"}) {
    const auto first = hierarchy_->node(path);
    set_title(path, "one");
    const auto second = hierarchy_->node(path);
    EXPECT_NE(second, first);
    set_title(path, "two", 1);  // `second`
    EXPECT_EQ(hierarchy_->node(path), second);
    const auto other = second;
    set_title(path, "three", 1);
    EXPECT_NE(hierarchy_->node(path), second);
    EXPECT_EQ(title(*hierarchy_, path), "three");
    EXPECT_THROW(
        hierarchy_->update_attributes(path, [](Json& /*attributes*/) { throw Error("no"); }),
        Error);
    hierarchy_->flush();
    expect_found(path, "three");
  }
  set_title("g", "four");
  EXPECT_ERROR(hierarchy_->update_attributes(
                   "g", [](Json& attributes) { attributes.clear(); }, NodeKind::array),
               "g");
  EXPECT_EQ(title(*hierarchy_, "g"), "four");
}

TEST_P(NodeChanges, AnErasedNodeIsGoneWithAllBelowIt) {
  hierarchy_->create_node("g", group_with("group"));
  hierarchy_->create_node("g/h", group_with("inner"));
  hierarchy_->create_node("g/h/a", array("g/h/a"));
  hierarchy_->create_node("gh", group_with("other"));
  store_->put("g/h/a/0", bytes_of("xy"));
  hierarchy_->flush();
  hierarchy_->erase_node("g");
  for (int flushed = 0; flushed < 2; ++flushed) {
    for (const char* path : {"g", "g/h", "g/h/a"}) expect_found(path, "(none)");
    expect_found("gh", "other");
    hierarchy_->flush();
  }
  EXPECT_TRUE(store_->list("g").prefixes.empty());
  hierarchy_->create_node("g", group_with("again"));
  expect_found("g", "again");
  EXPECT_TRUE(hierarchy_->children("g").empty());
}

TEST_P(NodeChanges, ARenamedNodeMovesWithAllBelowIt) {
  hierarchy_->create_node("g", group_with("group"));
  ArrayMetadata metadata = array("g/a");
  metadata.attributes["title"] = "array";
  hierarchy_->create_node("g/a", metadata);
  const std::string chunk = metadata.chunk_key_encoding.encode(Shape{0});
  store_->put("g/a/" + chunk, bytes_of("xy"));
  hierarchy_->flush();
  hierarchy_->rename_node("g", "new");
  for (int flushed = 0; flushed < 2; ++flushed) {
    expect_found("g", "(none)");
    expect_found("g/a", "(none)");
    expect_found("new", "group");
    expect_found("new/a", "array");
    hierarchy_->flush();
  }
  const auto opened = hierarchy_->open_array("new/a", std::make_shared<Context>());
  std::string values(4, '?');
  opened->read({{0}, {4}, {}}, values.data(), values.size());
  EXPECT_EQ(values, "xy\7\7");
  hierarchy_->create_node("g", group_with("another"));
  EXPECT_ERROR(hierarchy_->rename_node("g", "new"), "already");
  EXPECT_ERROR(hierarchy_->rename_node("g", "a/b"), "cannot be named");
  EXPECT_ERROR(hierarchy_->rename_node("", "b"), "");
  expect_found("g", "another");
}

TEST_P(NodeChanges, ANodeIsMadeOnlyWhereNothingStands) {
  hierarchy_->create_node("a", array("a"));
  EXPECT_ERROR(hierarchy_->create_node("a", group_with("x")), "already");
  EXPECT_ERROR(hierarchy_->create_node("a/b", group_with("x")), "the group /a does not exist");
  EXPECT_ERROR(hierarchy_->create_node("g/b", group_with("x")), "the group /g does not exist");
  EXPECT_ERROR(hierarchy_->create_node("../b", group_with("x")), "");
  EXPECT_ERROR(hierarchy_->create_node("", group_with("x")), "");
  store_->put("old/c/0", bytes_of("xy"));
  EXPECT_ERROR(hierarchy_->create_node("old", array("old")), "something else than a node");
  EXPECT_ERROR(hierarchy_->create_node(GetParam().format == v2_format ? ".zattrs" : "zarr.json",
                                       group_with("x")),
               "has this name");
  EXPECT_ERROR(Hierarchy::create(store_, format(), group_with("x"), options()),
               "a Zarr already exists here");
}

TEST_P(NodeChanges, AnUpdatedNodeThatMovesOrGoesTakesItsMetadataAlong) {
  hierarchy_->create_node("g", group_with("group"));
  hierarchy_->create_node("h", group_with("group"));
  hierarchy_->update_node("g", becomes(group_with("changed")));
  hierarchy_->update_node("h", becomes(group_with("changed")));
  hierarchy_->rename_node("g", "n");
  hierarchy_->erase_node("h");
  hierarchy_->flush();
  expect_found("n", "changed");
  expect_found("g", "(none)");
  expect_found("h", "(none)");
}

TEST_P(NodeChanges, TwoHandlesKeepEachOthersChanges) {
  hierarchy_->create_node("g", group_with("group"));
  hierarchy_->create_node("g/a", array("g/a"));
  hierarchy_->flush();
  HierarchyOptions options;
  options.is_writable = true;
  Hierarchy other(store_, options);
  const auto set = [](const std::string& name) {
    return
        [name](NodeMetadata& node) { std::visit([&](auto& n) { n.attributes[name] = 1; }, node); };
  };
  for (Hierarchy* one : {hierarchy_.get(), &other}) {
    for (const char* path : {"", "g", "g/a"}) {
      one->update_node(path, set(one == &other ? "theirs" : "ours"));
    }
  }
  hierarchy_->create_node("n", group_with("new"));
  other.flush();
  hierarchy_->flush();
  for (const bool use_consolidated : {true, false}) {
    HierarchyOptions reading;
    reading.use_consolidated = use_consolidated;
    const Hierarchy found(store_, reading);
    EXPECT_EQ(title(found, "n"), "new");
    for (const char* path : {"", "g", "g/a"}) {
      const auto node = found.node(path);
      const Json& attributes =
          std::visit([](const auto& n) -> const Json& { return n.attributes; }, *node);
      EXPECT_TRUE(attributes.contains("ours") && attributes.contains("theirs")) << path;
    }
  }
  EXPECT_EQ(is_consolidated_now(), GetParam().is_consolidated);
}

TEST(HierarchyChanges, WhatCannotBeExpressedIsNotTouched) {
  auto memory = std::make_shared<MemoryStore>();
  auto hierarchy = Hierarchy::create(memory, v2_format(), group_with("root"));
  hierarchy->flush();
  ArrayMetadata metadata;
  metadata.shape = {4};
  metadata.chunk_runs = {{{1, 4}}};
  metadata.data_type = {TypeKind::unsigned_integer, 1};
  metadata.codecs = {{"bytes"}};
  metadata.dimension_names = {std::nullopt};
  EXPECT_ERROR(hierarchy->create_node("a", metadata), "/a");
  EXPECT_TRUE(Hierarchy(memory).is_consolidated());
  EXPECT_EQ(hierarchy->node("a"), nullptr);
  EXPECT_ERROR(Hierarchy::create(std::make_shared<MemoryStore>(), draft_format(), group_with("x")),
               "draft");
}

}  // namespace
}  // namespace zarrcore::test::node_changes_test
