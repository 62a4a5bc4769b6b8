#include "zarrcore/base/lru_cache.h"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace zarrcore::test::lru_cache_test {
namespace {

using Cache = LruCache<std::string>;

std::shared_ptr<const std::string> value(const char* text) {
  return std::make_shared<const std::string>(text);
}

constexpr std::uint64_t kLarge = 1 << 20;  // much more than an entry needs for itself

TEST(LruCache, FindsWhatWasInserted) {
  Cache cache(10 * kLarge);
  cache.insert("a", value("1"), 5);
  cache.insert("b", value("2"), 5);
  EXPECT_EQ(*cache.find("a"), "1");
  EXPECT_EQ(*cache.find("b"), "2");
  EXPECT_EQ(cache.find("c"), nullptr);
}

TEST(LruCache, EvictsTheLeastRecentlyUsed) {
  Cache cache(3 * kLarge + kLarge / 2);
  cache.insert("a", value("1"), kLarge);
  cache.insert("b", value("2"), kLarge);
  cache.insert("c", value("3"), kLarge);
  EXPECT_NE(cache.find("a"), nullptr);
  cache.insert("d", value("4"), kLarge);
  EXPECT_NE(cache.find("a"), nullptr);
  EXPECT_EQ(cache.find("b"), nullptr);
  EXPECT_NE(cache.find("c"), nullptr);
  EXPECT_NE(cache.find("d"), nullptr);
}

TEST(LruCache, IsBoundedInBytes) {
  Cache cache(10 * kLarge);
  for (int i = 0; i < 1000; ++i) {
    cache.insert(std::to_string(i), value("x"), kLarge);
    EXPECT_LE(cache.byte_count(), 10 * kLarge);
  }
}

TEST(LruCache, ManyEmptyValuesAreNotFree) {
  Cache cache(kLarge);
  for (int i = 0; i < 100000; ++i) cache.insert(std::to_string(i), value(""), 0);
  EXPECT_LE(cache.byte_count(), kLarge);
  EXPECT_EQ(cache.find("0"), nullptr);
}

TEST(LruCache, TheNewestStaysHoweverLargeItIs) {
  Cache cache(kLarge);
  cache.insert("a", value("1"), 10);
  cache.insert("b", value("2"), 100 * kLarge);
  EXPECT_EQ(cache.find("a"), nullptr);
  EXPECT_EQ(*cache.find("b"), "2");
  cache.insert("c", value("3"), 10);
  EXPECT_EQ(cache.find("b"), nullptr);
}

TEST(LruCache, InsertingAgainReplaces) {
  Cache cache(10 * kLarge);
  cache.insert("a", value("1"), kLarge);
  const std::uint64_t once = cache.byte_count();
  cache.insert("a", value("2"), kLarge);
  EXPECT_EQ(*cache.find("a"), "2");
  EXPECT_EQ(cache.byte_count(), once);
}

TEST(LruCache, AValueInUseOutlivesItsEntry) {
  Cache cache(0);
  cache.insert("a", value("1"), 10);
  const auto held = cache.find("a");
  cache.insert("b", value("2"), 10);
  EXPECT_EQ(cache.find("a"), nullptr);
  EXPECT_EQ(*held, "1");
}

// Freeing large values takes long.
TEST(LruCache, IsNotLockedWhileValuesAreDestroyed) {
  struct Value;
  using CacheOfValues = LruCache<Value>;
  struct Value {
    CacheOfValues& cache;
    int& unlocked;

    ~Value() {
      const auto is_seen = std::make_shared<std::promise<void>>();
      const auto seen = is_seen->get_future();
      std::thread([&cache = cache, is_seen] {
        cache.byte_count();
        is_seen->set_value();
      }).detach();
      if (seen.wait_for(std::chrono::seconds(10)) == std::future_status::ready) ++unlocked;
    }
  };
  int unlocked = 0;
  CacheOfValues cache(2 * kLarge);
  const auto insert = [&](const char* name) {
    cache.insert(name, std::make_shared<const Value>(cache, unlocked), kLarge);
  };
  insert("a");
  insert("b");
  EXPECT_EQ(unlocked, 1) << "evicted";
  insert("b");
  EXPECT_EQ(unlocked, 2) << "replaced";
  cache.insert("c", nullptr, 2 * kLarge);
}

TEST(LruCache, ManyThreadsMayUseItAtOnce) {
  Cache cache(50 * kLarge);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&cache, t] {
      for (int i = 0; i < 2000; ++i) {
        const std::string name = std::to_string((i * 7 + t) % 100);
        const auto found = cache.find(name);
        EXPECT_TRUE(found == nullptr || *found == name);
        cache.insert(name, std::make_shared<const std::string>(name), kLarge);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(cache.byte_count(), 50 * kLarge);
}

}  // namespace
}  // namespace zarrcore::test::lru_cache_test
