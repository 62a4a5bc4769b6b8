// Commits that fail at their end, merged changes, and what files of a repository say.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "autotest/cpp/support/expect_error.h"
#include "autotest/cpp/support/one_virtual_file.h"
#include "zarrcore/icechunk/icechunk_store.h"
#include "zarrcore/icechunk/refs.h"
#include "zarrcore/icechunk/repository_info.h"
#include "zarrcore/icechunk/transaction.h"
#include "zarrcore/store/forwarding_store.h"
#include "zarrcore/store/memory_store.h"

namespace zarrcore::test::icechunk_commit {
namespace {

using icechunk::IcechunkStore;
using icechunk::Repository;
using icechunk::Transaction;

std::string array_document(const std::string& more = {}) {
  return R"({"zarr_format":3,"node_type":"array","shape":[12],"data_type":"uint8","chunk_grid":)"
         R"({"name":"regular","configuration":{"chunk_shape":[1]}},"chunk_key_encoding":)"
         R"({"name":"default"},"fill_value":0,"codecs":[{"name":"bytes"}])" +
         more + "}";
}

void put(Store& store, std::string_view key, std::string_view value) {
  store.put(key, std::as_bytes(std::span(value)));
}

std::string text_at(Store& store, std::string_view key) {
  const auto value = store.get(key, kNoSizeLimit);
  return value ? std::string(value->text()) : "(absent)";
}

// Its members make it fail to read what is in a folder, to report that it has replaced a file, or
// to replace it before land().
class FailingStore final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;

  std::optional<Buffer> get(std::string_view key, std::uint64_t max_size) override {
    if (!hidden.empty() && key.starts_with(hidden)) throw Error("no answer");
    ++reads[std::string(key)];
    return ForwardingStore::get(key, max_size);
  }
  bool put_parts(std::string_view key, std::span<const ValuePart> parts,
                 const PutOptions& options) override {
    if (delays_once && options.must_check) {
      delays_once = false;
      land = [this, key = std::string(key), value = std::string(join_parts(parts).text()),
              options] {
        const ValuePart whole{std::as_bytes(std::span(value))};
        ForwardingStore::put_parts(key, {&whole, 1}, options);
      };
      throw Error("no answer");
    }
    const bool is_put = ForwardingStore::put_parts(key, parts, options);
    if (fails_once && options.must_check) {
      fails_once = false;
      throw Error("no answer");
    }
    return is_put;
  }

  std::string hidden;
  bool fails_once = false;
  bool delays_once = false;
  std::function<void()> land;
  std::map<std::string, int> reads;
};

class CommitTest : public testing::TestWithParam<int> {
 protected:
  CommitTest() { icechunk::create_repository(*memory, GetParam()); }

  Transaction start() { return Transaction(files, "main", std::make_shared<OneVirtualFile>()); }
  IcechunkStore stored() {
    return IcechunkStore(Repository::open(memory), {}, std::make_shared<OneVirtualFile>());
  }

  const std::shared_ptr<MemoryStore> memory = std::make_shared<MemoryStore>();
  const std::shared_ptr<FailingStore> files = std::make_shared<FailingStore>(memory);
};

INSTANTIATE_TEST_SUITE_P(Formats, CommitTest, testing::Values(1, 2));

TEST_P(CommitTest, SaysThatItIsDoneIfItsSnapshotCannotBeRead) {
  Transaction transaction = start();
  put(transaction, "a/zarr.json", array_document());
  files->hidden = "snapshots/";
  EXPECT_THROW(transaction.commit({}), icechunk::UnreadableCommit);
  files->hidden.clear();
  EXPECT_FALSE(transaction.has_changes());
  EXPECT_EQ(text_at(transaction, "a/zarr.json"), array_document());
  EXPECT_ERROR(put(transaction, "a/c/0", "0"), "is committed, but cannot be read");
  EXPECT_ERROR(transaction.commit({}), "is committed, but cannot be read");
  IcechunkStore seen = stored();
  EXPECT_EQ(text_at(seen, "a/zarr.json"), array_document());
}

TEST_P(CommitTest, KeepsOneCopyOfARepositoryWhoseAnswerWasLost) {
  Transaction transaction = start();
  put(transaction, "a/zarr.json", array_document());
  files->fails_once = true;
  transaction.commit({});
  EXPECT_EQ(memory->list("overwritten").keys.size(), GetParam() == 2 ? 1 : 0);
}

class LateCommitTest : public CommitTest {
 protected:
  LateCommitTest() {
    Transaction base = start();
    put(base, "a/zarr.json", array_document());
    put(base, "a/c/0", "zero");
    put(base, "b/zarr.json", array_document());
    base.commit({});
  }

