#include "zarrcore/icechunk/refs.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "autotest/cpp/support/expect_error.h"
#include "autotest/cpp/support/one_virtual_file.h"
#include "autotest/cpp/support/temporary_folder.h"
#include "zarrcore/icechunk/repository_info.h"
#include "zarrcore/icechunk/transaction.h"
#include "zarrcore/store/file_system_store.h"
#include "zarrcore/store/forwarding_store.h"
#include "zarrcore/store/memory_store.h"

namespace zarrcore::test::icechunk_refs {
namespace {

using icechunk::Repository;
using icechunk::RepositoryInfo;
using icechunk::Transaction;
using icechunk::VersionName;

constexpr std::string_view kGroup = R"({"zarr_format":3,"node_type":"group"})";

Transaction start(const std::shared_ptr<Store>& files, const std::string& branch = "main") {
  return Transaction(files, branch, std::make_shared<OneVirtualFile>());
}

void put_group(Store& store, const std::string& path) {
  store.put(path + "/zarr.json", std::as_bytes(std::span(kGroup)));
}

std::string commit_group(const std::shared_ptr<Store>& files, const std::string& path) {
  Transaction transaction = start(files);
  put_group(transaction, path);
  return transaction.commit({.message = "made " + path, .properties = {{"by", "test"}}});
}

std::vector<std::string> names_of(const std::shared_ptr<Store>& files, VersionName::Kind kind) {
  std::vector<std::string> names;
  for (const auto& ref : Repository::open(files)->refs(kind)) names.push_back(ref.name);
  return names;
}

using Names = std::vector<std::string>;

class RefsTest : public testing::TestWithParam<int> {
 protected:
  RefsTest() { icechunk::create_repository(*files, GetParam()); }

  std::string find(const VersionName& version) const {
    return Repository::open(files)->find_snapshot(version);
  }

