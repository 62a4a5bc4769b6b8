#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "autotest/cpp/support/expect_error.h"
#include "autotest/cpp/support/observed_store.h"
#include "autotest/cpp/support/small_array.h"
#include "zarrcore/hierarchy/hierarchy.h"
#include "zarrcore/metadata/format.h"
#include "zarrcore/store/memory_store.h"

namespace zarrcore::test::failed_changes_test {
namespace {

// A store that fails to put some keys and to erase some, but can read all.
class FailingStore final : public StoreWrapper {
 public:
  using IsBroken = std::function<bool(std::string_view key)>;

  FailingStore(std::shared_ptr<Store> inner, IsBroken is_broken, IsBroken stays)
      : StoreWrapper(std::move(inner)),
        is_broken_(std::move(is_broken)),
        stays_(std::move(stays)) {}

  bool put_parts(std::string_view key, std::span<const ValuePart> parts,
                 const PutOptions& options) override {
    if (is_broken_(key)) throw Error(std::string(key) + ": the disk is full");
    return StoreWrapper::put_parts(key, parts, options);
  }

  bool erase(std::string_view key, const EraseOptions& options) override {
    if (stays_(key)) throw Error(std::string(key) + ": permission denied");
    return StoreWrapper::erase(key, options);
  }

 private:
  IsBroken is_broken_;
  IsBroken stays_;
};

class FailedChanges : public testing::Test {
 protected:
  FailedChanges() {
    const auto store = std::make_shared<FailingStore>(
        memory_, [this](std::string_view key) { return key.ends_with(broken_); },
        [this](std::string_view key) { return key.ends_with(unerasable_); });
    hierarchy_ = Hierarchy::create(store, v2_format(), GroupMetadata());
    hierarchy_->flush();
  }

  std::shared_ptr<MemoryStore> memory_ = std::make_shared<MemoryStore>();
  std::string broken_ = "nothing";
  std::string unerasable_ = "nothing";
  std::unique_ptr<Hierarchy> hierarchy_;
};

TEST_F(FailedChanges, ANodeThatCannotBeCreatedLeavesNoDocuments) {
  for (const char* document : {".zarray", ".zattrs"}) {
    broken_ = std::string("a/") + document;
    EXPECT_ERROR(hierarchy_->create_node("a", small_array()), document);
    EXPECT_TRUE(memory_->list("a").is_empty()) << document;
    EXPECT_EQ(hierarchy_->node("a"), nullptr);
  }
  hierarchy_->flush();
  EXPECT_TRUE(Hierarchy(memory_).is_consolidated());
  broken_ = "nothing";
  hierarchy_->create_node("a", small_array());
  hierarchy_->flush();
  EXPECT_NE(Hierarchy(memory_).node("a"), nullptr);
}

TEST_F(FailedChanges, NewNodesAreRemovedWhileNothingCanBePut) {
  const std::array<std::string, 2> paths{"a", "b"};
  for (const std::string& path : paths) hierarchy_->create_node(path, small_array());
  broken_ = "";
  EXPECT_ERROR(hierarchy_->flush(), ".zmetadata");
  hierarchy_->erase_nodes(paths);
  for (const std::string& path : paths) {
    EXPECT_TRUE(memory_->list(path).is_empty()) << path;
    EXPECT_EQ(hierarchy_->node(path), nullptr);
  }
  EXPECT_FALSE(Hierarchy(memory_).is_consolidated());
  broken_ = "nothing";
  hierarchy_->flush();
  EXPECT_TRUE(Hierarchy(memory_).is_consolidated());
}

TEST_F(FailedChanges, ANodeThatCannotBeErasedKeepsItsPendingChanges) {
  const std::array<std::string, 2> paths{"a", "b"};
  for (const std::string& path : paths) {
    hierarchy_->create_node(path, small_array());
    hierarchy_->update_node(path, [](NodeMetadata& node) {
      std::get<ArrayMetadata>(node).attributes["title"] = "changed";
    });
  }
  unerasable_ = "a/.zarray";
  EXPECT_ERROR(hierarchy_->erase_nodes(paths), "a/.zarray: permission denied");
  EXPECT_EQ(hierarchy_->node("b"), nullptr);
  hierarchy_->flush();
  const Hierarchy reader(memory_);
  EXPECT_EQ(std::get<ArrayMetadata>(*reader.node("a")).attributes["title"], "changed");
  EXPECT_EQ(reader.node("b"), nullptr);
}

TEST_F(FailedChanges, ConsolidatedMetadataThatFailedHasAllChangesLater) {
  for (const char* path : {"a", "b"}) hierarchy_->create_node(path, small_array());
  hierarchy_->flush();
  broken_ = ".zmetadata";
  hierarchy_->update_node("a", [](NodeMetadata& node) {
    std::get<ArrayMetadata>(node).attributes["title"] = "changed";
  });
  EXPECT_ERROR(hierarchy_->flush(), ".zmetadata");
  broken_ = "nothing";
  hierarchy_->erase_node("b");
  hierarchy_->flush();
  const Hierarchy reader(memory_);
  EXPECT_TRUE(reader.is_consolidated());
  EXPECT_EQ(std::get<ArrayMetadata>(*reader.node("a")).attributes["title"], "changed");
  EXPECT_EQ(reader.node("b"), nullptr);
}

}  // namespace
}  // namespace zarrcore::test::failed_changes_test
