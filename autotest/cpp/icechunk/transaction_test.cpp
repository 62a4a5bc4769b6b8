#include "zarrcore/icechunk/transaction.h"

#include <gtest/gtest.h>
#ifndef _WIN32
#include <sys/resource.h>
#endif

#include <csignal>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "autotest/cpp/support/expect_error.h"
#include "autotest/cpp/support/one_virtual_file.h"
#include "zarrcore/icechunk/icechunk_store.h"
#include "zarrcore/icechunk/refs.h"
#include "zarrcore/store/memory_store.h"

namespace zarrcore::test::icechunk_transaction {
namespace {

using icechunk::IcechunkStore;
using icechunk::Repository;
using icechunk::Transaction;

constexpr std::string_view kGroup = R"({"zarr_format":3,"node_type":"group"})";

std::string array_document(const std::string& shape, const std::string& chunks,
                           const std::string& separator = "/") {
  return R"({"zarr_format":3,"node_type":"array","shape":)" + shape +
         R"(,"data_type":"uint8","chunk_grid":{"name":"regular","configuration":{"chunk_shape":)" +
         chunks + R"(}},"chunk_key_encoding":{"name":"default","configuration":{"separator":")" +
         separator + R"("}},"fill_value":0,"codecs":[{"name":"bytes"}],"attributes":{}})";
}

void put(Store& store, std::string_view key, std::string_view value) {
  store.put(key, std::as_bytes(std::span(value)));
}

std::string text_at(Store& store, std::string_view key) {
  const auto value = store.get(key, kNoSizeLimit);
  return value ? std::string(value->text()) : "(absent)";
}

// Drops the last chunk.
void resize_for_a_moment(Store& store) {
  put(store, "a/zarr.json", array_document("[4]", "[2]"));
  put(store, "a/zarr.json", array_document("[6]", "[2]"));
}

// Repositories in memory, of each format.
class TransactionTest : public testing::TestWithParam<int> {
 protected:
  TransactionTest() { icechunk::create_repository(*files, GetParam()); }

  Transaction start(const std::string& branch = "main") {
    return Transaction(files, branch, std::make_shared<OneVirtualFile>());
  }
  // What others see.
  IcechunkStore stored(const std::string& branch = "main") {
    return IcechunkStore(Repository::open(files), {icechunk::VersionName::Kind::branch, branch},
                         std::make_shared<OneVirtualFile>());
  }

  const std::shared_ptr<MemoryStore> files = std::make_shared<MemoryStore>();
};

INSTANTIATE_TEST_SUITE_P(Formats, TransactionTest, testing::Values(1, 2));

TEST_P(TransactionTest, ShowsItsChangesToOthersOnceTheyAreCommitted) {
  Transaction transaction = start();
  EXPECT_FALSE(transaction.has_changes());
  put(transaction, "zarr.json", kGroup);
  put(transaction, "a/zarr.json", array_document("[4,6]", "[2,2]"));
  const std::string large(1000, 'x');
  put(transaction, "a/c/0/1", "four");
  put(transaction, "a/c/1/2", large);
  EXPECT_TRUE(transaction.has_changes());
  EXPECT_EQ(text_at(transaction, "a/c/1/2"), large);
  EXPECT_TRUE(stored().list_all("").empty());

  transaction.commit({.message = "first"});
  EXPECT_FALSE(transaction.has_changes());
  for (Store* store : {static_cast<Store*>(&transaction)}) {
    EXPECT_EQ(text_at(*store, "a/c/0/1"), "four");
    EXPECT_EQ(text_at(*store, "a/c/1/2"), large);
    EXPECT_EQ(text_at(*store, "a/c/0/0"), "(absent)");
  }
  IcechunkStore seen = stored();
  EXPECT_EQ(text_at(seen, "zarr.json"), kGroup);
  EXPECT_EQ(text_at(seen, "a/c/0/1"), "four");
  EXPECT_EQ(text_at(seen, "a/c/1/2"), large);
  EXPECT_EQ(seen.list_all(""),
            (std::vector<std::string>{"a/c/0/1", "a/c/1/2", "a/zarr.json", "zarr.json"}));
  EXPECT_EQ(transaction.list_all(""), seen.list_all(""));

  put(transaction, "a/c/0/1", "five");
  transaction.erase("a/c/1/2");
  transaction.commit({.message = "second"});
  IcechunkStore later = stored();
  EXPECT_EQ(text_at(later, "a/c/0/1"), "five");
  EXPECT_EQ(text_at(later, "a/c/1/2"), "(absent)");
}