  const std::shared_ptr<MemoryStore> files = std::make_shared<MemoryStore>();
};

INSTANTIATE_TEST_SUITE_P(Formats, RefsTest, testing::Values(1, 2));

TEST_P(RefsTest, RepositoriesAreMadeInEmptyPlacesOnly) {
  EXPECT_ERROR(icechunk::create_repository(*files, GetParam()), "no files are");
  MemoryStore other;
  EXPECT_ERROR(icechunk::create_repository(other, 3), "format 3");
  EXPECT_TRUE(other.list_all("").empty());
}

// The reference lists such names of format 1 percent-encoded, and does not find them.
TEST_P(RefsTest, NamesThatIcechunkEncodesAreForFormat2) {
  const std::string first = commit_group(files, "a");
  for (const std::string name : {"\u00e9", "50%", "a?b", "x^2", "~"}) {
    if (GetParam() == 1) {
      EXPECT_ERROR(icechunk::create_ref(*files, icechunk::VersionName::Kind::branch, name, first),
                   "format 1");
      EXPECT_ERROR(icechunk::create_ref(*files, icechunk::VersionName::Kind::tag, name, first),
                   "format 1");
    } else {
      icechunk::create_ref(*files, icechunk::VersionName::Kind::branch, name, first);
    }
  }
  icechunk::create_ref(*files, icechunk::VersionName::Kind::branch, "it works! (1-a.b_c')", first);
}

TEST_P(RefsTest, BranchesAreCreatedResetAndDeleted) {
  const std::string first = commit_group(files, "a");
  const std::string second = commit_group(files, "b");
  icechunk::create_ref(*files, icechunk::VersionName::Kind::branch, "dev", first);
  EXPECT_ERROR(icechunk::create_ref(*files, icechunk::VersionName::Kind::branch, "dev", second),
               "dev already exists");
  EXPECT_EQ(find({VersionName::Kind::branch, "dev"}), first);
  icechunk::reset_branch(*files, "dev", second);
  EXPECT_EQ(find({VersionName::Kind::branch, "dev"}), second);
  EXPECT_EQ(names_of(files, VersionName::Kind::branch), (Names{"dev", "main"}));
  icechunk::delete_ref(*files, icechunk::VersionName::Kind::branch, "dev");
  EXPECT_EQ(names_of(files, VersionName::Kind::branch), Names{"main"});
  EXPECT_ERROR(icechunk::delete_ref(*files, icechunk::VersionName::Kind::branch, "dev"),
               "dev does not exist");
  EXPECT_ERROR(icechunk::delete_ref(*files, icechunk::VersionName::Kind::branch, "main"),
               "main cannot be deleted");
  EXPECT_ERROR(icechunk::reset_branch(*files, "x", first), "x does not exist");
  EXPECT_ERROR(icechunk::create_ref(*files, icechunk::VersionName::Kind::branch, "x",
                                    "1CECHNKREP0F1RSTCMTG"),
               "does not exist");
  EXPECT_ERROR(icechunk::create_ref(*files, icechunk::VersionName::Kind::branch, "a/b", first),
               "cannot be the name");
}

TEST_P(RefsTest, TagsAreDeletedForEver) {
  const std::string first = commit_group(files, "a");
  icechunk::create_ref(*files, icechunk::VersionName::Kind::tag, "v1", first);
  EXPECT_EQ(find({VersionName::Kind::tag, "v1"}), first);
  EXPECT_ERROR(icechunk::create_ref(*files, icechunk::VersionName::Kind::tag, "v1", first),
               "v1 already exists");
  icechunk::delete_ref(*files, icechunk::VersionName::Kind::tag, "v1");
  EXPECT_TRUE(names_of(files, VersionName::Kind::tag).empty());
  EXPECT_ERROR(find({VersionName::Kind::tag, "v1"}), "v1 was deleted");
  EXPECT_ERROR(icechunk::create_ref(*files, icechunk::VersionName::Kind::tag, "v1", first),
               "v1 was deleted");
  EXPECT_ERROR(icechunk::delete_ref(*files, icechunk::VersionName::Kind::tag, "v2"),
               "v2 does not exist");
  EXPECT_ERROR(start(files, "v1"), "branch v1 does not exist");
}

TEST_P(RefsTest, AncestryIsWhatWasCommitted) {
  commit_group(files, "a");
  const std::string second = commit_group(files, "b");
  const auto snapshots = icechunk::ancestry(*files, second);
  ASSERT_EQ(snapshots.size(), 3);
  EXPECT_EQ(snapshots[0].id, second);
  EXPECT_EQ(snapshots[0].parent, snapshots[1].id);
  EXPECT_EQ(snapshots[1].message, "made a");
  EXPECT_EQ(snapshots[1].properties.at(0), std::pair(std::string("by"), std::string("test")));
  EXPECT_EQ(snapshots[2].message, "Repository initialized");
  EXPECT_EQ(snapshots[2].parent, "");
  EXPECT_GT(snapshots[0].time, snapshots[1].time);
  EXPECT_GT(snapshots[1].time, snapshots[2].time);
}

TEST_P(RefsTest, WritersWithoutConditionsAreRefusedBeforeTheyWrite) {
  class Unconditional final : public ForwardingStore {
   public:
    using ForwardingStore::ForwardingStore;
    StoreTraits traits() const override { return {}; }
  };
  const auto store = std::make_shared<Unconditional>(files);
  EXPECT_ERROR(start(store), "on the condition");
  EXPECT_ERROR(icechunk::create_ref(*store, icechunk::VersionName::Kind::branch, "x",
                                    "1CECHNKREP0F1RSTCMT0"),
               "on the condition");
  const auto empty = std::make_shared<Unconditional>(std::make_shared<MemoryStore>());
  EXPECT_ERROR(icechunk::create_repository(*empty), "on the condition");
  EXPECT_TRUE(empty->list_all("").empty());
}

TEST(IcechunkInfo, LogsAreCutIntoFiles) {
  const auto files = std::make_shared<MemoryStore>();
  icechunk::create_repository(*files);
  for (int i = 0; i < 1010; ++i) icechunk::reset_branch(*files, "main", "1CECHNKREP0F1RSTCMT0");
  const RepositoryInfo info(files->get("repo", kNoSizeLimit)->span());
  EXPECT_EQ(info.updates.size(), 1000);
  EXPECT_FALSE(info.updates.front().backup);
  ASSERT_TRUE(info.older_updates);
  const RepositoryInfo older(
      files->get("overwritten/" + *info.older_updates, kNoSizeLimit)->span());
  EXPECT_LT(older.updates.front().time, info.updates.back().time);
}

TEST(IcechunkInfo, IsWrittenAsItWasRead) {
  icechunk::SnapshotRecord record;
  record.message = "first";
  record.time = 5;
  record.pruned_logs.push_back(icechunk::new_id<icechunk::ObjectId>());
  record.properties.push_back(icechunk::text_property("name", std::string(300, 'x'), 2));
  RepositoryInfo info(icechunk::new_id<icechunk::ObjectId>(), record);
  info.extra = "more";
  info.config = "config";
  info.disabled_features = {3, 4};
  info.deleted_tags = {"a", "b"};
  info.older_updates = "repo.1";
  info.status.reason = "because";
  info.properties.push_back(icechunk::text_property("p", "", 2));
  const Buffer once = info.file();
  const RepositoryInfo again(once.span());
  EXPECT_EQ(again.file().text(), once.text());
  EXPECT_EQ(again.config, "config");
  EXPECT_EQ(again.snapshots.begin()->second.pruned_logs, record.pruned_logs);
  EXPECT_ERROR(again.check_enabled(icechunk::kMoveNode, "moves"), "does not allow moves");
}

TEST(IcechunkInfo, RepositoriesThatAreNotOnlineAreRefused) {
  const auto files = std::make_shared<MemoryStore>();
  icechunk::create_repository(*files);
  RepositoryInfo info(files->get("repo", kNoSizeLimit)->span());
  info.status.availability = 1;
  info.status.reason = "archived";
  files->put("repo", info.file().span());
  const std::size_t count = files->list_all("").size();
  EXPECT_ERROR(start(files), "read-only: archived");
  EXPECT_ERROR(
      icechunk::create_ref(*files, icechunk::VersionName::Kind::tag, "x", "1CECHNKREP0F1RSTCMT0"),
      "read-only");
  EXPECT_EQ(files->list_all("").size(), count);
}

// Fails at the n-th change, or makes it and loses the answer.
class FaultyStore final : public ForwardingStore {
 public:
  FaultyStore(std::shared_ptr<Store> inner, int fault, bool is_lost)
      : ForwardingStore(std::move(inner)), left_(fault), is_lost_(is_lost) {}

