// Changes of nodes while memory runs out: each allocation fails once. A failure is reported and the
// change can be repeated; no node is missing in consolidated metadata.
#include "autotest/cpp/support/failing_allocations.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <variant>

#include "autotest/cpp/support/small_array.h"
#include "zarrcore/base/error.h"
#include "zarrcore/hierarchy/hierarchy.h"
#include "zarrcore/metadata/format.h"
#include "zarrcore/store/memory_store.h"

namespace zarrcore::test::failing_allocations_test {
namespace {

class FailingChanges : public testing::TestWithParam<const char*> {
 protected:
  static bool is_v2() { return std::string(GetParam()) == "V2"; }

  static std::shared_ptr<Store> new_store() {
    auto store = std::make_shared<MemoryStore>();
    const auto hierarchy =
        Hierarchy::create(store, is_v2() ? v2_format() : v3_format(), GroupMetadata());
    hierarchy->create_node("a", small_array());
    hierarchy->create_node("group", GroupMetadata());
    hierarchy->create_node("group/b", small_array());
    hierarchy->flush();
    return store;
  }

  // May be called again when it has failed.
  static void change(Hierarchy& hierarchy) {
    if (hierarchy.node("group/c") == nullptr) hierarchy.create_node("group/c", small_array());
    hierarchy.update_node("a", [](NodeMetadata& node) {
      std::get<ArrayMetadata>(node).attributes["title"] = "changed";
    });
    hierarchy.flush();
  }

  static void expect_changed(const Hierarchy& reader) {
    for (const char* path : {"a", "group/b", "group/c"}) {
      const auto node = reader.node(path);
      ASSERT_NE(node, nullptr) << path;
      EXPECT_EQ(std::get<ArrayMetadata>(*node).attributes["title"],
                path == std::string("a") ? "changed" : "array");
    }
  }
};

TEST_P(FailingChanges, FailAsAWholeOrAreConsolidated) {
  constexpr std::uint64_t kMost = 100'000;
  std::uint64_t failures = 0;
  bool has_failed = true;
  for (std::uint64_t number = 0; has_failed; number += kAllocationStep) {
    SCOPED_TRACE(number);
    ASSERT_LT(number, kMost);
    const auto store = new_store();
    HierarchyOptions writable;
    writable.is_writable = true;
    Hierarchy hierarchy(store, writable);
    bool is_changed = false;
    fail_allocation_after(number);
    try {
      change(hierarchy);
      is_changed = true;
    } catch (const Error&) {
    } catch (const std::bad_alloc&) {
    }
    has_failed = stop_failing_allocations();
    if (!is_changed) {
      ++failures;
      change(hierarchy);
    }
    const Hierarchy consolidated(store);
    EXPECT_TRUE(consolidated.is_consolidated());
    expect_changed(consolidated);
    HierarchyOptions documents;
    documents.use_consolidated = false;
    expect_changed(Hierarchy(store, documents));
    if (HasFailure()) return;
  }
  EXPECT_GT(failures, 30U);
}

INSTANTIATE_TEST_SUITE_P(Formats, FailingChanges, testing::Values("V2", "V3"),
                         [](const auto& format) { return std::string(format.param); });

}  // namespace
}  // namespace zarrcore::test::failing_allocations_test