TEST_P(TransactionTest, MovesAndDeletesNodes) {
  Transaction transaction = start();
  put(transaction, "zarr.json", kGroup);
  put(transaction, "g/zarr.json", kGroup);
  put(transaction, "g/a/zarr.json", array_document("[4,6]", "[2,2]"));
  put(transaction, "g/a/c/0/1", "four");
  transaction.commit({});
  const std::string large(1000, 'x');
  put(transaction, "g/a/c/0/0", large);
  transaction.rename_prefix("g", "h/g");
  EXPECT_EQ(text_at(transaction, "h/g/a/c/0/1"), "four");
  EXPECT_EQ(text_at(transaction, "h/g/a/c/0/0"), large);
  EXPECT_FALSE(transaction.has_prefix("g"));
  put(transaction, "h/zarr.json", kGroup);
  transaction.commit({});
  IcechunkStore moved = stored();
  EXPECT_EQ(moved.list_all(""), transaction.list_all(""));
  EXPECT_EQ(text_at(moved, "h/g/a/c/0/1"), "four");
  EXPECT_EQ(text_at(moved, "h/g/a/c/0/0"), large);
  // What takes its place has none of its chunks.
  transaction.erase_prefix("h/g/a", {});
  put(transaction, "h/g/a/zarr.json", array_document("[4,6]", "[2,2]"));
  EXPECT_EQ(text_at(transaction, "h/g/a/c/0/1"), "(absent)");
  transaction.commit({});
  IcechunkStore again = stored();
  EXPECT_EQ(text_at(again, "h/g/a/c/0/1"), "(absent)");
}

TEST_P(TransactionTest, LosesWhatWasOutsideOfASmallerArray) {
  Transaction transaction = start();
  put(transaction, "a/zarr.json", array_document("[6]", "[2]"));
  for (int i = 0; i < 3; ++i) put(transaction, "a/c/" + std::to_string(i), std::to_string(i));
  transaction.commit({});
  resize_for_a_moment(transaction);
  EXPECT_TRUE(transaction.has_changes());
  EXPECT_EQ(text_at(transaction, "a/c/1"), "1");
  EXPECT_EQ(text_at(transaction, "a/c/2"), "(absent)");
  transaction.commit({});
  IcechunkStore seen = stored();
  EXPECT_EQ(text_at(seen, "a/c/1"), "1");
  EXPECT_EQ(text_at(seen, "a/c/2"), "(absent)");
}

TEST_P(TransactionTest, LosesAllChunksOfAnotherRank) {
  Transaction transaction = start();
  put(transaction, "a/zarr.json", array_document("[4,4]", "[2,2]"));
  put(transaction, "a/c/1/1", "four");
  transaction.commit({});
  put(transaction, "a/zarr.json", array_document("[4]", "[2]"));
  EXPECT_EQ(text_at(transaction, "a/c/1"), "(absent)");
  put(transaction, "a/c/1", "11");
  put(transaction, "a/zarr.json", array_document("[4,4]", "[2,2]"));
  EXPECT_EQ(text_at(transaction, "a/c/1/1"), "(absent)");
  EXPECT_EQ(transaction.list_all("a"), std::vector<std::string>{"a/zarr.json"});
  transaction.commit({});
  IcechunkStore seen = stored();
  EXPECT_EQ(seen.list_all("a"), std::vector<std::string>{"a/zarr.json"});
}