  // A commit of chunk 1, which the store carries out later.
  void commit_late(Transaction& transaction) {
    put(transaction, "a/c/1", "one");
    files->delays_once = true;
    EXPECT_ERROR(transaction.commit({}), "no answer");
  }
};

INSTANTIATE_TEST_SUITE_P(Formats, LateCommitTest, testing::Values(1, 2));

TEST_P(LateCommitTest, IsTheNextOneIfNothingElseHasChanged) {
  Transaction transaction = start();
  commit_late(transaction);
  put(transaction, "a/zarr.json", array_document());  // as it was
  files->land();
  const std::string landed(stored().snapshot_id());
  EXPECT_EQ(transaction.commit({}), landed);
  EXPECT_FALSE(transaction.has_changes());
  put(transaction, "a/c/2", "two");
  transaction.commit({});
  IcechunkStore seen = stored();
  EXPECT_EQ(text_at(seen, "a/c/1"), "one");
  EXPECT_EQ(text_at(seen, "a/c/2"), "two");
}

TEST_P(LateCommitTest, IsAConflictWithWhatWasChangedSince) {
  const std::pair<const char*, std::function<void(Transaction&)>> changes[] = {
      {"put a chunk", [](Transaction& each) { put(each, "a/c/2", "two"); }},
      {"put it again", [](Transaction& each) { put(each, "a/c/1", "uno"); }},
      {"drop it",
       [](Transaction& each) {
         each.erase("a/c/1");
         put(each, "a/c/2", "two");
       }},
      {"drop a chunk", [](Transaction& each) { each.erase("a/c/0"); }},
      {"put a document",
       [](Transaction& each) {
         put(each, "b/zarr.json", array_document(R"(,"attributes":{"n":1})"));
       }},
      {"erase a node", [](Transaction& each) { each.erase_prefix("b", {}); }},
      {"move a node", [](Transaction& each) { each.rename_prefix("b", "c"); }},
      {"merge", [&](Transaction& each) {
         Transaction worker = start();
         put(worker, "a/c/3", "three");
         each.merge(worker.changes());
       }}};
  const std::string first(stored().snapshot_id());
  int number = 0;
  for (const auto& [name, change] : changes) {
    SCOPED_TRACE(name);
    Transaction transaction = start();
    commit_late(transaction);
    change(transaction);
    const auto expected = transaction.list_all("");
    files->land();
    for (int i = 0; i < 2; ++i) {
      EXPECT_THROW(transaction.commit({.ours_win = i == 1}), icechunk::CommitConflict);
      EXPECT_EQ(transaction.list_all(""), expected);
    }
    const std::string branch = "again" + std::to_string(++number);
    icechunk::create_ref(*files, icechunk::VersionName::Kind::branch, branch, first);
    Transaction again(files, branch, nullptr);
    again.merge(transaction.changes());
    again.commit({});
    EXPECT_EQ(again.list_all(""), expected);
    icechunk::reset_branch(*files, "main", first);
  }
}

// Whether it has been carried out yet or not.
TEST_P(LateCommitTest, IsAConflictWithWhatUndoesIt) {
  Transaction transaction = start();
  commit_late(transaction);
  transaction.erase("a/c/1");
  EXPECT_FALSE(transaction.has_changes());
  EXPECT_TRUE(transaction.has_failed_commit());
  const std::string first(stored().snapshot_id());
  EXPECT_EQ(transaction.commit({}), first);
  files->land();
  for (int i = 0; i < 2; ++i) {
    EXPECT_ERROR(transaction.commit({}), "has succeeded after an error");
    EXPECT_EQ(text_at(transaction, "a/c/1"), "(absent)");
  }
  transaction.roll_back();
  EXPECT_FALSE(transaction.has_failed_commit());
  EXPECT_ERROR(transaction.commit({}), "no changes");
}

TEST_P(LateCommitTest, IsOneOfOthersAfterARollback) {
  Transaction transaction = start();
  commit_late(transaction);
  transaction.roll_back();
  put(transaction, "a/c/2", "two");
  files->land();
  transaction.commit({});
  IcechunkStore seen = stored();
  EXPECT_EQ(text_at(seen, "a/c/1"), "one");
  EXPECT_EQ(text_at(seen, "a/c/2"), "two");
}

// Manifests are read for chunks that would come back alone.
TEST_P(CommitTest, SmallerArraysAreChangedWithoutTheirManifests) {
  Transaction transaction = start();
  for (const char* array : {"a", "b"}) {
    put(transaction, array + std::string("/zarr.json"), array_document());
  }
  put(transaction, "a/c/0", "zero");
  transaction.commit({});
  files->hidden = "manifests/";
  const auto document = [](int size) {
    std::string text = array_document();
    return text.replace(text.find("[12]"), 4, '[' + std::to_string(size) + ']');
  };
  for (const int size : {0, 12}) {
    put(transaction, "b/zarr.json", document(size));  // has no chunks
    put(transaction, "b/zarr.json", array_document());
  }
  for (const int size : {3, 2, 0}) {
    put(transaction, "a/zarr.json", document(size));
    put(transaction, "a/zarr.json", document(size));
  }
  EXPECT_ERROR(put(transaction, "a/zarr.json", document(3)), "no answer");
  files->hidden.clear();
  put(transaction, "a/zarr.json", document(3));
  EXPECT_EQ(text_at(transaction, "a/c/0"), "(absent)");
}

TEST_P(CommitTest, ANewBranchBeginsWithItsCommit) {
  const std::string first(stored().snapshot_id());
  const auto start_branch = [&](const std::string& name) {
    auto transaction = std::make_unique<Transaction>(
        files, name, nullptr, std::string(),
        icechunk::TransactionOptions{.snapshot = first, .creates_branch = true});
    put(*transaction, "a/zarr.json", array_document());
    return transaction;
  };
  const auto tip_of = [&](const std::string& name) {
    return Repository::open(memory)->find_snapshot({icechunk::VersionName::Kind::branch, name});
  };
  const auto transaction = start_branch("new");
  const auto late = start_branch("new");
  EXPECT_ERROR(tip_of("new"), "branch new does not exist");
  const std::string second = transaction->commit({});
  EXPECT_EQ(tip_of("new"), second);
  EXPECT_EQ(stored().snapshot_id(), first);
  EXPECT_ERROR(late->commit({}), "branch new already exists");
  EXPECT_ERROR(start_branch("new"), "branch new already exists");
  EXPECT_ERROR(start_branch("a/b"), "cannot be the name");
  put(*transaction, "b/zarr.json", array_document());
  const std::string third = transaction->commit({});
  EXPECT_EQ(tip_of("new"), third);
  icechunk::delete_ref(*files, icechunk::VersionName::Kind::branch, "new");
  put(*transaction, "c/zarr.json", array_document());
  EXPECT_ERROR(transaction->commit({}), "branch new has been deleted");
}

TEST_P(CommitTest, ANewBranchMayAppearAfterAnError) {
  const std::string first(stored().snapshot_id());
  Transaction transaction(files, "new", nullptr, {}, {.snapshot = first, .creates_branch = true});
  put(transaction, "a/zarr.json", array_document());
  files->delays_once = true;
  EXPECT_ERROR(transaction.commit({}), "no answer");
  const auto branches = [&] {
    return Repository::open(memory)->refs(icechunk::VersionName::Kind::branch).size();
  };
  EXPECT_EQ(branches(), 1);
  files->land();
  const std::string tip = transaction.commit({});
  EXPECT_EQ(branches(), 2);
  EXPECT_EQ(icechunk::ancestry(*memory, tip).size(), 2);
}

TEST_P(CommitTest, HistoriesOfBranchesAreReadOnce) {
  for (int i = 0; i < 10; ++i) {
    Transaction transaction = start();
    put(transaction, "a/zarr.json",
        array_document(R"(,"attributes":{"n":)" + std::to_string(i) + '}'));
    const std::string snapshot = transaction.commit({});
    icechunk::create_ref(*files, icechunk::VersionName::Kind::branch, "b" + std::to_string(i),
                         snapshot);
  }
  files->reads.clear();
  EXPECT_TRUE(icechunk::unreferenced_files(files).empty());
  for (const auto& [key, count] : files->reads) {
    EXPECT_TRUE(count == 1 || !key.starts_with("snapshots/")) << key;
  }
}

// The file of a snapshot that was migrated from format 1 names its parent, which may have expired.
TEST(MigratedRepository, HasTheHistoryOfItsFileRepo) {
  const auto files = std::make_shared<MemoryStore>();
  icechunk::create_repository(*files, 1);
  std::vector<std::string> ids;
  for (int i = 0; i < 2; ++i) {
    Transaction transaction(files, "main", nullptr);
    put(transaction, "a/zarr.json",
        array_document(R"(,"attributes":{"n":)" + std::to_string(i) + '}'));
    ids.push_back(transaction.commit({}));
  }
  const icechunk::RepositoryInfo info(icechunk::parse_id<icechunk::ObjectId>(ids[1]), {});
  files->put("repo", info.file().span());
  files->erase("snapshots/" + ids[0]);
  const auto unreferenced = icechunk::unreferenced_files(files);
  EXPECT_TRUE(std::ranges::count(unreferenced, "transactions/" + ids[0]) == 1);
  EXPECT_TRUE(std::ranges::count(unreferenced, "snapshots/" + ids[1]) == 0);
}

TEST_P(CommitTest, MergesChunksOfTwoWorkersOnlyIfTheyAreTheSame) {
  Transaction base = start();
  put(base, "a/zarr.json", array_document());
  put(base, "a/c/5", "base");
  base.commit({});
  const std::string large(1000, 'x');
  Transaction workers[] = {start(), start(), start()};
  for (Transaction& worker : workers) {
    put(worker, "a/c/0", "same");
    put(worker, "a/c/1", large);
    worker.erase("a/c/5");
  }
  put(workers[1], "a/c/2", "22");
  put(workers[2], "a/c/1", large + "y");
  Transaction transaction = start();
  transaction.merge(workers[0].changes());
  transaction.merge(workers[1].changes());
  EXPECT_ERROR(transaction.merge(workers[2].changes()), "/a/c/1 was changed");
  put(workers[0], "a/c/2", "20");
  EXPECT_ERROR(transaction.merge(workers[0].changes()), "/a/c/2 was changed");
  transaction.commit({});
  IcechunkStore seen = stored();
  EXPECT_EQ(text_at(seen, "a/c/1"), large);
  EXPECT_EQ(text_at(seen, "a/c/2"), "22");
  EXPECT_EQ(text_at(seen, "a/c/5"), "(absent)");
}

class WorkersTest : public CommitTest {
 protected:
  // The program's changes, which all workers get.
  WorkersTest() {
    put(program, "a/zarr.json", array_document());
    put(program, "a/c/5", "base");
    program.commit({});
    for (const char* key : {"a/c/0", "a/c/1", "a/c/2", "a/c/3"}) put(program, key, "given");
    put(program, "a/c/4", std::string(1000, 'x'));
    program.erase("a/c/5");
    given = program.changes();
  }