  bool put_parts(std::string_view key, std::span<const ValuePart> parts,
                 const PutOptions& options) override {
    const bool fails = left_-- == 0;
    if (fails && !is_lost_) throw Error("the connection is lost");
    const bool is_put = inner().put_parts(key, parts, options);
    if (fails) throw Error("the connection is lost");
    return is_put;
  }
  bool was_reached() const { return left_ < 0; }

 private:
  int left_;
  bool is_lost_;
};

TEST_P(RefsTest, FailuresAtAnyPutLeaveTheOldBranchOrTheNew) {
  for (const bool is_lost : {false, true}) {
    bool was_reached = true;
    for (int fault = 0; was_reached; ++fault) {
      SCOPED_TRACE(fault);
      const auto faulty = std::make_shared<FaultyStore>(files, fault, is_lost);
      const std::string name = (is_lost ? "lost" : "failed") + std::to_string(fault);
      const std::string old = find({});
      Transaction transaction = start(faulty);
      put_group(transaction, name);
      bool is_committed = true;
      try {
        transaction.commit({});
      } catch (const Error&) {
        is_committed = false;
      }
      was_reached = faulty->was_reached();
      const std::string now = find({});
      EXPECT_EQ(now != old, is_committed);
      EXPECT_EQ(start(files).has(name + "/zarr.json"), is_committed);
      if (!is_committed) {
        transaction.commit({});  // with the same changes
        EXPECT_TRUE(start(files).has(name + "/zarr.json"));
      }
    }
  }
}

TEST_P(RefsTest, NoneOfManyCommitsAtOnceIsLost) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "repo";
  icechunk::create_repository(*std::make_shared<FileSystemStore>(path), GetParam());
  constexpr int kThreads = 4;
  constexpr int kCommits = 8;
  std::vector<std::thread> threads;
  std::vector<std::string> errors(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      try {
        Transaction transaction = start(std::make_shared<FileSystemStore>(path));
        for (int k = 0; k < kCommits; ++k) {
          put_group(transaction, "g" + std::to_string(i) + "_" + std::to_string(k));
          transaction.commit({});
        }
      } catch (const std::exception& error) {
        errors[i] = error.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(errors, std::vector<std::string>(kThreads));
  const auto store = std::make_shared<FileSystemStore>(path);
  EXPECT_EQ(start(store).list_all("").size(), kThreads * kCommits);
  EXPECT_EQ(icechunk::ancestry(*store, Repository::open(store)->find_snapshot({})).size(),
            kThreads * kCommits + 1);
}

}  // namespace
}  // namespace zarrcore::test::icechunk_refs