TEST_P(TransactionTest, StoresSmallChunksInManifestsWhateverTheirParts) {
  Transaction transaction = start();
  put(transaction, "a/zarr.json", array_document("[6]", "[2]"));
  for (const std::size_t size : {100, 256, 257}) {
    const std::vector<std::byte> half(size, std::byte{7});
    const ValuePart parts[] = {{half}, {{}, [&] { return Buffer::copy_of(half); }}};
    transaction.put_parts("a/c/0", parts);
    EXPECT_EQ(transaction.get("a/c/0", kNoSizeLimit)->size(), 2 * size);
    EXPECT_EQ(files->list("chunks").keys.size(), size > 256 ? 1 : 0);
  }
}

TEST_P(TransactionTest, EndsWithoutChangesAfterTheirInverses) {
  Transaction transaction = start();
  put(transaction, "zarr.json", kGroup);
  put(transaction, "a/zarr.json", array_document("[6]", "[2]"));
  put(transaction, "a/c/0", "0");
  transaction.commit({});
  put(transaction, "zarr.json", kGroup);
  transaction.erase("a/c/1");
  put(transaction, "b/zarr.json", kGroup);
  transaction.erase_prefix("b", {});
  transaction.rename_prefix("a", "c");
  transaction.rename_prefix("c", "a");
  EXPECT_FALSE(transaction.has_changes());
  EXPECT_ERROR(transaction.commit({}), "no changes");
  put(transaction, "a/c/0", "1");
  transaction.roll_back();
  EXPECT_EQ(text_at(transaction, "a/c/0"), "0");
  EXPECT_FALSE(transaction.has_changes());
}

TEST_P(TransactionTest, ReplacesOnlyTheVersionThatIsExpected) {
  Transaction transaction = start();
  put(transaction, "a/zarr.json", array_document("[6]", "[2]"));
  for (const std::string& text : {std::string("ab"), std::string(1000, 'x')}) {
    put(transaction, "a/c/0", text);
    const ValueVersion old = transaction.open("a/c/0")->version();
    EXPECT_FALSE(old.differs_from(transaction.current_version("a/c/0")));
    const ValuePart part{std::as_bytes(std::span(text))};
    EXPECT_TRUE(transaction.put_parts("a/c/0", {&part, 1}, {.expected = old}));
    EXPECT_TRUE(old.differs_from(transaction.current_version("a/c/0")));
    EXPECT_FALSE(transaction.put_parts("a/c/0", {&part, 1}, {.expected = old}));
    EXPECT_FALSE(transaction.erase("a/c/0", {.expected = ValueVersion::absent()}));
  }
}

TEST_P(TransactionTest, RefusesWhatARepositoryCannotHold) {
  Transaction transaction = start();
  put(transaction, "a/zarr.json", array_document("[6]", "[2]"));
  EXPECT_ERROR(put(transaction, "a/c/3", "ab"), "a/c/3");
  EXPECT_ERROR(put(transaction, "b/c/0", "ab"), "b/c/0");
  EXPECT_ERROR(put(transaction, "a/c/0", ""), "no length");
  EXPECT_ERROR(put(transaction, "notes.txt", "ab"), "notes.txt");
  EXPECT_ERROR(put(transaction, "a/b/zarr.json", kGroup), "is an array");
  EXPECT_ERROR(put(transaction, "b/zarr.json", "{}"), "b/zarr.json");
  EXPECT_ERROR(start("other"), "other");
}

