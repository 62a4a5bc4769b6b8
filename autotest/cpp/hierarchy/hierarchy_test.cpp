#include "zarrcore/hierarchy/hierarchy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <thread>

#include "autotest/cpp/support/bytes.h"
#include "autotest/cpp/support/expect_error.h"
#include "autotest/cpp/support/observed_store.h"
#include "autotest/cpp/support/stored_array.h"
#include "autotest/cpp/support/temporary_folder.h"
#include "zarrcore/store/file_system_store.h"
#include "zarrcore/store/memory_store.h"

namespace zarrcore::test::hierarchy_test {
namespace {

constexpr const char* kV2Group = R"({"zarr_format": 2})";
constexpr const char* kV2Array = R"({
    "zarr_format": 2, "shape": [2], "chunks": [2], "dtype": "|u1", "fill_value": 5, "order": "C",
    "compressor": null, "filters": null})";
constexpr const char* kV3Group = R"({"zarr_format": 3, "node_type": "group"})";

std::string v3_array() {
  return dump_json(array_document({2}, {2}, "\"uint8\"", R"(["bytes"])", "5"));
}

using Texts = std::vector<std::pair<std::string, std::string>>;

std::shared_ptr<MemoryStore> make_store(const Texts& texts) {
  auto store = std::make_shared<MemoryStore>();
  for (const auto& [key, text] : texts) store->put(key, bytes_of(text));
  return store;
}

std::shared_ptr<MemoryStore> make_v2_tree() {
  return make_store({{".zgroup", kV2Group},
                     {".zattrs", R"({"title": "root"})"},
                     {"b/.zgroup", kV2Group},
                     {"b/a/.zarray", kV2Array},
                     {"b/a/0", "xy"},
                     {"a/.zarray", kV2Array},
                     {"a/.zattrs", R"({"units": "K"})"},
                     {"no_node/file", "x"}});
}

std::shared_ptr<MemoryStore> make_v3_tree() {
  return make_store({{"zarr.json", R"({"zarr_format": 3, "node_type": "group",
                                       "attributes": {"title": "root"}})"},
                     {"b/zarr.json", kV3Group},
                     {"b/a/zarr.json", v3_array()},
                     {"b/a/c/0", "xy"},
                     {"a/zarr.json", v3_array()},
                     {"no_node/file", "x"}});
}

std::shared_ptr<MemoryStore> make_consolidated_v2_tree() {
  auto store = make_v2_tree();
  Json metadata = Json::object();
  for (const char* key :
       {".zgroup", ".zattrs", "b/.zgroup", "b/a/.zarray", "a/.zarray", "a/.zattrs"}) {
    metadata[key] = parse_json(store->get(key, kNoSizeLimit)->text());
  }
  store->put(".zmetadata",
             bytes_of(dump_json(Json{{"zarr_consolidated_format", 1}, {"metadata", metadata}})));
  return store;
}

std::shared_ptr<MemoryStore> make_consolidated_v3_tree() {
  auto store = make_v3_tree();
  Json root = parse_json(store->get("zarr.json", kNoSizeLimit)->text());
  Json metadata = Json::object();
  // A group in consolidated metadata may have an empty member of its own.
  metadata["b"] = parse_json(R"({"zarr_format": 3, "node_type": "group", "consolidated_metadata":
      {"kind": "inline", "must_understand": false, "metadata": {}}})");
  metadata["b/a"] = parse_json(v3_array());
  metadata["a"] = parse_json(v3_array());
  root["consolidated_metadata"] = {
      {"kind", "inline"}, {"must_understand", false}, {"metadata", metadata}};
  store->put("zarr.json", bytes_of(dump_json(root)));
  return store;
}

std::string describe(const std::vector<Child>& children) {
  std::string text;
  for (const Child& child : children) {
    text += child.name;
    text += child.kind == Child::Kind::array   ? " array; "
            : child.kind == Child::Kind::group ? " group; "
                                               : " broken; ";
  }
  return text;
}

struct Tree {
  const char* label;
  std::shared_ptr<MemoryStore> (*make)();
  bool is_consolidated;
};

