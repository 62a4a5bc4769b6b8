#include "zarrcore/array/chunk_cache.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "autotest/cpp/support/bytes.h"

namespace zarrcore::test::chunk_cache_test {
namespace {

constexpr std::uint64_t kLarge = 1 << 20;  // much more than an entry needs for itself

// An item of any size.
class SizedItem : public CachedItem {
 public:
  explicit SizedItem(int item_number, std::uint64_t bytes = kLarge, Kind kind = Kind::chunk)
      : CachedItem(ValueVersion(), false, kind), number(item_number), bytes_(bytes) {}
  std::uint64_t byte_count() const override { return bytes_; }

  const int number;

 private:
  std::uint64_t bytes_;
};

ChunkCache::Key key(const std::string& name) {
  return std::make_shared<const std::string>(name);
}

const auto kNoHelp = [] { return false; };

struct Cached {
  explicit Cached(std::uint64_t bytes) : cache(bytes, kLarge) {}

  ChunkCache::Filling start(const std::string& name, std::uint64_t position = 0) {
    return cache.start(array, key(name), {nullptr, position}, cache.begin_request());
  }
  void insert(const std::string& name, std::shared_ptr<const CachedItem> item,
              ChunkCache::Request request, std::uint64_t position = 0) {
    auto filling = cache.start(array, key(name), {nullptr, position}, request);
    ASSERT_TRUE(filling);
    filling.finish(std::move(item), true, request);
  }
  void insert(const std::string& name, int number = 0, std::uint64_t bytes = kLarge) {
    insert(name, std::make_shared<const SizedItem>(number, bytes), cache.begin_request());
  }
  ChunkCache::Found look(const std::string& name, std::uint64_t position = 0) {
    return cache.find(array, key(name), {nullptr, position}, cache.begin_request());
  }
  bool has(const std::string& name, std::uint64_t position = 0) const {
    return cache.has(array, key(name), {nullptr, position});
  }

