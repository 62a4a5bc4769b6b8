// What every store promises, asked of each.
#include "zarrcore/store/store.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

#include "autotest/cpp/support/bytes.h"
#include "autotest/cpp/support/expect_error.h"
#include "autotest/cpp/support/observed_store.h"
#include "autotest/cpp/support/temporary_folder.h"
#include "zarrcore/store/file_system_store.h"
#include "zarrcore/store/memory_store.h"

namespace zarrcore::test::store_test {
namespace {

// A fresh store, and whatever has to live as long.
struct Fixture {
  std::unique_ptr<TemporaryFolder> folder;
  std::unique_ptr<Store> store;
};

Fixture make_memory() {
  return {nullptr, std::make_unique<MemoryStore>()};
}

Fixture make_file_system() {
  auto folder = std::make_unique<TemporaryFolder>();
  auto store = std::make_unique<FileSystemStore>(folder->path() / "store.zarr");
  return {std::move(folder), std::move(store)};
}

using Names = std::vector<std::string>;

class AnyStore : public testing::TestWithParam<Fixture (*)()> {
 protected:
  Store& store() { return *fixture_.store; }
  void put(std::string_view key, std::string_view value) { store().put(key, bytes_of(value)); }
  std::optional<std::string> get(std::string_view key) {
    const auto value = store().get(key);
    return value ? std::optional<std::string>(value->text()) : std::nullopt;
  }
  std::optional<Names> get_ranges(std::string_view key, std::vector<ByteRange> ranges) {
    const auto parts = store().get_ranges(key, ranges);
    if (!parts) return std::nullopt;
    Names texts;
    for (const Buffer& part : *parts) texts.emplace_back(part.text());
    return texts;
  }