  // The changes of a worker.
  std::string changes(const std::function<void(Transaction&)>& change) {
    Transaction worker = start();
    worker.merge(given);
    change(worker);
    return worker.changes();
  }
  std::string putting(std::string_view key, std::string_view value) {
    return changes([&](Transaction& worker) { put(worker, key, value); });
  }
  std::string erasing(std::string_view key) {
    return changes([&](Transaction& worker) { worker.erase(key); });
  }

  Transaction program = start();
  std::string given;
};

INSTANTIATE_TEST_SUITE_P(Formats, WorkersTest, testing::Values(1, 2));

TEST_P(WorkersTest, ReplaceChunksThatTheyWereGiven) {
  const std::string large(2000, 'y');
  const std::string results[] = {putting("a/c/0", "new"), erasing("a/c/1"),
                                 putting("a/c/4", large), putting("a/c/5", "back"),
                                 putting("a/c/6", "six"), given};
  const auto expect_all = [&](Transaction& transaction) {
    for (const std::string& result : results) transaction.merge(result);
    for (const std::string& result : results) transaction.merge(result);
    transaction.commit({});
    IcechunkStore seen = stored();
    const std::pair<const char*, std::string> expected[] = {
        {"0", "new"}, {"1", "(absent)"}, {"2", "given"}, {"3", "given"},
        {"4", large}, {"5", "back"},     {"6", "six"},   {"7", "(absent)"}};
    for (const auto& [chunk, value] : expected) {
      EXPECT_EQ(text_at(seen, std::string("a/c/") + chunk), value);
    }
  };
  const std::string base(stored().snapshot_id());
  expect_all(program);
  icechunk::reset_branch(*files, "main", base);
  Transaction other = start();
  expect_all(other);  // without the program
}

TEST_P(WorkersTest, CannotReplaceWhatHasChangedSince) {
  put(program, "a/c/2", "newer");
  program.erase("a/c/3");
  program.merge(putting("a/c/0", "one worker"));
  EXPECT_ERROR(program.merge(putting("a/c/0", "another")), "/a/c/0 was changed");
  EXPECT_ERROR(program.merge(erasing("a/c/0")), "/a/c/0 was changed");
  EXPECT_ERROR(program.merge(putting("a/c/2", "of a worker")), "/a/c/2 was changed");
  EXPECT_ERROR(program.merge(putting("a/c/3", "of a worker")), "/a/c/3 was changed");
  program.merge(putting("a/c/7", "seven"));  // has the old chunks
  EXPECT_EQ(text_at(program, "a/c/0"), "one worker");
  EXPECT_EQ(text_at(program, "a/c/2"), "newer");
  EXPECT_EQ(text_at(program, "a/c/3"), "(absent)");
  EXPECT_EQ(text_at(program, "a/c/7"), "seven");
  // Chunks of a program that started with something else.
  Transaction other = start();
  put(other, "a/c/0", "other");
  EXPECT_ERROR(other.merge(putting("a/c/7", "seven")), "/a/c/0 was changed");
}

TEST_P(WorkersTest, HaveWorkersOfTheirOwn) {
  const auto result = changes([&](Transaction& worker) {
    put(worker, "a/c/0", "of the worker");
    Transaction below = start();
    below.merge(worker.changes());
    put(below, "a/c/0", "of the one below");
    put(below, "a/c/1", "of the one below");
    worker.merge(below.changes());
  });
  program.merge(result);
  EXPECT_EQ(text_at(program, "a/c/0"), "of the one below");
  EXPECT_EQ(text_at(program, "a/c/1"), "of the one below");
}

TEST_P(WorkersTest, LoseChunksOutsideOfSmallerArrays) {
  const auto resized = [](int size) {
    std::string text = array_document();
    return text.replace(text.find("[12]"), 4, '[' + std::to_string(size) + ']');
  };
  program.merge(changes([&](Transaction& worker) {
    put(worker, "a/zarr.json", resized(2));
    put(worker, "a/zarr.json", resized(12));
  }));
  EXPECT_EQ(text_at(program, "a/c/1"), "given");
  EXPECT_EQ(text_at(program, "a/c/2"), "(absent)");
}

TEST_P(CommitTest, MergesOneChangeOfADocument) {
  Transaction base = start();
  put(base, "a/zarr.json", array_document());
  base.commit({});
  Transaction workers[] = {start(), start()};
  put(workers[0], "a/zarr.json", array_document(R"(,"attributes":{"n":1})"));
  put(workers[1], "a/zarr.json", array_document(R"(,"attributes":{"n":2})"));
  Transaction transaction = start();
  transaction.merge(workers[0].changes());
  transaction.merge(workers[0].changes());
  EXPECT_ERROR(transaction.merge(workers[1].changes()), "a was changed");
}

TEST_P(CommitTest, NamesOfDimensionsMayAllBeNull) {
  const auto has_names = [&](const std::string& document) {
    Transaction transaction = start();
    put(transaction, "a/zarr.json", document);
    transaction.commit({});
    const bool is_written = stored().snapshot().has_dimension_names(0);
    // Also by a commit that leaves the array as it is.
    put(transaction, "b/zarr.json", document);
    transaction.commit({});
    EXPECT_EQ(stored().snapshot().has_dimension_names(0), is_written);
    transaction.erase_prefix("b", {});
    transaction.commit({});
    return is_written;
  };
  EXPECT_FALSE(has_names(array_document()));
  EXPECT_TRUE(has_names(array_document(R"(,"dimension_names":[null])")));
}

// The boxes of manifests do not overlap, whatever the configuration was.
TEST(IcechunkCommits, WriteManifestsAgainWhenTheConfigurationHasChanged) {
  const auto files = std::make_shared<MemoryStore>();
  icechunk::create_repository(*files, 1);
  std::vector<std::string> expected(12);
  const auto commit = [&](int size, const std::vector<int>& chunks) {
    put(*files, "config.yaml",
        "manifest:\n  splitting:\n    split_sizes:\n    - - any_array\n      - - condition: !Axis "
        "0\n          num_chunks: " +
            std::to_string(size) + "\n");
    Transaction transaction(files, "main", std::make_shared<OneVirtualFile>());
    if (!transaction.has("a/zarr.json")) put(transaction, "a/zarr.json", array_document());
    for (const int chunk : chunks) {
      expected[static_cast<std::size_t>(chunk)] += std::to_string(size);
      put(transaction, "a/c/" + std::to_string(chunk), expected[static_cast<std::size_t>(chunk)]);
    }
    transaction.commit({});
    IcechunkStore seen(Repository::open(files), {}, std::make_shared<OneVirtualFile>());
    const auto parts = seen.snapshot().manifests(0, 1);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      for (std::size_t k = 0; k < i; ++k) {
        EXPECT_TRUE(parts[i].to[0] <= parts[k].from[0] || parts[k].to[0] <= parts[i].from[0])
            << size;
      }
    }
    for (std::size_t chunk = 0; chunk < expected.size(); ++chunk) {
      if (expected[chunk].empty()) continue;
      EXPECT_EQ(text_at(seen, "a/c/" + std::to_string(chunk)), expected[chunk]);
    }
  };
  commit(3, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  commit(4, {0});
  commit(12, {11});
  commit(5, {1, 9});
  commit(2, {3});
  commit(3, {0, 11});
  commit(7, {2});
}

}  // namespace
}  // namespace zarrcore::test::icechunk_commit