  ChunkCache cache;
  CachedArray array{cache};
};

int number_of(const ChunkCache::Item& item) {
  return item ? static_cast<const SizedItem&>(*item).number : -1;
}

TEST(ChunkCache, EveryPartOfAKeyCounts) {
  Cached cached(10 * kLarge);
  CachedArray other(cached.cache);
  cached.insert("a", 1);
  EXPECT_EQ(number_of(cached.look("a").item), 1);
  EXPECT_FALSE(cached.has("b"));
  EXPECT_FALSE(cached.has("a", 1));
  EXPECT_FALSE(cached.cache.has(other, key("a"), {}));
  const SharedChain chain{std::shared_ptr<void>(), reinterpret_cast<const CodecChain*>(&other)};
  EXPECT_FALSE(cached.cache.has(cached.array, key("a"), {chain, 0}));
}

TEST(ChunkCache, AnEntryIsFilledByOneThreadAndOthersWaitForIt) {
  Cached cached(10 * kLarge);
  auto filling = cached.start("a");
  ASSERT_TRUE(filling);
  EXPECT_FALSE(cached.start("a"));
  std::vector<std::future<int>> waiting;
  for (int i = 0; i < 4; ++i) {
    const auto found = cached.look("a");
    ASSERT_NE(found.pending, nullptr);
    waiting.push_back(std::async(std::launch::async, [&cached, pending = found.pending] {
      return number_of(cached.cache.wait(*pending, kNoHelp));
    }));
  }
  filling.finish(std::make_shared<const SizedItem>(7), true, {});
  for (auto& number : waiting) EXPECT_EQ(number.get(), 7);
  EXPECT_EQ(number_of(cached.look("a").item), 7);
}

TEST(ChunkCache, WhoWaitsHelpsAsLongAsThereIsSomethingToDo) {
  Cached cached(10 * kLarge);
  auto filling = cached.start("a");
  const auto found = cached.look("a");
  int helped = 0;
  const auto item = cached.cache.wait(*found.pending, [&] {
    if (++helped == 3) filling.finish(std::make_shared<const SizedItem>(1), true, {});
    return true;
  });
  EXPECT_EQ(helped, 3);
  EXPECT_EQ(number_of(item), 1);
}

TEST(ChunkCache, WorkThatIsCancelledDoesNotWait) {
  Cached cached(10 * kLarge);
  const auto filling = cached.start("a");
  const auto found = cached.look("a");
  Cancellation cancellation;
  auto waiting = std::async(std::launch::async, [&] {
    const Cancellation::Scope scope(&cancellation);
    EXPECT_THROW(cached.cache.wait(*found.pending, kNoHelp), Error);
  });
  EXPECT_EQ(waiting.wait_for(std::chrono::milliseconds(20)), std::future_status::timeout);
  cancellation.cancel();
  waiting.get();
}

TEST(ChunkCache, AnEntryThatCouldNotBeFilledIsAbsentAgain) {
  Cached cached(10 * kLarge);
  ChunkCache::Found found;
  {
    const auto filling = cached.start("a");
    found = cached.look("a");
  }
  EXPECT_EQ(cached.cache.wait(*found.pending, kNoHelp), nullptr);
  EXPECT_TRUE(cached.cache.is_empty());
  EXPECT_TRUE(cached.start("a"));
}

TEST(ChunkCache, WhatDoesNotStayIsForThoseThatWait) {
  Cached cached(10 * kLarge);
  auto filling = cached.start("a");
  const auto found = cached.look("a");
  filling.finish(std::make_shared<const SizedItem>(3), false, {});
  EXPECT_EQ(number_of(cached.cache.wait(*found.pending, kNoHelp)), 3);
  EXPECT_TRUE(cached.cache.is_empty());
}

TEST(ChunkCache, AnItemStaysInUseWhileItIsMadeAgain) {
  Cached cached(10 * kLarge);
  cached.insert("a", 1);
  auto filling = cached.start("a");
  EXPECT_EQ(number_of(cached.look("a").item), 1);
  filling.finish(std::make_shared<const SizedItem>(2), true, {});
  EXPECT_EQ(number_of(cached.look("a").item), 2);
  EXPECT_LT(cached.cache.byte_count(), 2 * kLarge);
}

TEST(ChunkCache, EvictsTheLeastRecentlyUsed) {
  Cached cached(3 * kLarge + kLarge / 2);
  for (const char* name : {"a", "b", "c"}) cached.insert(name);
  EXPECT_NE(cached.look("a").item, nullptr);
  cached.insert("d");
  EXPECT_TRUE(cached.has("a"));
  EXPECT_FALSE(cached.has("b"));
  EXPECT_TRUE(cached.has("c"));
}

// More values than there is room for, used again and again in the same order.
TEST(ChunkCache, ARequestDoesNotEvictItsOwnChunks) {
  Cached cached(10 * kLarge + kLarge / 2);
  cached.insert("other");
  const auto use_all = [&](int first) {
    const auto request = cached.cache.begin_request();
    int found = 0;
    for (int i = first; i < first + 12; ++i) {
      const std::string name = std::to_string(i);
      if (cached.cache.find(cached.array, key(name), {}, request).item) {
        ++found;
      } else {
        cached.insert(name, std::make_shared<const SizedItem>(i), request);
      }
      EXPECT_LE(cached.cache.byte_count(), 10 * kLarge + kLarge / 2);
    }
    return found;
  };
  EXPECT_EQ(use_all(0), 0);
  EXPECT_EQ(use_all(0), 10);
  EXPECT_EQ(use_all(0), 10);
  EXPECT_FALSE(cached.has("other"));
  // The next one needs others.
  use_all(20);
  EXPECT_FALSE(cached.has("0"));
  EXPECT_TRUE(cached.has("20"));
  EXPECT_TRUE(cached.has("29"));
  EXPECT_FALSE(cached.has("30"));
}

TEST(ChunkCache, TheNewestStaysHoweverLargeItIs) {
  Cached cached(kLarge);
  cached.insert("a", 1, 10);
  cached.insert("b", 2, 100 * kLarge);
  EXPECT_FALSE(cached.has("a"));
  EXPECT_TRUE(cached.has("b"));
  cached.insert("c", 3, 10);
  EXPECT_FALSE(cached.has("b"));
}

TEST(ChunkCache, ManySmallEntriesAreNotFree) {
  Cached cached(kLarge);
  for (int i = 0; i < 20'000; ++i) {
    cached.insert(std::to_string(i), 0, 0);
    EXPECT_TRUE(cached.cache.spend_on_parts(cached.array, key("p" + std::to_string(i)), {}, 5, 8));
  }
  EXPECT_LE(cached.cache.byte_count(), kLarge);
  EXPECT_FALSE(cached.has("0"));
  EXPECT_TRUE(cached.cache.spend_on_parts(cached.array, key("p0"), {}, 5, 8)) << "forgotten";
  EXPECT_FALSE(cached.cache.spend_on_parts(cached.array, key("p19999"), {}, 5, 8));
}

TEST(ChunkCache, IndexesDoNotMakeWayForChunks) {
  Cached cached(2 * kLarge);
  cached.insert("a", std::make_shared<const SizedItem>(1, 1000, CachedItem::Kind::index),
                cached.cache.begin_request());
  for (int i = 0; i < 10; ++i) cached.insert(std::to_string(i));
  EXPECT_TRUE(cached.has("a"));
}

TEST(ChunkCache, MakesWayButForAQuarter) {
  Cached cached(9 * kLarge);
  const auto insert = [&] {
    for (int i = 0; i < 8; ++i) cached.insert(std::to_string(i));
  };
  insert();
  cached.cache.set_reserved_bytes(5 * kLarge);
  EXPECT_EQ(cached.cache.byte_count() / kLarge, 3);
  EXPECT_TRUE(cached.has("7"));
  EXPECT_FALSE(cached.has("4"));
  cached.cache.set_reserved_bytes(UINT64_MAX);
  insert();
  EXPECT_EQ(cached.cache.byte_count() / kLarge, 2);
  cached.cache.set_reserved_bytes(0);
  insert();
  EXPECT_EQ(cached.cache.byte_count() / kLarge, 8);
}

TEST(ChunkCache, AllOfOneValueAreErasedTogether) {
  Cached cached(100 * kLarge);
  CachedArray other(cached.cache);
  for (const char* name : {"a", "b"}) {
    for (std::uint64_t i = 0; i < 3; ++i) {
      cached.insert(name, std::make_shared<const SizedItem>(1), cached.cache.begin_request(), i);
    }
  }
  auto filling = cached.cache.start(other, key("a"), {}, cached.cache.begin_request());
  filling.finish(std::make_shared<const SizedItem>(1), true, {});
  cached.cache.erase_value(cached.array, "a");
  for (std::uint64_t i = 0; i < 3; ++i) {
    EXPECT_FALSE(cached.has("a", i));
    EXPECT_TRUE(cached.has("b", i));
  }
  EXPECT_TRUE(cached.cache.has(other, key("a"), {}));
  cached.cache.erase_all(cached.array);
  EXPECT_FALSE(cached.has("b", 0));
  EXPECT_TRUE(cached.cache.has(other, key("a"), {}));
}

TEST(ChunkCache, WhatIsFilledWhileItsValueIsErasedIsForThoseThatWait) {
  Cached cached(10 * kLarge);
  auto filling = cached.start("a");
  const auto before = cached.look("a");
  cached.cache.erase_value(cached.array, "a");
  EXPECT_EQ(cached.look("a").pending, nullptr) << "a later request reads the new value";
  auto later = cached.start("a");
  ASSERT_TRUE(later);
  filling.finish(std::make_shared<const SizedItem>(1), true, {});
  EXPECT_EQ(number_of(cached.cache.wait(*before.pending, kNoHelp)), 1);
  EXPECT_FALSE(cached.has("a"));
  later.finish(std::make_shared<const SizedItem>(2), true, {});
  EXPECT_EQ(number_of(cached.look("a").item), 2);
}

// A request has read the index of a shard, and begins to read an inner chunk.
TEST(ChunkCache, WhatARequestBeginsAfterItsValueHasBeenErasedIsNotCached) {
  Cached cached(10 * kLarge);
  const auto before = cached.cache.begin_request();
  cached.cache.erase_value(cached.array, "a");
  cached.insert("a", std::make_shared<const SizedItem>(1), before);
  EXPECT_FALSE(cached.has("a"));
  cached.insert("b", std::make_shared<const SizedItem>(1), before);
  EXPECT_TRUE(cached.has("b"));
  cached.insert("a", 2);
  EXPECT_TRUE(cached.has("a"));
}

TEST(ChunkCache, AQueuedEntryIsFilledByATaskOrByTheFirstThatNeedsIt) {
  Cached cached(100 * kLarge);
  const auto by_task = cached.cache.queue(cached.array, key("a"), {}, kLarge);
  const auto by_reader = cached.cache.queue(cached.array, key("b"), {}, kLarge);
  EXPECT_EQ(cached.cache.queue(cached.array, key("a"), {}, kLarge), nullptr);
  const auto reading = cached.start("b");
  EXPECT_TRUE(reading);
  EXPECT_FALSE(cached.cache.start_queued(by_reader));
  auto filling = cached.cache.start_queued(by_task);
  ASSERT_TRUE(filling);
  filling.finish(std::make_shared<const SizedItem>(1), true, {});
  EXPECT_TRUE(cached.look("a").is_first_use);
  EXPECT_FALSE(cached.look("a").is_first_use);
}

TEST(ChunkCache, AReaderThatCachesNothingTakesAQueuedEntry) {
  using Intent = ChunkCache::Intent;
  Cached cached(100 * kLarge);
  const auto request = cached.cache.begin_request();
  const auto entry = cached.cache.queue(cached.array, key("a"), {}, kLarge);
  cached.cache.find(cached.array, key("a"), {}, request, Intent::look);
  EXPECT_FALSE(cached.cache.is_empty());
  cached.cache.find(cached.array, key("a"), {}, request, Intent::take);
  EXPECT_TRUE(cached.cache.is_empty());
  EXPECT_FALSE(cached.cache.start_queued(entry));
  const auto first = cached.cache.find(cached.array, key("a"), {}, request, Intent::start);
  EXPECT_TRUE(first.filling);
  const auto second = cached.cache.find(cached.array, key("a"), {}, request, Intent::start);
  EXPECT_FALSE(second.filling);
  EXPECT_NE(second.pending, nullptr);
}

TEST(ChunkCache, WhatIsReadAheadHasAtMostAQuarter) {
  Cached cached(8 * kLarge);
  const auto queue = [&](const char* name) {
    return cached.cache.queue(cached.array, key(name), {}, kLarge);
  };
  const auto first = queue("a");
  EXPECT_NE(first, nullptr);
  const auto second = queue("b");
  EXPECT_NE(second, nullptr);
  EXPECT_EQ(queue("c"), nullptr);
  cached.cache.drop_prefetched(*first);
  EXPECT_EQ(cached.cache.prefetched_bytes(), kLarge);
  EXPECT_NE(queue("c"), nullptr);
  cached.cache.start_queued(second).finish(std::make_shared<const SizedItem>(1), true, {});
  EXPECT_EQ(queue("d"), nullptr);
  cached.look("b");
  cached.cache.drop_prefetched(*second);
  EXPECT_TRUE(cached.has("b")) << "it has been used";
  cached.cache.erase_all(cached.array);
  EXPECT_EQ(cached.cache.prefetched_bytes(), 0);
}

// Freeing large chunks takes long.
TEST(ChunkCache, IsNotLockedWhileItemsAreDestroyed) {
  struct Item : SizedItem {
    Item(Cached& of_cache, int& count) : SizedItem(0), cached(of_cache), unlocked(count) {}
    ~Item() override {
      const auto is_seen = std::make_shared<std::promise<void>>();
      const auto seen = is_seen->get_future();
      std::thread([&all = cached, is_seen] {
        all.has("a");
        is_seen->set_value();
      }).detach();
      if (seen.wait_for(std::chrono::seconds(10)) == std::future_status::ready) ++unlocked;
    }
    Cached& cached;
    int& unlocked;
  };
  int unlocked = 0;
  Cached cached(2 * kLarge);
  const auto insert = [&](const char* name) {
    cached.insert(name, std::make_shared<const Item>(cached, unlocked),
                  cached.cache.begin_request());
  };
  insert("a");
  insert("b");
  EXPECT_EQ(unlocked, 1) << "evicted";
  insert("b");
  EXPECT_EQ(unlocked, 2) << "replaced";
  cached.cache.erase_value(cached.array, "b");
  EXPECT_EQ(unlocked, 3) << "erased";
  insert("a");
  cached.cache.erase_all(cached.array);
  EXPECT_EQ(unlocked, 4) << "erased with its array";
}

#if !defined(__SANITIZE_THREAD__)
TEST(ChunkCache, AForkedChildFillsWhatAThreadOfItsParentWasFilling) {
  Cached cached(10 * kLarge);
  auto filling = cached.start("a");
  const auto found = cached.look("a");
  const pid_t child = ::fork();
  if (child == 0) {
    const bool is_absent =
        !cached.look("a").pending && cached.cache.wait(*found.pending, kNoHelp) == nullptr;
    ::_exit(is_absent && cached.start("a") ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}
#endif

TEST(ChunkCache, ManyThreadsMayUseItAtOnce) {
  Cached cached(20 * kLarge);
  std::vector<std::unique_ptr<CachedArray>> arrays;
  for (int i = 0; i < 2; ++i) arrays.push_back(std::make_unique<CachedArray>(cached.cache));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      Random random(static_cast<std::uint32_t>(t));
      for (int i = 0; i < 5000; ++i) {
        CachedArray& array = *arrays[random() % 2];
        const int number = static_cast<int>(random() % 40);
        const PlaceInValue place{nullptr, static_cast<std::uint64_t>(number % 4)};
        const auto value = key(std::to_string(number / 4));
        const auto request = cached.cache.begin_request();
        if (random() % 50 == 0) cached.cache.erase_value(array, *value);
        if (random() % 500 == 0) cached.cache.erase_all(array);
        auto found = cached.cache.find(array, value, place, request);
        if (found.pending) found.item = cached.cache.wait(*found.pending, kNoHelp);
        if (found.item) {
          EXPECT_EQ(number_of(found.item), number);
        } else if (auto filling = cached.cache.start(array, value, place, request)) {
          if (random() % 10 == 0) continue;
          filling.finish(std::make_shared<const SizedItem>(number), random() % 5 != 0, request);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(cached.cache.byte_count(), 20 * kLarge);
  arrays.clear();
  EXPECT_EQ(cached.cache.byte_count(), 0);
  EXPECT_TRUE(cached.cache.is_empty());
}

}  // namespace
}  // namespace zarrcore::test::chunk_cache_test
