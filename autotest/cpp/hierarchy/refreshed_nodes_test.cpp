// Attributes that another program has changed since a hierarchy read them.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "autotest/cpp/support/bytes.h"
#include "zarrcore/hierarchy/hierarchy.h"
#include "zarrcore/store/forwarding_store.h"
#include "zarrcore/store/memory_store.h"

namespace zarrcore::test::refreshed_nodes_test {
namespace {

// Counts what a store on a disk answers with a system call of its own.
class CountingStore : public ForwardingStore {
 public:
  explicit CountingStore(std::shared_ptr<Store> inner) : ForwardingStore(std::move(inner)) {}

  std::shared_ptr<OpenValue> open(std::string_view key) override {
    ++gets;
    return ForwardingStore::open(key);
  }
  ValueVersion current_version(std::string_view key) override {
    ++version_requests;
    return ForwardingStore::current_version(key);
  }

  int gets = 0;
  int version_requests = 0;
};

constexpr std::string_view kGroup = R"({"zarr_format":2})";
constexpr std::string_view kArray =
    R"({"zarr_format":2,"shape":[1],"chunks":[1],"dtype":"|u1","compressor":null,"fill_value":0,)"
    R"("order":"C","filters":null})";

void put(Store& store, const std::string& key, std::string_view text) {
  store.put(key, bytes_of(text));
}

std::shared_ptr<CountingStore> make_store() {
  auto memory = std::make_shared<MemoryStore>();
  put(*memory, ".zgroup", kGroup);
  for (const char* name : {"a", "b"}) put(*memory, std::string(name) + "/.zarray", kArray);
  put(*memory, "b/.zattrs", R"({"n":1})");
  return std::make_shared<CountingStore>(memory);
}

void consolidate(Store& store, int value) {
  std::string text = R"({"zarr_consolidated_format":1,"metadata":{".zgroup":)";
  text.append(kGroup);
  for (const std::string name : {"a", "b"}) {
    text += ",\"" + name + "/.zarray\":" + std::string(kArray) + ",\"" + name +
            "/.zattrs\":{\"n\":" + std::to_string(value) + "}";
  }
  put(store, ".zmetadata", text + "}}");
}

std::string attributes_of(const Hierarchy& hierarchy, const std::string& path) {
  hierarchy.refresh_node(path);
  return dump_json(std::get<ArrayMetadata>(*hierarchy.node(path)).attributes);
}

TEST(RefreshedNodes, ReadingTakesNoRequestForVersions) {
  const auto store = make_store();
  const Hierarchy hierarchy(store);
  EXPECT_EQ(hierarchy.children("").size(), 2);
  EXPECT_EQ(std::get<ArrayMetadata>(*hierarchy.node("b")).attributes.size(), 1);
  EXPECT_EQ(store->version_requests, 0);
}

TEST(RefreshedNodes, ChangedDocumentsAreReadOnceMore) {
  const auto store = make_store();
  const Hierarchy hierarchy(store);
  hierarchy.node("a");
  hierarchy.node("b");
  put(*store, "a/.zattrs", R"({"n":2})");  // which was missing
  EXPECT_EQ(attributes_of(hierarchy, "a"), R"({"n":2})");
  put(*store, "b/.zattrs", R"({"n":3})");
  EXPECT_EQ(attributes_of(hierarchy, "b"), R"({"n":3})");
  store->erase("b/.zattrs", {});
  EXPECT_EQ(attributes_of(hierarchy, "b"), "{}");
  store->gets = 0;
  EXPECT_EQ(attributes_of(hierarchy, "a"), R"({"n":2})");
  EXPECT_EQ(attributes_of(hierarchy, "b"), "{}");
  EXPECT_EQ(store->gets, 0);
}

TEST(RefreshedNodes, AllNodesAreReadAgainFromChangedConsolidatedMetadata) {
  const auto store = make_store();
  consolidate(*store, 1);
  const Hierarchy hierarchy(store);
  hierarchy.node("a");
  hierarchy.node("b");
  consolidate(*store, 2);
  store->gets = 0;
  EXPECT_EQ(attributes_of(hierarchy, "a"), R"({"n":2})");
  EXPECT_EQ(attributes_of(hierarchy, "b"), R"({"n":2})");
  EXPECT_EQ(store->gets, 1);
  consolidate(*store, 3);
  EXPECT_EQ(attributes_of(hierarchy, "b"), R"({"n":3})");
  EXPECT_EQ(attributes_of(hierarchy, "a"), R"({"n":3})");
  // Without it, the nodes' own documents describe them.
  store->erase(".zmetadata", {});
  EXPECT_EQ(attributes_of(hierarchy, "b"), R"({"n":1})");
  EXPECT_EQ(attributes_of(hierarchy, "a"), "{}");
}

TEST(RefreshedNodes, AnArrayThatHasBeenReplacedIsNotOpenedByTheOldLayout) {
  const auto store = make_store();
  consolidate(*store, 1);
  const Hierarchy hierarchy(store);
  hierarchy.node("a");
  hierarchy.node("b");
  const auto context = std::make_shared<Context>();
  consolidate(*store, 2);
  EXPECT_NE(hierarchy.open_array("a", context), nullptr);  // other attributes do no harm
  std::string text(store->get(".zmetadata", kNoSizeLimit)->text());
  const std::string old = R"("chunks":[1])";
  text.replace(text.rfind(old), old.size(), R"("chunks":[2])");
  put(*store, ".zmetadata", text);
  EXPECT_NE(hierarchy.open_array("a", context), nullptr);
  EXPECT_THROW(hierarchy.open_array("b", context), Error);
  EXPECT_NE(Hierarchy(store).open_array("b", context), nullptr);
}

TEST(RefreshedNodes, ExpectedChangesAreReadOnce) {
  const auto store = make_store();
  Hierarchy hierarchy(store);
  hierarchy.node("b");
  hierarchy.expect_changes();
  store->gets = 0;
  attributes_of(hierarchy, "b");
  EXPECT_EQ(store->gets, 2);
  attributes_of(hierarchy, "b");
  EXPECT_EQ(store->gets, 2);
}

}  // namespace
}  // namespace zarrcore::test::refreshed_nodes_test
