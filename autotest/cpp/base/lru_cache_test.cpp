#include "zarrcore/base/lru_cache.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "autotest/cpp/support/bytes.h"

namespace zarrcore::test::lru_cache_test {
namespace {

using Cache = LruCache<std::string, std::string>;

std::string key(const std::string& name, int owner = 1) {
  return std::to_string(owner) + ':' + name;
}

auto is_owned_by(int owner) {
  return [prefix = key("", owner)](const std::string& key) { return key.starts_with(prefix); };
}

std::shared_ptr<const std::string> value(const char* text) {
  return std::make_shared<const std::string>(text);
}

constexpr std::uint64_t kLarge = 1 << 20;  // much more than an entry needs for itself

TEST(LruCache, FindsWhatWasInserted) {
  Cache cache(10 * kLarge);
  cache.insert(key("a"), value("1"), 5);
  cache.insert(key("b"), value("2"), 5);
  EXPECT_EQ(*cache.find(key("a")), "1");
  EXPECT_EQ(*cache.find(key("b")), "2");
  EXPECT_EQ(cache.find(key("c")), nullptr);
}

TEST(LruCache, MakesWayButForAQuarter) {
  Cache cache(9 * kLarge);
  const auto insert = [&] {
    for (int i = 0; i < 8; ++i) cache.insert(key(std::to_string(i)), value("1"), kLarge);
  };
  insert();
  cache.make_way(5 * kLarge);
  EXPECT_EQ(cache.byte_count() / kLarge, 3);
  EXPECT_NE(cache.find(key("7")), nullptr);
  EXPECT_EQ(cache.find(key("4")), nullptr);
  cache.make_way(UINT64_MAX);
  insert();
  EXPECT_EQ(cache.byte_count() / kLarge, 2);
  cache.make_way(0);
  insert();
  EXPECT_EQ(cache.byte_count() / kLarge, 8);
}

TEST(LruCache, EvictsTheLeastRecentlyUsed) {
  Cache cache(3 * kLarge + kLarge / 2);
  cache.insert(key("a"), value("1"), kLarge);
  cache.insert(key("b"), value("2"), kLarge);
  cache.insert(key("c"), value("3"), kLarge);
  EXPECT_NE(cache.find(key("a")), nullptr);
  cache.insert(key("d"), value("4"), kLarge);
  EXPECT_NE(cache.find(key("a")), nullptr);
  EXPECT_EQ(cache.find(key("b")), nullptr);
  EXPECT_NE(cache.find(key("c")), nullptr);
  EXPECT_NE(cache.find(key("d")), nullptr);
}

// More values than there is room for, used again and again in the same order.
TEST(LruCache, ARequestDoesNotEvictItsOwnValues) {
  Cache cache(10 * kLarge + kLarge / 2);
  cache.insert(key("other"), value("1"), kLarge);
  for (std::uint64_t request = 1; request <= 3; ++request) {
    int found = 0;
    for (int i = 0; i < 12; ++i) {
      const std::string name = key(std::to_string(i));
      if (cache.find(name, request) != nullptr) {
        ++found;
      } else {
        cache.insert(name, value("x"), kLarge, request);
      }
      EXPECT_LE(cache.byte_count(), 10 * kLarge + kLarge / 2);
    }
    EXPECT_EQ(found, request == 1 ? 0 : 10);
  }
  EXPECT_EQ(cache.find(key("other")), nullptr);
  // The next one needs others.
  for (int i = 20; i < 32; ++i) cache.insert(key(std::to_string(i)), value("y"), kLarge, 4);
  EXPECT_EQ(cache.find(key("0")), nullptr);
  EXPECT_NE(cache.find(key("20")), nullptr);
  EXPECT_NE(cache.find(key("29")), nullptr);
  EXPECT_EQ(cache.find(key("30")), nullptr);
}

TEST(LruCache, IsBoundedInBytes) {
  Cache cache(10 * kLarge);
  for (int i = 0; i < 1000; ++i) {
    cache.insert(key(std::to_string(i)), value("x"), kLarge);
    EXPECT_LE(cache.byte_count(), 10 * kLarge);
  }
}

TEST(LruCache, ManyEmptyValuesAreNotFree) {
  Cache cache(kLarge);
  for (int i = 0; i < 100000; ++i) cache.insert(key(std::to_string(i)), value(""), 0);
  EXPECT_LE(cache.byte_count(), kLarge);
  EXPECT_EQ(cache.find(key("0")), nullptr);
}

TEST(LruCache, TheNewestStaysHoweverLargeItIs) {
  Cache cache(kLarge);
  cache.insert(key("a"), value("1"), 10);
  cache.insert(key("b"), value("2"), 100 * kLarge);
  EXPECT_EQ(cache.find(key("a")), nullptr);
  EXPECT_EQ(*cache.find(key("b")), "2");
  cache.insert(key("c"), value("3"), 10);
  EXPECT_EQ(cache.find(key("b")), nullptr);
}

TEST(LruCache, InsertingAgainReplaces) {
  Cache cache(10 * kLarge);
  cache.insert(key("a"), value("1"), kLarge);
  const std::uint64_t once = cache.byte_count();
  cache.insert(key("a"), value("2"), kLarge);
  EXPECT_EQ(*cache.find(key("a")), "2");
  EXPECT_EQ(cache.byte_count(), once);
}

TEST(LruCache, AValueInUseOutlivesItsEntry) {
  Cache cache(0);
  cache.insert(key("a"), value("1"), 10);
  const auto held = cache.find(key("a"));
  cache.insert(key("b"), value("2"), 10);
  EXPECT_EQ(cache.find(key("a")), nullptr);
  EXPECT_EQ(*held, "1");
}

TEST(LruCache, ErasesByKey) {
  Cache cache(10 * kLarge);
  cache.insert(key("a", 1), value("1"), 10);
  cache.insert(key("a", 2), value("2"), 10);
  cache.insert(key("b", 1), value("3"), 10);
  cache.erase_if(is_owned_by(1));
  EXPECT_EQ(cache.find(key("a", 1)), nullptr);
  EXPECT_EQ(cache.find(key("b", 1)), nullptr);
  EXPECT_EQ(*cache.find(key("a", 2)), "2");
  cache.erase_if(is_owned_by(2));
  EXPECT_EQ(cache.byte_count(), 0);
}

// A key of a group, which counts how often a cache looks at any of them.
struct GroupedKey {
  std::size_t number_of_group;
  int number;

