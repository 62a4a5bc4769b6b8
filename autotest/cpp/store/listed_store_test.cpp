#include "zarrcore/store/listed_store.h"

#include <gtest/gtest.h>

#include "autotest/cpp/support/bytes.h"
#include "autotest/cpp/support/observed_store.h"
#include "zarrcore/store/memory_store.h"

namespace zarrcore::test {
namespace {

class ListedStoreTest : public testing::Test {
 protected:
  ListedStoreTest() {
    memory_->put("a/c/0/0", bytes_of({1}));
    memory_->put("a/c/0/5", bytes_of({2}));
  }

  bool has(std::string_view key) { return listed_.get(key, kNoSizeLimit).has_value(); }

  std::shared_ptr<MemoryStore> memory_ = std::make_shared<MemoryStore>();
  std::shared_ptr<ObservedStore> observed_ = std::make_shared<ObservedStore>(memory_);
  ListedStore listed_{observed_};
};

TEST_F(ListedStoreTest, AsksOnlyForWhatIsThere) {
  EXPECT_EQ(to_bytes(listed_.get("a/c/0/5", kNoSizeLimit)->span()), bytes_of({2}));
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(has("a/c/0/" + std::to_string(6 + i)));
    EXPECT_FALSE(has("a/c/" + std::to_string(1 + i) + "/0"));
    EXPECT_FALSE(has("b/" + std::to_string(i) + "/c/0"));
  }
  const ByteRange range = ByteRange::at(0, 1);
  EXPECT_FALSE(listed_.get_ranges("a/c/0/1", {&range, 1}));
  EXPECT_TRUE(listed_.get_ranges("a/c/0/0", {&range, 1}));
  EXPECT_EQ(observed_->take_requests().size(), 2);
}

TEST_F(ListedStoreTest, KnowsWhatIsWrittenAndErasedThroughIt) {
  EXPECT_FALSE(has("a/c/0/1"));
  EXPECT_FALSE(has("new/c/0"));
  listed_.put("a/c/0/1", bytes_of({3}));
  listed_.put("new/c/0", bytes_of({4}));
  listed_.put("newer/c/0", bytes_of({5}));
  EXPECT_TRUE(has("a/c/0/1"));
  EXPECT_TRUE(has("new/c/0"));
  EXPECT_TRUE(has("newer/c/0"));
  EXPECT_TRUE(listed_.erase("a/c/0/1"));
  EXPECT_FALSE(listed_.erase("a/c/0/1"));
  EXPECT_FALSE(has("a/c/0/1"));
}

TEST_F(ListedStoreTest, WhatOthersWriteStaysUnseen) {
  EXPECT_TRUE(has("a/c/0/0"));
  memory_->put("a/c/0/1", bytes_of({3}));
  EXPECT_FALSE(has("a/c/0/1"));
}

}  // namespace
}  // namespace zarrcore::test