// What holds for every format, consolidated or not.
class AnyTree : public testing::TestWithParam<Tree> {
 protected:
  std::shared_ptr<ObservedStore> store_ = std::make_shared<ObservedStore>(GetParam().make());
  Hierarchy hierarchy_{store_};
};

INSTANTIATE_TEST_SUITE_P(Trees, AnyTree,
                         testing::Values(Tree{"V2", make_v2_tree, false},
                                         Tree{"V3", make_v3_tree, false},
                                         Tree{"V2Consolidated", make_consolidated_v2_tree, true},
                                         Tree{"V3Consolidated", make_consolidated_v3_tree, true}),
                         [](const auto& test) { return test.param.label; });

TEST_P(AnyTree, ListsChildrenByNameAndKind) {
  EXPECT_EQ(describe(hierarchy_.children("")), "a array; b group; ");
  EXPECT_EQ(describe(hierarchy_.children("b")), "a array; ");
  EXPECT_EQ(describe(hierarchy_.children("/b/")), "a array; ");
  EXPECT_EQ(describe(hierarchy_.children("b/a")), "");
  EXPECT_EQ(describe(hierarchy_.children("none")), "");
}

TEST_P(AnyTree, GivesNodesByPath) {
  EXPECT_EQ(std::get<GroupMetadata>(*hierarchy_.node("")).attributes["title"], "root");
  EXPECT_TRUE(std::holds_alternative<GroupMetadata>(*hierarchy_.node("/b")));
  EXPECT_EQ(std::get<ArrayMetadata>(*hierarchy_.node("b//a/")).shape, Shape{2});
  EXPECT_EQ(hierarchy_.node("c"), nullptr);
  EXPECT_EQ(hierarchy_.node("b/a/x"), nullptr);
  EXPECT_EQ(hierarchy_.node("no_node"), nullptr);
}

TEST_P(AnyTree, OpensArrays) {
  const auto array = hierarchy_.open_array("/b/a", std::make_shared<Context>());
  EXPECT_EQ(array->path(), "b/a");
  EXPECT_EQ(read(*array, everything({2})), bytes_of("xy"));
  const auto empty = hierarchy_.open_array("a", std::make_shared<Context>());
  EXPECT_EQ(read(*empty, everything({2})), bytes_of({5, 5}));
}

TEST_P(AnyTree, OpeningWhatIsNoArrayIsAnErrorThatNamesIt) {
  const auto context = std::make_shared<Context>();
  EXPECT_ERROR(hierarchy_.open_array("b", context), "/b is a group, not an array");
  EXPECT_ERROR(hierarchy_.open_array("b/c", context), "there is no node at /b/c");
  EXPECT_ERROR(hierarchy_.open_array("../b", context), "\"../b\" is not a valid node path");
}

TEST_P(AnyTree, AConsolidatedStoreIsAskedForOneDocument) {
  ASSERT_EQ(hierarchy_.is_consolidated(), GetParam().is_consolidated);
  if (!hierarchy_.is_consolidated()) return;
  EXPECT_LE(store_->take_requests().size(), 2);  // one for the other format
  hierarchy_.children("");
  hierarchy_.children("b");
  hierarchy_.node("b/a");
  hierarchy_.node("none");
  EXPECT_TRUE(store_->take_requests().empty());
  EXPECT_EQ(store_->list_count(), 0);
}

TEST_P(AnyTree, ConsolidatedMetadataCanBeLeftAlone) {
  const Hierarchy plain(store_, {.use_consolidated = false});
  EXPECT_FALSE(plain.is_consolidated());
  EXPECT_EQ(describe(plain.children("")), "a array; b group; ");
}

TEST_P(AnyTree, ANodeIsReadOnce) {
  hierarchy_.node("b/a");
  store_->take_requests();
  const auto first = hierarchy_.node("b/a");
  EXPECT_EQ(hierarchy_.node("/b/a"), first);
  EXPECT_TRUE(store_->take_requests().empty());
}