 private:
  Fixture fixture_ = GetParam()();
};

INSTANTIATE_TEST_SUITE_P(Stores, AnyStore, testing::Values(make_memory, make_file_system),
                         [](const auto& test) {
                           return test.index == 0 ? "Memory" : "FileSystem";
                         });

TEST_P(AnyStore, AnEmptyStoreHasNothing) {
  EXPECT_EQ(get("a"), std::nullopt);
  EXPECT_FALSE(store().has("a"));
  EXPECT_EQ(get_ranges("a", {ByteRange::at(0, 1)}), std::nullopt);
  EXPECT_TRUE(store().erase("a"));
  const DirectoryListing listing = store().list("");
  EXPECT_TRUE(listing.keys.empty());
  EXPECT_TRUE(listing.prefixes.empty());
}

TEST_P(AnyStore, GivesBackWhatWasPut) {
  put("a", "first");
  put("b/c/d", std::string(100000, 'x'));
  put("empty", "");
  EXPECT_EQ(get("a"), "first");
  EXPECT_EQ(get("b/c/d"), std::string(100000, 'x'));
  EXPECT_TRUE(store().has("a") && store().has("b/c/d") && store().has("empty"));
  EXPECT_EQ(get("empty"), "");
}

TEST_P(AnyStore, APrefixIsErasedWithAllBelowIt) {
  put("a/b", "1");
  put("a/c/d", "2");
  put("ab/c", "3");
  store().erase_prefix("a");
  EXPECT_EQ(get("a/b"), std::nullopt);
  EXPECT_EQ(get("a/c/d"), std::nullopt);
  EXPECT_EQ(get("ab/c"), "3");
  EXPECT_EQ(store().list("").prefixes, Names{"ab"});
  store().erase_prefix("not/there");
  EXPECT_ERROR(store().erase_prefix(""), "");
  EXPECT_ERROR(store().erase_prefix("../a"), "");
}

TEST_P(AnyStore, SeveralValuesAreListedAndErasedAtOnce) {
  put("a/b", "1");
  put("a/c/d", "2");
  put("a/c/e", "3");
  put("ab/c", "4");
  EXPECT_EQ(store().list_all("a"), (Names{"a/b", "a/c/d", "a/c/e"}));
  EXPECT_EQ(store().list_all("").size(), 4);
  EXPECT_EQ(store().list_all("not/there"), Names{});
  store().visit_values("a", [](std::string_view key, std::optional<std::uint64_t> size) {
    EXPECT_EQ(size.value_or(1), 1) << key;
  });
  EXPECT_TRUE(store().has_prefix("a/c"));
  EXPECT_FALSE(store().has_prefix("a/x"));
  const Names keys{"a/b", "not/there", "a/c/e"};
  store().erase_all(keys);
  EXPECT_EQ(store().list_all(""), (Names{"a/c/d", "ab/c"}));
  const Names others{"ab/c"};
  store().erase_prefix("a", others);
  EXPECT_EQ(store().list_all(""), Names{});
}

TEST_P(AnyStore, APrefixIsRenamedWithAllBelowIt) {
  put("a/b", "1");
  put("a/c/d", "2");
  put("ab/c", "3");
  store().rename_prefix("a", "n/m");
  EXPECT_EQ(get("a/b"), std::nullopt);
  EXPECT_EQ(get("n/m/b"), "1");
  EXPECT_EQ(get("n/m/c/d"), "2");
  EXPECT_EQ(get("ab/c"), "3");
  EXPECT_ERROR(store().rename_prefix("ab", ".."), "");
}

TEST(StoreTest, AFailedRenameRemovesItsCopies) {
  const auto memory = std::make_shared<MemoryStore>();
  for (const char* key : {"a/b", "a/c", "a/d"}) memory->put(key, bytes_of("value"));
  FailingStore store(memory, [](std::string_view key) { return key == "n/c"; });
  EXPECT_ERROR(store.rename_prefix("a", "n"), "fire");
  EXPECT_EQ(memory->list_all(""), (Names{"a/b", "a/c", "a/d"}));
}

// A process that ends in between leaves no node without its chunks.
TEST(StoreTest, ARenameCopiesDocumentsLastAndErasesThemFirst) {
  const auto memory = std::make_shared<MemoryStore>();
  for (const char* key : {"a/.zarray", "a/0.0", "a/0.1"}) memory->put(key, bytes_of("value"));
  Names changes;
  NotifyingStore store(memory, [&](const std::string& change) { changes.push_back(change); });
  store.rename_prefix("a", "n");
  EXPECT_EQ(changes, (Names{"+n/0.0", "+n/0.1", "+n/.zarray", "-a/.zarray", "-a/0.0", "-a/0.1"}));
}

TEST_P(AnyStore, PutReplaces) {
  put("a", "a long first value");
  put("a", "second");
  EXPECT_EQ(get("a"), "second");
}

TEST_P(AnyStore, APrefixIsNoValue) {
  put("a/b", "value");
  EXPECT_EQ(get("a"), std::nullopt);
  EXPECT_EQ(get("a/b/c"), std::nullopt);
  EXPECT_FALSE(store().has("a") || store().has("a/b/c"));
  EXPECT_EQ(get_ranges("a", {ByteRange::at(0, 0)}), std::nullopt);
}

TEST_P(AnyStore, RangesComeOneBufferEach) {
  put("a", "0123456789");
  EXPECT_EQ(get_ranges("a", {ByteRange::at(2, 3), ByteRange::suffix(2), ByteRange::at(0, 10),
                             ByteRange::at(10, 0), ByteRange::at(1, 3)}),
            (Names{"234", "89", "0123456789", "", "123"}));
  EXPECT_EQ(get_ranges("a", {}), Names{});
}

TEST_P(AnyStore, RangesOutsideTheValueAreErrors) {
  put("a", "0123456789");
  EXPECT_ERROR(get_ranges("a", {ByteRange::at(8, 3)}), "outside");
  EXPECT_ERROR(get_ranges("a", {ByteRange::at(UINT64_MAX, UINT64_MAX)}), "outside");
  EXPECT_ERROR(get_ranges("a", {ByteRange::suffix(11)}), "the last 11 bytes");
}

TEST_P(AnyStore, ARangeOfAValueOfAnotherSizeIsAnError) {
  put("a", "0123456789");
  EXPECT_EQ(get_ranges("a", {ByteRange::at(2, 3).of_value(10)}), Names{"234"});
  EXPECT_ERROR(get_ranges("a", {ByteRange::at(2, 3).of_value(11)}), "10 bytes where 11 are");
  EXPECT_ERROR(get_ranges("a", {ByteRange::suffix(3).of_value(9)}), "10 bytes where 9 are");
}

TEST_P(AnyStore, AValueOverTheLimitIsAnError) {
  put("a", "0123456789");
  EXPECT_EQ(store().get("a", 10)->text(), "0123456789");
  EXPECT_ERROR(store().get("a", 9), "10 bytes where at most 9");
}

TEST_P(AnyStore, EraseRemovesOneValue) {
  put("a/b", "1");
  put("a/c", "2");
  EXPECT_TRUE(store().erase("a/b"));
  EXPECT_TRUE(store().erase("a/b"));
  EXPECT_TRUE(store().erase("a"));
  EXPECT_TRUE(store().erase("a/c/d"));
  EXPECT_EQ(get("a/b"), std::nullopt);
  EXPECT_EQ(get("a/c"), "2");
}

TEST_P(AnyStore, ListsWhatStandsDirectlyBelow) {
  for (const char* key : {"zarr.json", "b/zarr.json", "b/c/0", "b/c/1", "b-c/0", "b0", "a/x/y/z"}) {
    put(key, "1");
  }
  const DirectoryListing root = store().list("");
  EXPECT_EQ(root.keys, (Names{"b0", "zarr.json"}));
  EXPECT_EQ(root.prefixes, (Names{"a", "b", "b-c"}));
  const DirectoryListing below = store().list("b");
  EXPECT_EQ(below.keys, Names{"zarr.json"});
  EXPECT_EQ(below.prefixes, Names{"c"});
  EXPECT_EQ(store().list("b/c").keys, (Names{"0", "1"}));
  EXPECT_TRUE(store().list("b0").keys.empty());
  EXPECT_TRUE(store().list("none/such").prefixes.empty());
}

TEST_P(AnyStore, KeysCannotLeadOut) {
  for (const char* key : {"../a", "a/../../b", "/etc/passwd", "a/./b", "", "a/", "a//b", "a\\b"}) {
    EXPECT_ERROR(put(key, "1"), "is not a valid key") << key;
  }
  EXPECT_TRUE(store().list("").keys.empty());
}

TEST_P(AnyStore, ReadersSeeTheOldValueOrTheNewOne) {
  const std::string first(50000, '1');
  const std::string second(70000, '2');
  put("a", first);
  std::atomic<bool> stop = false;
  std::thread writer([&] {
    for (int i = 0; i < 100; ++i) put("a", i % 2 == 0 ? second : first);
    stop = true;
  });
  bool is_whole = true;
  while (!stop) {
    const auto value = get("a");
    is_whole = is_whole && (value == first || value == second);
  }
  writer.join();
  EXPECT_TRUE(is_whole);
}

TEST_P(AnyStore, HasADescription) {
  EXPECT_FALSE(store().description().empty());
}

}  // namespace
}  // namespace zarrcore::test::store_test