  static inline std::atomic<int> looks = 0;

  bool operator==(const GroupedKey& other) const {
    ++looks;
    return number_of_group == other.number_of_group && number == other.number;
  }
  std::size_t group() const {
    ++looks;
    return number_of_group;
  }
  static std::uint64_t byte_count() { return 0; }
};
struct GroupedKeyHash {
  std::size_t operator()(const GroupedKey& key) const {
    ++GroupedKey::looks;
    return key.number_of_group * 1000 + static_cast<std::size_t>(key.number);
  }
};
using GroupedCache = LruCache<GroupedKey, std::string, GroupedKeyHash>;

TEST(LruCache, ErasesAGroupWithoutALookAtOthers) {
  GroupedCache cache(100 * kLarge);
  for (std::size_t group = 0; group < 10'000; ++group) {
    for (int i = 0; i < 3; ++i) cache.insert({group, i}, value("1"), 10);
  }
  const std::uint64_t bytes = cache.byte_count();
  GroupedKey::looks = 0;
  cache.erase_group(4711);
  EXPECT_LT(GroupedKey::looks, 50);
  EXPECT_EQ(cache.byte_count(), bytes - bytes / 10'000);
  for (std::size_t group = 4710; group < 4713; ++group) {
    for (int i = 0; i < 3; ++i) EXPECT_EQ(cache.find({group, i}) != nullptr, group != 4711);
  }
  GroupedKey::looks = 0;
  cache.erase_group(4711);
  cache.erase_group(12'345);
  EXPECT_EQ(GroupedKey::looks, 0);
}

TEST(LruCache, GroupsStayWholeWhateverIsEvicted) {
  Random random(61);
  GroupedCache cache(20 * kLarge);
  for (int round = 0; round < 20'000; ++round) {
    const GroupedKey key{random_number(random, 0, 30), static_cast<int>(random() % 10)};
    switch (random() % 8) {
      case 0:
        cache.erase(key);
        break;
      case 1:
        cache.erase_group(key.number_of_group);
        for (int i = 0; i < 10; ++i) EXPECT_EQ(cache.find({key.number_of_group, i}), nullptr);
        break;
      default:
        cache.insert(key, value("1"), kLarge);
        EXPECT_NE(cache.find(key), nullptr);
    }
  }
  for (std::size_t group = 0; group <= 30; ++group) cache.erase_group(group);
  EXPECT_EQ(cache.byte_count(), 0);
}

TEST(LruCache, WhatWasMadeBeforeItsGroupWasErasedIsNotInserted) {
  GroupedCache cache(10 * kLarge);
  const std::uint64_t before = cache.erasures();
  cache.insert({1, 0}, value("old"), 10, 0, before);
  cache.erase_group(1);
  cache.insert({1, 0}, value("old"), 10, 0, before);
  EXPECT_EQ(cache.find({1, 0}), nullptr);
  cache.insert({2, 0}, value("other"), 10, 0, before);
  EXPECT_NE(cache.find({2, 0}), nullptr);
  cache.insert({1, 0}, value("new"), 10, 0, cache.erasures());
  EXPECT_EQ(*cache.find({1, 0}), "new");
}

// Freeing large values takes long.
TEST(LruCache, IsNotLockedWhileValuesAreDestroyed) {
  struct Value;
  using CacheOfValues = LruCache<std::string, Value>;
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
  cache.erase_if([](const std::string&) { return true; });
  EXPECT_EQ(unlocked, 3) << "erased";
  insert("a");
  cache.make_way(2 * kLarge);
  insert("b");
  EXPECT_EQ(unlocked, 4) << "made way";
  cache.erase_if([](const std::string&) { return true; });
}

TEST(LruCache, ManyThreadsMayUseItAtOnce) {
  Cache cache(50 * kLarge);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&cache, t] {
      for (int i = 0; i < 2000; ++i) {
        const std::string name = std::to_string((i * 7 + t) % 100);
        const auto found = cache.find(key(name, t % 2));
        EXPECT_TRUE(found == nullptr || *found == name);
        cache.insert(key(name, t % 2), std::make_shared<const std::string>(name), kLarge);
        if (i % 500 == 0) cache.erase_if(is_owned_by(t % 2));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(cache.byte_count(), 50 * kLarge);
}

}  // namespace
}  // namespace zarrcore::test::lru_cache_test