TEST_P(AnyTree, SeveralThreadsMayAskAtOnce) {
  std::vector<std::thread> threads;
  threads.reserve(4);
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        const Hierarchy fresh(store_);
        if (describe(fresh.children("")) != "a array; b group; ") ++wrong;
        if (describe(hierarchy_.children("b")) != "a array; ") ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_P(AnyTree, TellsWhetherThereIsANodeOfAKind) {
  for (int round = 0; round < 2; ++round) {
    for (const char* group : {"", "b", "/b/"}) {
      EXPECT_TRUE(hierarchy_.has(group, NodeKind::group)) << group;
      EXPECT_FALSE(hierarchy_.has(group, NodeKind::array)) << group;
    }
    for (const char* array : {"a", "b/a"}) {
      EXPECT_TRUE(hierarchy_.has(array, NodeKind::array)) << array;
      EXPECT_FALSE(hierarchy_.has(array, NodeKind::group)) << array;
    }
    for (const char* nothing : {"no_node", "c", "b/c"}) {
      EXPECT_FALSE(hierarchy_.has(nothing, NodeKind::array)) << nothing;
      EXPECT_FALSE(hierarchy_.has(nothing, NodeKind::group)) << nothing;
    }
    // Now that all has been read.
    for (const char* path : {"", "b", "a", "b/a"}) EXPECT_NE(hierarchy_.node(path), nullptr);
  }
}

std::vector<std::string> keys_asked(ObservedStore& store) {
  std::vector<std::string> keys;
  for (const auto& request : store.take_requests()) keys.push_back(request.key);
  std::sort(keys.begin(), keys.end());
  return keys;
}

TEST(Hierarchy, AGroupOfV2IsFoundByOneDocument) {
  using Keys = std::vector<std::string>;
  const auto store = std::make_shared<ObservedStore>(make_v2_tree());
  const Hierarchy hierarchy(store);
  EXPECT_EQ(keys_asked(*store), (Keys{".zgroup", ".zmetadata", "zarr.json"}));
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(hierarchy.has("b", NodeKind::group));
  EXPECT_EQ(keys_asked(*store), Keys{"b/.zgroup"});
  EXPECT_NE(hierarchy.node("a", NodeKind::array), nullptr);
  EXPECT_EQ(keys_asked(*store), (Keys{"a/.zarray", "a/.zattrs"}));
  EXPECT_EQ(hierarchy.node("no_node", NodeKind::array), nullptr);
  EXPECT_EQ(keys_asked(*store), Keys{"no_node/.zarray"});
}

TEST(Hierarchy, AGroupThatIsGoneIsNotFoundAgain) {
  HierarchyOptions options;
  options.is_writable = true;
  Hierarchy hierarchy(make_v2_tree(), options);
  EXPECT_TRUE(hierarchy.has("b", NodeKind::group));
  hierarchy.erase_node("b");
  EXPECT_FALSE(hierarchy.has("b", NodeKind::group));
}

// Has many requests under way.
class RemoteStore final : public StoreWrapper {
 public:
  using StoreWrapper::StoreWrapper;
  StoreTraits traits() const override { return {.parallel_requests = 4}; }
};

// Runs on threads.
HierarchyOptions slow_options() {
  HierarchyOptions options;
  options.run_together = [pool = std::make_shared<ThreadPool>()](
                             std::size_t count, std::size_t at_once,
                             const std::function<void(std::size_t)>& body) {
    pool->parallel_for(count, at_once, body);
  };
  return options;
}

TEST(Hierarchy, NodesThatHaveBeenPrefetchedAreNotReadAgain) {
  const auto tree = make_v3_tree();
  tree->put("broken/zarr.json", bytes_of("{"));
  const auto store = std::make_shared<ObservedStore>(std::make_shared<RemoteStore>(tree));
  const Hierarchy hierarchy(store, slow_options());
  store->take_requests();
  const std::vector<std::string> paths{"a", "b/a", "c", "broken"};
  EXPECT_TRUE(hierarchy.prefetch(paths, NodeKind::array));
  EXPECT_EQ(keys_asked(*store), (std::vector<std::string>{"a/zarr.json", "b/a/zarr.json",
                                                          "broken/zarr.json", "c/zarr.json"}));
  EXPECT_NE(hierarchy.node("a"), nullptr);
  EXPECT_NE(hierarchy.node("b/a"), nullptr);
  EXPECT_TRUE(store->take_requests().empty());
  EXPECT_EQ(hierarchy.node("c"), nullptr);
  EXPECT_ERROR(static_cast<void>(hierarchy.node("broken")), "broken/zarr.json");
}

TEST(Hierarchy, DocumentsOfTheExpectedArrayAreRequestedWithThoseOfTheRoot) {
  const auto store = std::make_shared<ObservedStore>(std::make_shared<RemoteStore>(make_v2_tree()));
  HierarchyOptions options = slow_options();
  std::vector<std::size_t> together;
  options.run_together = [&together, run = options.run_together](
                             std::size_t count, std::size_t at_once,
                             const std::function<void(std::size_t)>& body) {
    if (count > 0) together.push_back(count);
    run(count, at_once, body);
  };
  options.expected_array = "b/a";
  const Hierarchy hierarchy(store, options);
  // The two that say which format it is; then the documents of two groups and of the array.
  EXPECT_EQ(together, (std::vector<std::size_t>{2, 6}));
  EXPECT_EQ(store->take_requests().size(), 8);
  EXPECT_NE(hierarchy.node("b/a", NodeKind::array), nullptr);
  EXPECT_TRUE(hierarchy.has("b", NodeKind::group));
  EXPECT_TRUE(store->take_requests().empty());
}

TEST(Hierarchy, DocumentsThatAreKnownAreNotRequested) {
  const auto tree = make_v3_tree();
  const auto store = std::make_shared<ObservedStore>(std::make_shared<RemoteStore>(tree));
  HierarchyOptions options = slow_options();
  options.root_documents.emplace(
      "zarr.json",
      std::make_shared<const Buffer>(std::move(*tree->get("zarr.json", kNoSizeLimit))));
  options.root_documents.emplace(".zmetadata", nullptr);
  const Hierarchy hierarchy(store, options);
  EXPECT_TRUE(store->take_requests().empty());
  EXPECT_NE(hierarchy.node("a"), nullptr);
}

TEST(Hierarchy, ADocumentThatCannotBeReadDoesNotHideTheOthers) {
  const auto broken = std::make_shared<FailingStore>(
      make_v3_tree(), [](std::string_view key) { return key == ".zmetadata"; });
  const Hierarchy hierarchy(std::make_shared<RemoteStore>(broken), slow_options());
  EXPECT_NE(hierarchy.node("a"), nullptr);
}

TEST(Hierarchy, WhatWasRequestedAheadIsNotKept) {
  const auto tree = make_v3_tree();
  tree->put("late/zarr.json", bytes_of("{"));
  const Hierarchy hierarchy(std::make_shared<RemoteStore>(tree), slow_options());
  const std::vector<std::string> paths{"a", "late"};
  hierarchy.prefetch(paths, NodeKind::array);
  tree->put("late/zarr.json", bytes_of(v3_array()));
  EXPECT_NE(hierarchy.node("late"), nullptr);
}

TEST(Hierarchy, NothingIsPrefetchedWhereRequestsDoNotWait) {
  const std::vector<std::string> paths{"a"};
  const auto local = std::make_shared<ObservedStore>(make_v3_tree());
  EXPECT_FALSE(Hierarchy(local, slow_options()).prefetch(paths, NodeKind::array));
  const auto consolidated =
      std::make_shared<ObservedStore>(std::make_shared<RemoteStore>(make_consolidated_v3_tree()));
  EXPECT_FALSE(Hierarchy(consolidated, slow_options()).prefetch(paths, NodeKind::array));
  EXPECT_EQ(keys_asked(*local), std::vector<std::string>{"zarr.json"});
  EXPECT_EQ(keys_asked(*consolidated), (std::vector<std::string>{".zmetadata", "zarr.json"}));
}

TEST(Hierarchy, ARootMayBeAnArray) {
  for (const auto& store :
       {make_store({{"zarr.json", v3_array()}}), make_store({{".zarray", kV2Array}})}) {
    const Hierarchy hierarchy(store);
    EXPECT_TRUE(std::holds_alternative<ArrayMetadata>(*hierarchy.node("")));
    EXPECT_EQ(read(*hierarchy.open_array("", std::make_shared<Context>()), everything({2})),
              bytes_of({5, 5}));
  }
}

TEST(Hierarchy, ARootThatIsAnArrayAndAGroupShowsBoth) {
  constexpr const char* kArray = R"({
      "shape": [2], "data_type": "|u1", "chunk_memory_layout": "C", "fill_value": 5,
      "chunk_grid": {"type": "regular", "chunk_shape": [2], "separator": "/"}, "attributes": {}})";
  const auto store = make_store(
      {{"zarr.json", R"({"zarr_format": "https://purl.org/zarr/spec/protocol/core/3.0"})"},
       {"meta/root.group.json", R"({"attributes": {"title": "root"}})"},
       {"meta/root.array.json", kArray},
       {"meta/root/a.array.json", kArray},
       {"data/root/c0", "xy"}});
  const Hierarchy hierarchy(store);
  EXPECT_TRUE(hierarchy.has("", NodeKind::group));
  EXPECT_TRUE(hierarchy.has("", NodeKind::array));
  EXPECT_TRUE(std::holds_alternative<GroupMetadata>(*hierarchy.node("")));
  EXPECT_EQ(hierarchy.child_names("", NodeKind::array), (std::vector<std::string>{"", "a"}));
  EXPECT_EQ(describe(hierarchy.children("")), " array; a array; ");
  const auto context = std::make_shared<Context>();
  EXPECT_EQ(read(*hierarchy.open_array("", context), everything({2})), bytes_of({'x', 'y'}));
  EXPECT_EQ(read(*hierarchy.open_array("a", context), everything({2})), bytes_of({5, 5}));
  // What is wrong with one does not hide the others.
  store->put("meta/root.array.json", bytes_of("{}"));
  const Hierarchy broken(store);
  EXPECT_EQ(describe(broken.children("")), " broken; a array; ");
  EXPECT_ERROR(broken.open_array("", context), "root.array.json: the member \"shape\" is missing");
}

