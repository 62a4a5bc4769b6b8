// Commits that fail at their end, merged changes, and what files of a repository say.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "autotest/cpp/support/expect_error.h"
#include "autotest/cpp/support/one_virtual_file.h"
#include "zarrcore/icechunk/icechunk_store.h"
#include "zarrcore/icechunk/refs.h"
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

// Its members make it fail to read snapshots, or to report that it has replaced a file.
class FailingStore final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;

  std::optional<Buffer> get(std::string_view key, std::uint64_t max_size) override {
    if (hides_snapshots && key.starts_with("snapshots/")) throw Error("no answer");
    return ForwardingStore::get(key, max_size);
  }
  bool put_parts(std::string_view key, std::span<const ValuePart> parts,
                 const PutOptions& options) override {
    const bool is_put = ForwardingStore::put_parts(key, parts, options);
    if (fails_once && options.must_check) {
      fails_once = false;
      throw Error("no answer");
    }
    return is_put;
  }

  bool hides_snapshots = false;
  bool fails_once = false;
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
  files->hides_snapshots = true;
  EXPECT_THROW(transaction.commit({}), icechunk::UnreadableCommit);
  files->hides_snapshots = false;
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
