#include "zarrcore/store/listed_store.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "autotest/cpp/support/bytes.h"
#include "autotest/cpp/support/observed_store.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"
#include "zarrcore/store/memory_store.h"

namespace zarrcore::test::listed_store_test {
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

// Does not list folders that hold nothing but folders.
class HidingStore final : public StoreWrapper {
 public:
  using StoreWrapper::StoreWrapper;

  DirectoryListing list(std::string_view prefix, const ListOptions& options) override {
    DirectoryListing listing = StoreWrapper::list(prefix, options);
    std::erase_if(listing.prefixes, [&](const std::string& name) {
      return StoreWrapper::list(join_path(prefix, name)).keys.empty();
    });
    return listing;
  }
  void visit_values(std::string_view prefix, const VisitValue& visit,
                    const VisitOptions& /*options*/) override {
    if (failures-- > 0) throw AccessFailure("the server does not answer");
    for (const char* key : {"a/c/0/0", "a/c/0/5", "a/zarr.json"}) {
      if (is_at_or_below(key, prefix)) visit(key, std::nullopt);
    }
  }
  StoreTraits traits() const override { return {.lists_all_at_once = true}; }

  int failures = 0;  // of the next requests for all keys
};

TEST_F(ListedStoreTest, FindsFoldersThatTheirParentDoesNotList) {
  memory_->put("a/zarr.json", bytes_of({0}));
  ListedStore listed(std::make_shared<HidingStore>(memory_));
  EXPECT_TRUE(listed.has("a/c/0/5"));
  EXPECT_FALSE(listed.has("a/c/0/6"));
  EXPECT_FALSE(listed.has("a/d/0/5"));
}

TEST_F(ListedStoreTest, NothingIsMissingBecauseAListingHasFailed) {
  memory_->put("a/zarr.json", bytes_of({0}));
  const auto hiding = std::make_shared<HidingStore>(memory_);
  hiding->failures = 1;
  ListedStore listed(hiding);
  EXPECT_THROW(listed.has("a/c/0/5"), AccessFailure);
  EXPECT_TRUE(listed.has("a/c/0/5"));
  EXPECT_FALSE(listed.has("a/c/0/6"));
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
  listed_.erase("a/c/0/1");
  listed_.erase("a/c/0/1");
  EXPECT_FALSE(has("a/c/0/1"));
}

TEST_F(ListedStoreTest, WhatOthersWriteStaysUnseen) {
  EXPECT_TRUE(has("a/c/0/0"));
  memory_->put("a/c/0/1", bytes_of({3}));
  EXPECT_FALSE(has("a/c/0/1"));
}

TEST_F(ListedStoreTest, AsksForAllWhereNothingCanBeListed) {
  class Unlisted final : public StoreWrapper {
   public:
    using StoreWrapper::StoreWrapper;
    DirectoryListing list(std::string_view /*prefix*/, const ListOptions& /*options*/) override {
      return {};
    }
  };
  ListedStore listed(std::make_shared<Unlisted>(memory_));
  listed.put("a/c/0/1", bytes_of({3}));
  EXPECT_TRUE(listed.get("a/c/0/0", kNoSizeLimit));
  EXPECT_TRUE(listed.get("a/c/0/5", kNoSizeLimit));
  EXPECT_FALSE(listed.get("a/c/0/2", kNoSizeLimit));
}

// Notes which folders are listed, and ends a listing when `ends` says so or a while has passed.
class SlowlyListedStore final : public StoreWrapper {
 public:
  using Listed = std::vector<std::string>;

  SlowlyListedStore(std::shared_ptr<Store> store, std::chrono::milliseconds longest,
                    std::function<bool(const std::string& prefix, const Listed& listed)> ends)
      : StoreWrapper(std::move(store)), longest_(longest), ends_(std::move(ends)) {}

  DirectoryListing list(std::string_view prefix, const ListOptions& options) override {
    {
      std::unique_lock lock(mutex_);
      listed_.emplace_back(prefix);
      changed_.notify_all();
      if (!changed_.wait_for(lock, longest_, [&] { return ends_(std::string(prefix), listed_); })) {
        ++late_;
      }
    }
    return StoreWrapper::list(prefix, options);
  }
  Listed listed() const {
    const std::lock_guard lock(mutex_);
    return listed_;
  }
  int late() const { return late_; }

 private:
  std::chrono::milliseconds longest_;
  std::function<bool(const std::string& prefix, const Listed& listed)> ends_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Listed listed_;
  std::atomic<int> late_{0};
};

// Calls `work` with the numbers below `count`, each in a thread.
void run_in_threads(int count, const std::function<void(int)>& work) {
  std::vector<std::jthread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back([&work, i] { work(i); });
}

TEST_F(ListedStoreTest, ThreadsListAFolderOnce) {
  const auto store = std::make_shared<SlowlyListedStore>(
      memory_, std::chrono::milliseconds(50), [](const auto& prefix, const auto& listed) {
        return std::ranges::count(listed, prefix) > 1;  // a second one has come
      });
  ListedStore listed(store);
  std::atomic<int> found{0};
  run_in_threads(8, [&](int i) {
    if (listed.get("a/c/0/" + std::to_string(i), kNoSizeLimit)) ++found;
  });
  EXPECT_EQ(found, 2);
  EXPECT_EQ(store->listed(), (std::vector<std::string>{"", "a", "a/c", "a/c/0"}));
}

TEST_F(ListedStoreTest, ListingAFolderBlocksNoOther) {
  memory_->put("a/c/1/0", bytes_of({1}));
  const auto store = std::make_shared<SlowlyListedStore>(
      memory_, std::chrono::seconds(30), [](const std::string& prefix, const auto& listed) {
        return prefix.size() < 5 ||
               (std::ranges::count(listed, "a/c/0") > 0 && std::ranges::count(listed, "a/c/1") > 0);
      });
  ListedStore listed(store);
  run_in_threads(
      2, [&](int i) { EXPECT_TRUE(listed.get("a/c/" + std::to_string(i) + "/0", kNoSizeLimit)); });
  EXPECT_EQ(store->late(), 0);
}

TEST_F(ListedStoreTest, KnowsWhatIsPutWhileAFolderIsListed) {
  std::atomic<bool> is_asked = false;
  const auto store = std::make_shared<SlowlyListedStore>(
      memory_, std::chrono::milliseconds(50), [&](const std::string& prefix, const auto& /*all*/) {
        if (prefix == "a/c/0") is_asked = true;
        return prefix != "a/c/0";
      });
  ListedStore listed(store);
  std::jthread reader([&] { EXPECT_FALSE(listed.get("a/c/0/9", kNoSizeLimit)); });
  while (!is_asked) std::this_thread::yield();
  listed.put("a/c/0/1", bytes_of({3}));
  listed.put("new/c/0", bytes_of({4}));
  reader.join();
  EXPECT_TRUE(listed.get("a/c/0/1", kNoSizeLimit));
  EXPECT_TRUE(listed.get("new/c/0", kNoSizeLimit));
}

}  // namespace
}  // namespace zarrcore::test::listed_store_test