TEST(Hierarchy, AStoreWithoutANodeAtItsRootIsAnErrorThatNamesIt) {
  EXPECT_ERROR(Hierarchy(make_store({{"a/zarr.json", v3_array()}})),
               "memory: there is no Zarr group or array");
}

TEST(Hierarchy, ARootThatIsNotRightIsAnErrorThatNamesTheDocument) {
  EXPECT_ERROR(Hierarchy(make_store({{"zarr.json", "{"}})), "zarr.json: not valid JSON");
  EXPECT_ERROR(Hierarchy(make_store({{"zarr.json", "{}"}})), "zarr.json: ", "\"zarr_format\"");
  EXPECT_ERROR(Hierarchy(make_store({{".zgroup", "[]"}})), ".zgroup: the document is a list");
}

TEST(Hierarchy, ARootThatCannotBeReadIsAnErrorThatNamesTheDocument) {
  const auto store = std::make_shared<FailingStore>(
      make_v3_tree(), [](std::string_view key) { return key == "zarr.json"; });
  EXPECT_ERROR(Hierarchy{store}, "zarr.json: the disk is on fire");
}

TEST(Hierarchy, BrokenNodesStandBesideGoodOnes) {
  const auto store = make_v3_tree();
  store->put("broken/zarr.json", bytes_of("{\"zarr_format\": 3"));
  Json unknown = parse_json(v3_array());
  unknown["codecs"] = {"bytes", "snip"};
  put_document(*store, "unknown", unknown);
  const Hierarchy hierarchy(store);
  const std::vector<Child> children = hierarchy.children("");
  // An unknown codec does not hide an array: its attributes and shape can be looked at.
  EXPECT_EQ(describe(children), "a array; b group; broken broken; unknown array; ");
  EXPECT_NE(children[2].problem.find("broken/zarr.json: not valid JSON"), std::string::npos)
      << children[2].problem;
  EXPECT_ERROR(hierarchy.open_array("unknown", std::make_shared<Context>()), "array /unknown",
               "the codec \"snip\" is not supported");
  EXPECT_NO_THROW(hierarchy.open_array("a", std::make_shared<Context>()));
}