TEST_P(TransactionTest, TakesChunksFromManyThreads) {
  // With so little memory, references go to a file.
  Transaction transaction(files, "main", std::make_shared<OneVirtualFile>(), {},
                          {.inline_threshold = 1000, .max_memory = 1000});
  put(transaction, "a/zarr.json", array_document("[20,20]", "[1,1]", "."));
  const auto text_of = [](int i, int k) {
    return std::string(static_cast<std::size_t>(1 + i * 20 + k) * 4, static_cast<char>('a' + i));
  };
  const auto key_of = [](int i, int k) {
    return "a/c." + std::to_string(i) + '.' + std::to_string(k);
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 20; ++i) {
    threads.emplace_back([&, i] {
      for (int k = 0; k < 20; ++k) {
        put(transaction, key_of(i, k), "first");
        put(transaction, key_of(i, k), text_of(i, k));
        EXPECT_EQ(text_at(transaction, key_of(i, k)), text_of(i, k));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const auto expect_all = [&](Store& store) {
    for (int i = 0; i < 20; ++i) {
      for (int k = 0; k < 20; ++k) EXPECT_EQ(text_at(store, key_of(i, k)), text_of(i, k));
    }
    EXPECT_EQ(store.list_all("a").size(), 401);
  };
  expect_all(transaction);
  transaction.commit({});
  IcechunkStore seen = stored();
  expect_all(seen);
}

#ifndef _WIN32
// The limit is like a full disk for temporary files.
TEST_P(TransactionTest, KeepsItsReferencesWhenTheirFileCannotGrow) {
  Transaction transaction(files, "main", std::make_shared<OneVirtualFile>(), {},
                          {.inline_threshold = 1000, .max_memory = 1000});
  put(transaction, "a/zarr.json", array_document("[100]", "[1]"));
  const auto key_of = [](int i) { return "a/c/" + std::to_string(i); };
  const auto text_of = [](int i) { return std::string(300, static_cast<char>('a' + i % 26)); };
  std::set<int> stored;
  const auto put_some = [&](int from) {
    for (int i = from; i < from + 20; ++i) {
      try {
        put(transaction, key_of(i), text_of(i));
        stored.insert(i);
      } catch (const Error&) {
      }
    }
  };
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit old{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old), 0);
  const rlimit small{1500, old.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  put_some(0);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &old), 0);
  put_some(20);
  EXPECT_LT(stored.size(), 20);
  transaction.commit({});
  IcechunkStore seen = this->stored();
  for (int i = 0; i < 40; ++i) {
    EXPECT_EQ(text_at(seen, key_of(i)), stored.contains(i) ? text_of(i) : "(absent)") << i;
  }
}
#endif

TEST_P(TransactionTest, KeepsTheKindsOfReferences) {
  Transaction transaction = start();
  put(transaction, "a/zarr.json", array_document("[6]", "[2]"));
  icechunk::ChunkReference external;
  external.kind = icechunk::ChunkReference::Kind::external;
  external.object = IcechunkRepository::kUrl;
  external.offset = 2;
  external.length = 2;
  external.etag = "tag";
  transaction.put_reference("a/c/0", external);
  external.etag.clear();
  external.last_modified = 17;
  transaction.put_reference("a/c/1", external);
  EXPECT_EQ(text_at(transaction, "a/c/1"), "23");
  Transaction other = start();
  other.merge(transaction.changes());
  other.commit({});
  put(other, "a/c/2", "45");  // writes the manifest again
  other.commit({});
  IcechunkStore seen = stored();
  EXPECT_EQ(text_at(seen, "a/c/0"), "23");
  EXPECT_EQ(seen.locate("a/c/0")->reference.etag, "tag");
  EXPECT_EQ(seen.locate("a/c/1")->reference.last_modified, 17);
  EXPECT_EQ(seen.locate("a/c/1")->reference.etag, "");
  external.length = 0;
  EXPECT_ERROR(transaction.put_reference("a/c/0", external), "no length");
}

TEST(IcechunkManifests, AreSplitAsTheConfigurationSays) {
  const auto files = std::make_shared<MemoryStore>();
  icechunk::create_repository(*files, 1);
  put(*files, "config.yaml",
      "inline_chunk_threshold_bytes: 1\nmanifest:\n  splitting:\n    split_sizes:\n"
      "    - - any_array\n      - - condition: !Axis 0\n          num_chunks: 2\n");
  Transaction transaction(files, "main", std::make_shared<OneVirtualFile>());
  put(transaction, "a/zarr.json", array_document("[10,2]", "[2,2]"));
  for (int i = 0; i < 5; ++i) put(transaction, "a/c/" + std::to_string(i) + "/0", "four");
  transaction.commit({});
  EXPECT_EQ(files->list("manifests").keys.size(), 3);
  EXPECT_EQ(files->list("chunks").keys.size(), 5);
  put(transaction, "a/c/4/0", "five");
  transaction.erase("a/c/2/0");
  transaction.erase("a/c/3/0");
  transaction.commit({});
  EXPECT_EQ(files->list("manifests").keys.size(), 4);  // one is kept, one is empty
  IcechunkStore seen(Repository::open(files), {}, std::make_shared<OneVirtualFile>());
  EXPECT_EQ(seen.list_all("a"),
            (std::vector<std::string>{"a/c/0/0", "a/c/1/0", "a/c/4/0", "a/zarr.json"}));
  EXPECT_EQ(text_at(seen, "a/c/4/0"), "five");
}

TEST_P(TransactionTest, SplitsLargeManifests) {
  constexpr int kSide = 12;
  const auto key_of = [](int i, int k) {
    return "a/c/" + std::to_string(i) + '/' + std::to_string(k);
  };
  std::map<std::string, std::string> expected;
  Transaction transaction(files, "main", std::make_shared<OneVirtualFile>(), {},
                          {.max_manifest_size = 800});
  put(transaction, "a/zarr.json", array_document("[12,12]", "[1,1]"));
  const auto change = [&](int i, int k, const std::string& text) {
    put(transaction, key_of(i, k), text);
    expected[key_of(i, k)] = text;
  };
  const auto commit = [&] {
    const std::size_t before = files->list("manifests").keys.size();
    transaction.commit({});
    IcechunkStore seen = stored();
    EXPECT_EQ(seen.list_all("a").size(), expected.size() + 1);
    for (const auto& [key, text] : expected) EXPECT_EQ(text_at(seen, key), text);
    return files->list("manifests").keys.size() - before;
  };
  for (int i = 0; i < kSide - 2; ++i) {
    for (int k = 0; k < kSide; ++k) change(i, k, key_of(i, k));
  }
  EXPECT_GT(commit(), 8);
  change(3, 3, "local");
  EXPECT_LE(commit(), 3);
  for (int k = 0; k < kSide; ++k) change(kSide - 1, k, "appended");
  EXPECT_LE(commit(), 2);
  change(0, 0, "everywhere");
  change(kSide - 1, kSide - 1, "everywhere");
  EXPECT_GT(commit(), 8);
}

// Another writer's commit in between.
class RebaseTest : public TransactionTest {
 protected:
  RebaseTest() {
    put(first, "zarr.json", kGroup);
    put(first, "a/zarr.json", array_document("[6]", "[2]"));
    put(first, "g/zarr.json", kGroup);
    put(first, "a/c/0", "00");
    first.commit({.message = "base"});
  }

  Transaction first = start();
};

INSTANTIATE_TEST_SUITE_P(Formats, RebaseTest, testing::Values(1, 2));

TEST_P(RebaseTest, AppliesChangesOfOtherNodesAndChunks) {
  Transaction second = start();
  put(first, "a/c/1", "11");
  put(first, "b/zarr.json", array_document("[6]", "[2]"));
  first.commit({});
  put(second, "a/c/2", "22");
  put(second, "g/c/zarr.json", kGroup);
  second.commit({});
  IcechunkStore seen = stored();
  for (Store* store : {static_cast<Store*>(&seen), static_cast<Store*>(&second)}) {
    EXPECT_EQ(text_at(*store, "a/c/0"), "00");
    EXPECT_EQ(text_at(*store, "a/c/1"), "11");
    EXPECT_EQ(text_at(*store, "a/c/2"), "22");
    EXPECT_EQ(text_at(*store, "g/c/zarr.json"), kGroup);
    EXPECT_TRUE(store->has("b/zarr.json"));
  }
  EXPECT_EQ(icechunk::ancestry(*files, seen.snapshot_id()).size(), 4);
}

TEST_P(RebaseTest, MovesNodesThatOthersHaveNotChanged) {
  Transaction second = start();
  put(first, "g/n/zarr.json", kGroup);
  first.commit({});
  second.rename_prefix("a", "moved");
  put(second, "moved/c/2", "22");
  second.commit({});
  IcechunkStore seen = stored();
  EXPECT_EQ(seen.list_all(""),
            (std::vector<std::string>{"g/n/zarr.json", "g/zarr.json", "moved/c/0", "moved/c/2",
                                      "moved/zarr.json", "zarr.json"}));
}

TEST_P(RebaseTest, RefusesWhatContradicts) {
  using Change = std::function<void(Transaction&)>;
  const std::vector<std::pair<Change, Change>> conflicts = {
      {[](auto& t) { put(t, "a/c/1", "11"); }, [](auto& t) { put(t, "a/c/1", "xx"); }},
      {[](auto& t) { put(t, "a/c/1", "12"); }, [](auto& t) { t.erase_prefix("a", {}); }},
      {[](auto& t) { put(t, "a/c/2", "12"); },
       [](auto& t) { put(t, "a/zarr.json", array_document("[4]", "[2]")); }},
      {[](auto& t) { put(t, "a/zarr.json", array_document("[8]", "[2]")); },
       [](auto& t) { put(t, "a/c/0", "99"); }},
      {[](auto& t) { put(t, "n/zarr.json", array_document("[8]", "[2]")); },
       [](auto& t) { put(t, "n/zarr.json", array_document("[8]", "[2]")); }},
      {[](auto& t) { put(t, "g/x/zarr.json", kGroup); }, [](auto& t) { t.erase_prefix("g", {}); }},
      {[](auto& t) { t.erase_prefix("g", {}); }, [](auto& t) { put(t, "g/y/zarr.json", kGroup); }},
      {[](auto& t) { t.rename_prefix("a", "moved"); }, [](auto& t) { put(t, "a/c/0", "77"); }},
      {[](auto& t) { resize_for_a_moment(t); }, [](auto& t) { put(t, "a/c/2", "77"); }},
      {[](auto& t) { put(t, "a/c/2", "77"); }, [](auto& t) { resize_for_a_moment(t); }},
  };
  for (std::size_t i = 0; i < conflicts.size(); ++i) {
    SCOPED_TRACE(i);
    Transaction second = start();
    conflicts[i].first(first);
    first.commit({});
    const std::string tip = stored().snapshot_id();
    conflicts[i].second(second);
    const std::string snapshot = second.snapshot_id();
    EXPECT_THROW(second.commit({}), icechunk::CommitConflict);
    EXPECT_EQ(stored().snapshot_id(), tip);
    // On another branch they are a commit.
    const std::string branch = "other" + std::to_string(i);
    icechunk::create_ref(*files, icechunk::VersionName::Kind::branch, branch, snapshot);
    Transaction other = start(branch);
    other.merge(second.changes());
    other.commit({});
    if (!first.has("g/zarr.json")) put(first, "g/zarr.json", kGroup);
    if (!first.has("a/zarr.json")) put(first, "a/zarr.json", array_document("[6]", "[2]"));
    put(first, "a/c/2", "20");
    first.commit({});
  }
}

TEST_P(RebaseTest, SeesChunksThatAWorkerHasDropped) {
  put(first, "a/c/2", "20");
  first.commit({});
  Transaction worker = start();
  Transaction second = start();
  resize_for_a_moment(worker);
  first.merge(worker.changes());
  first.commit({});
  put(second, "a/c/2", "77");
  EXPECT_THROW(second.commit({}), icechunk::CommitConflict);
}

TEST_P(RebaseTest, DeletesWhatAnotherWorkerHasMovedAwayAndBack) {
  Transaction worker = start();
  worker.erase_prefix("a", {});
  first.rename_prefix("a", "b");
  first.rename_prefix("b", "a");
  put(first, "g/b/zarr.json", kGroup);
  first.merge(worker.changes());
  EXPECT_FALSE(first.has("a/zarr.json"));
  first.commit({});
  IcechunkStore seen = stored();
  EXPECT_FALSE(seen.has_prefix("a"));

  Transaction mover = start();
  Transaction eraser = start();
  mover.rename_prefix("g", "h");
  eraser.erase_prefix("g", {});
  EXPECT_THROW(mover.merge(eraser.changes()), icechunk::CommitConflict);
}

TEST_P(TransactionTest, LetsTwoWritersMakeTheSameGroup) {
  Transaction first = start();
  Transaction second = start();
  for (Transaction* each : {&first, &second}) put(*each, "zarr.json", kGroup);
  put(first, "a/zarr.json", array_document("[6]", "[2]"));
  put(second, "b/zarr.json", array_document("[6]", "[2]"));
  put(second, "b/c/0", "bb");
  const std::string tip = first.commit({});
  second.commit({});
  IcechunkStore seen = stored();
  EXPECT_EQ(seen.list_all(""),
            (std::vector<std::string>{"a/zarr.json", "b/c/0", "b/zarr.json", "zarr.json"}));
  EXPECT_EQ(icechunk::ancestry(*files, seen.snapshot_id()).at(1).id, tip);
}

TEST_P(RebaseTest, LetsOursWinIfAsked) {
  Transaction second = start();
  put(first, "a/c/0", "11");
  put(first, "g/zarr.json", R"({"zarr_format":3,"node_type":"group","attributes":{"a":1}})");
  first.commit({});
  put(second, "a/c/0", "22");
  second.erase_prefix("g", {});
  EXPECT_THROW(second.commit({}), icechunk::CommitConflict);
  second.commit({.ours_win = true});
  IcechunkStore seen = stored();
  EXPECT_EQ(text_at(seen, "a/c/0"), "22");
  EXPECT_FALSE(seen.has("g/zarr.json"));
}

TEST_P(TransactionTest, RefusesDamagedRepositoriesBeforeItWrites) {
  Transaction transaction = start();
  put(transaction, "zarr.json", kGroup);
  transaction.commit({});
  const auto keys = files->list_all("");
  for (const std::string& key : keys) {
    if (key.starts_with("transactions") || key.starts_with("overwritten")) continue;
    if (key == "snapshots/1CECHNKREP0F1RSTCMT0") continue;
    const Buffer old = *files->get(key, kNoSizeLimit);
    files->put(key, old.span().first(old.size() / 2));
    EXPECT_ERROR(start(), "memory");
    files->put(key, old.span());
  }
  EXPECT_EQ(files->list_all(""), keys);
  start();
}

TEST_P(TransactionTest, MergesChangesOfWorkers) {
  Transaction transaction = start();
  put(transaction, "zarr.json", kGroup);
  put(transaction, "a/zarr.json", array_document("[8]", "[2]"));
  const std::string session = transaction.changes();
  const std::string large(1000, 'x');
  std::vector<std::string> results;
  for (int i = 0; i < 4; ++i) {
    Transaction worker = start();
    worker.merge(session);
    put(worker, "a/c/" + std::to_string(i), i == 2 ? large : std::to_string(i));
    results.push_back(worker.changes());
  }
  for (const std::string& result : results) transaction.merge(result);
  transaction.commit({});
  IcechunkStore seen = stored();
  EXPECT_EQ(text_at(seen, "a/c/0"), "0");
  EXPECT_EQ(text_at(seen, "a/c/2"), large);
  EXPECT_EQ(text_at(seen, "a/c/3"), "3");
  EXPECT_ERROR(transaction.merge(results[0]), "do not start from");
  EXPECT_ERROR(transaction.merge("{}"), "the changes to merge");
}

}  // namespace
}  // namespace zarrcore::test::icechunk_transaction
