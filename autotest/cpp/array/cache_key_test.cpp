#include "zarrcore/array/cache_key.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "zarrcore/base/lru_cache.h"

namespace zarrcore::test::cache_key_test {
namespace {

TEST(CacheKey, EveryPartOfItCounts) {
  LruCache<CacheKey, std::string, CacheKeyHash> cache(1 << 20);
  const int chains[2] = {};
  const CacheKey base{.array_id = 1, .key = std::make_shared<const std::string>("a")};
  cache.insert(base, std::make_shared<const std::string>("1"), 5);
  EXPECT_NE(cache.find(base), nullptr);
  CacheKey other = base;
  other.offset = 1;
  EXPECT_EQ(cache.find(other), nullptr);
  other = base;
  other.length = 1;
  EXPECT_EQ(cache.find(other), nullptr);
  other = base;
  other.chain = &chains[1];
  EXPECT_EQ(cache.find(other), nullptr);
  other = base;
  other.array_id = 2;
  EXPECT_EQ(cache.find(other), nullptr);
  other = base;
  other.key = std::make_shared<const std::string>("b");
  EXPECT_EQ(cache.find(other), nullptr);
  other.key = std::make_shared<const std::string>("a");
  EXPECT_NE(cache.find(other), nullptr);
}

TEST(CacheKey, AllOfOneValueOfAnArrayFormAGroup) {
  const auto group = [](std::uint64_t array_id, const std::string& key, std::uint64_t offset) {
    return CacheKey{
        .array_id = array_id, .key = std::make_shared<const std::string>(key), .offset = offset}
        .group();
  };
  const std::size_t whole = group(1, "a/c/0", 0);
  EXPECT_EQ(CacheKey::group_of(1, "a/c/0"), whole);
  EXPECT_EQ(group(1, "a/c/0", 20), whole);
  EXPECT_EQ(group(1, "a/c/0" + std::string(kInnerShard) + "12", 20), whole);
  EXPECT_NE(group(2, "a/c/0", 0), whole);
  EXPECT_NE(group(1, "a/c/1", 0), whole);
}

}  // namespace
}  // namespace zarrcore::test::cache_key_test