TEST(Hierarchy, ConsolidatedMetadataThatIsNotRightIsReportedAndNotUsed) {
  for (const char* text : {"{", "{}", R"({"zarr_consolidated_format": 2, "metadata": {}})"}) {
    const auto store = make_v2_tree();
    store->put(".zmetadata", bytes_of(text));
    std::vector<std::string> problems;
    const Hierarchy hierarchy(
        store, {.on_problem = [&](const std::string& problem) { problems.push_back(problem); }});
    EXPECT_FALSE(hierarchy.is_consolidated());
    EXPECT_EQ(describe(hierarchy.children("")), "a array; b group; ");
    ASSERT_EQ(problems.size(), 1);
    EXPECT_NE(problems[0].find(".zmetadata: "), std::string::npos) << problems[0];
    EXPECT_NE(problems[0].find("not used"), std::string::npos) << problems[0];
  }
}

TEST(Hierarchy, ConsolidatedMetadataThatIsNotRightIsNoZarr) {
  const auto store = make_store({{".zmetadata", "{}"}});
  const auto on_problem = [](const std::string& problem) { ADD_FAILURE() << problem; };
  EXPECT_ERROR(Hierarchy(store, {.on_problem = on_problem}),
               "memory: there is no Zarr group or array; .zmetadata: the member");
}

TEST(Hierarchy, ConsolidatedMetadataNeedsNoDocumentForTheRoot) {
  const auto store = make_store({{".zmetadata", R"({"zarr_consolidated_format": 1, "metadata":
      {"a/.zgroup": {"zarr_format": 2}}})"}});
  const Hierarchy hierarchy(store);
  EXPECT_TRUE(std::holds_alternative<GroupMetadata>(*hierarchy.node("")));
  EXPECT_EQ(describe(hierarchy.children("")), "a group; ");
}

TEST(Hierarchy, BrokenConsolidatedDocumentsStandBesideGoodOnes) {
  const auto store = make_consolidated_v3_tree();
  Json root = parse_json(store->get("zarr.json", kNoSizeLimit)->text());
  root["consolidated_metadata"]["metadata"]["a"]["data_type"] = 7;
  store->put("zarr.json", bytes_of(dump_json(root)));
  const Hierarchy hierarchy(store);
  const std::vector<Child> children = hierarchy.children("");
  EXPECT_EQ(describe(children), "a broken; b group; ");
  EXPECT_NE(children[0].problem.find("a/zarr.json: \"data_type\" is an integer"),
            std::string::npos);
}

TEST(Hierarchy, ADeepTreeIsListedLevelByLevel) {
  auto store = make_store({{"zarr.json", kV3Group}});
  std::string path;
  for (int depth = 1; depth <= 200; ++depth) {
    path += depth == 1 ? "g" : "/g";
    store->put(path + "/zarr.json", bytes_of(kV3Group));
  }
  const Hierarchy hierarchy(store);
  std::string at;
  std::vector<Child> children = hierarchy.children(at);
  int depth = 0;
  while (!children.empty() && children[0].kind == Child::Kind::group) {
    at += "/g";
    ++depth;
    children = hierarchy.children(at);
  }
  EXPECT_EQ(depth, 128);
  ASSERT_EQ(children.size(), 1);
  EXPECT_NE(children[0].problem.find("deeper than 128 levels"), std::string::npos);
}

TEST(Hierarchy, AFolderWhoseNameNoNodeCanHaveIsBroken) {
  const TemporaryFolder folder;
  const auto store = std::make_shared<FileSystemStore>(folder.path());
  store->put("zarr.json", bytes_of(kV3Group));
  store->put("a/zarr.json", bytes_of(v3_array()));
  std::filesystem::create_directory(folder.path() / "odd\\name");
  const std::vector<Child> children = Hierarchy(store).children("");
  EXPECT_EQ(describe(children), "a array; odd\\name broken; ");
  EXPECT_NE(children[1].problem.find("is not a valid node path"), std::string::npos);
}

TEST(Hierarchy, FoldersOfChunksAreNoChildren) {
  const auto store = make_store({{".zgroup", kV2Group}, {"a/.zarray", kV2Array}, {"a/0/0", "x"}});
  EXPECT_EQ(describe(Hierarchy(store).children("a")), "");
}

}  // namespace
}  // namespace zarrcore::test::hierarchy_test
