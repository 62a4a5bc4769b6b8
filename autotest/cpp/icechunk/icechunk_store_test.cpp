#include "zarrcore/icechunk/icechunk_store.h"

#include <gtest/gtest.h>

#include <thread>

#include "autotest/cpp/support/expect_error.h"
#include "autotest/cpp/support/observed_store.h"
#include "autotest/cpp/support/one_virtual_file.h"
#include "zarrcore/icechunk/configuration.h"
#include "zarrcore/icechunk/object_file.h"
#include "zarrcore/icechunk/repository.h"
#include "zarrcore/store/memory_store.h"

namespace zarrcore::test::icechunk_store_test {
namespace {

using icechunk::IcechunkStore;
using icechunk::Repository;
using icechunk::VersionName;
using Kind = VersionName::Kind;

class IcechunkStoreTest : public testing::TestWithParam<int> {
 protected:
  IcechunkStore open(const VersionName& version = {}) {
    files_ = std::make_shared<MemoryStore>();
    repository_.put(*files_, GetParam());
    if (change_) change_(*files_);
    observed_ = std::make_shared<ObservedStore>(files_);
    return {Repository::open(observed_), version, std::make_shared<OneVirtualFile>()};
  }

  // The value of a key, "missing" if there is none.
  static std::string value(Store& store, std::string_view key) {
    const auto value = store.get(key, kNoSizeLimit);
    return value ? std::string(value->text()) : "missing";
  }

  std::string chunk(std::string_view number) {
    IcechunkStore store = open();
    return value(store, "g/a/c/" + std::string(number));
  }

  IcechunkRepository repository_;
  std::function<void(Store&)> change_;
  std::shared_ptr<MemoryStore> files_;
  std::shared_ptr<ObservedStore> observed_;
};

INSTANTIATE_TEST_SUITE_P(Format, IcechunkStoreTest, testing::Values(1, 2));

TEST_P(IcechunkStoreTest, HasDocumentsAndChunksOfEachKind) {
  IcechunkStore store = open();
  EXPECT_NE(value(store, "zarr.json").find("sea"), std::string::npos);
  EXPECT_NE(value(store, "g/a/zarr.json").find("uint8"), std::string::npos);
  EXPECT_EQ(value(store, "g/a/c/0"), "XY");
  EXPECT_EQ(value(store, "g/a/c/1"), "AB");
  EXPECT_EQ(value(store, "g/a/c/2"), "01");
  EXPECT_EQ(value(store, "g/a/c/3"), "23");
  EXPECT_EQ(value(store, "g/a/c/4"), "45");
  for (const char* key : {"g/a/c/5", "g/a/c/6", "g/a/c/0/0", "g/a/0", "g/c/0", "h/zarr.json", "c",
                          "g/a/zarr.json/zarr.json", "g-b/c/0"}) {
    EXPECT_FALSE(store.has(key)) << key;
    EXPECT_EQ(value(store, key), "missing") << key;
  }
}

TEST_P(IcechunkStoreTest, RangesStayInsideOfTheChunk) {
  IcechunkStore store = open();
  for (const auto& [key, want] : {std::pair{"g/a/c/0", "Y"}, {"g/a/c/1", "B"}, {"g/a/c/2", "1"}}) {
    const ByteRange ranges[] = {ByteRange::at(1, 1), ByteRange::suffix(1)};
    const auto parts = store.get_ranges(key, ranges);
    EXPECT_EQ(parts->at(0).text(), want);
    EXPECT_EQ(parts->at(1).text(), want);
    const ByteRange outside = ByteRange::at(1, 2);
    EXPECT_ERROR(store.get_ranges(key, {&outside, 1}), "memory, branch main", key);
    EXPECT_ERROR(store.get(key, 1), key);
  }
}

TEST_P(IcechunkStoreTest, ListsNodesAndChunks) {
  IcechunkStore store = open();
  using Names = std::vector<std::string>;
  EXPECT_EQ(store.list("").prefixes, (Names{"g", "g-b"}));
  EXPECT_EQ(store.list("").keys, Names{"zarr.json"});
  EXPECT_EQ(store.list("g").prefixes, Names{"a"});
  EXPECT_EQ(store.list("g/a").prefixes, Names{"c"});
  EXPECT_EQ(store.list("g/a/c").keys, (Names{"0", "1", "2", "3", "4"}));
  EXPECT_TRUE(store.list("nothing").is_empty());
  EXPECT_TRUE(store.has_below("g/a/c"));
  EXPECT_FALSE(store.has_below("g/a/d"));
}

TEST_P(IcechunkStoreTest, BranchesTagsAndSnapshots) {
  const std::string id = IcechunkRepository::kSnapshot;
  for (const VersionName& version :
       {VersionName(), {Kind::branch, "other"}, {Kind::tag, "v1"}, {Kind::snapshot, id}}) {
    EXPECT_EQ(open(version).snapshot_id(), id);
  }
  IcechunkStore store = open();
  EXPECT_EQ(store.repository().refs(Kind::branch).size(), 2);
  ASSERT_EQ(store.repository().refs(Kind::tag).size(), 1);
  EXPECT_EQ(store.repository().refs(Kind::tag).front().name, "v1");
  EXPECT_ERROR(open({Kind::branch, "b"}), "memory: ", "branch b does not exist");
  EXPECT_ERROR(open({Kind::branch, "../main"}), "branch ../main does not exist");
  EXPECT_ERROR(open({Kind::tag, "t"}), "tag t does not exist");
  EXPECT_ERROR(open({Kind::tag, "old"}), "tag old was deleted");
  EXPECT_ERROR(open({Kind::snapshot, "2CECHNKREP0F1RSTCMT0"}), "2CECHNKREP0F1RSTCMT0");
  EXPECT_ERROR(open({Kind::snapshot, "../../etc/passwd"}), "../../etc/passwd");
}

TEST_P(IcechunkStoreTest, OneRequestEachForRefsSnapshotManifestAndChunk) {
  IcechunkStore store = open();
  const std::size_t probes = GetParam() == 2 ? 0 : 1;  // format 1 is what has no `repo`
  EXPECT_EQ(observed_->take_requests().size(), 2 + probes);
  value(store, "g/a/c/1");
  EXPECT_EQ(observed_->take_requests().size(), 2);
  value(store, "g/a/c/1");
  value(store, "g/a/c/5");
  value(store, "g/zarr.json");
  EXPECT_EQ(observed_->take_requests().size(), 1);
}

// A store on the network, whose requests take long.
class SlowStore final : public StoreWrapper {
 public:
  using StoreWrapper::StoreWrapper;
  StoreTraits traits() const override { return {.parallel_requests = 8}; }
};

TEST_P(IcechunkStoreTest, SlowRequestsForRefsAreMadeTogether) {
  open();
  const auto slow = std::make_shared<SlowStore>(observed_);
  std::vector<std::size_t> counts;
  const RunTogether run = [&](std::size_t count, std::size_t,
                              const std::function<void(std::size_t)>& body) {
    counts.push_back(count);
    for (std::size_t i = 0; i < count; ++i) body(i);
  };
  const std::string id = IcechunkRepository::kSnapshot;
  for (const auto& [version, count] : {std::pair{VersionName(), 2},
                                       {VersionName{Kind::branch, "other"}, 2},
                                       {VersionName{Kind::tag, "v1"}, 3},
                                       {VersionName{Kind::snapshot, id}, 2}}) {
    observed_->take_requests();
    counts.clear();
    EXPECT_EQ(Repository::open(slow, version, run)->find_snapshot(version), id);
    EXPECT_EQ(counts, std::vector<std::size_t>{static_cast<std::size_t>(count)});
    EXPECT_EQ(observed_->take_requests().size(), count);
  }
  const auto repository = Repository::open(slow, {}, run);
  observed_->take_requests();
  counts.clear();
  EXPECT_EQ(repository->refs(Kind::tag).size(), 1);
  EXPECT_EQ(repository->refs(Kind::branch).size(), 2);
  // Two tags, one of which was deleted, and two branches.
  EXPECT_EQ(counts,
            GetParam() == 2 ? std::vector<std::size_t>() : std::vector<std::size_t>({4, 2}));
  EXPECT_ERROR(
      Repository::open(slow, {Kind::branch, "none"}, run)->find_snapshot({Kind::branch, "none"}),
      "branch none does not exist");
  EXPECT_ERROR(Repository::open(slow, {Kind::tag, "old"}, run)->find_snapshot({Kind::tag, "old"}),
               "tag old was deleted");
}

TEST_P(IcechunkStoreTest, ThreadsReadAManifestOnce) {
  IcechunkStore store = open();
  observed_->take_requests();
  std::vector<std::jthread> threads;
  for (int i = 0; i < 8; ++i) threads.emplace_back([&] { value(store, "g/a/c/0"); });
  threads.clear();
  EXPECT_EQ(observed_->take_requests().size(), 1);
}

TEST_P(IcechunkStoreTest, TheConfigurationIsReadOnce) {
  IcechunkStore store = open();
  value(store, "g/a/c/0");
  observed_->take_requests();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(value(store, "g/a/c/4"), "45");
  EXPECT_EQ(observed_->take_requests().size(), GetParam() == 2 ? 0 : 1);
}

TEST_P(IcechunkStoreTest, IsReadOnly) {
  IcechunkStore store = open();
  EXPECT_FALSE(store.traits().read_only_reason.empty());
  EXPECT_ERROR(store.put("g/a/c/0", {}), "memory", "g/a/c/0", "commits");
  EXPECT_ERROR(store.erase("g/a/c/0"), "memory", "g/a/c/0", "commits");
}

TEST_P(IcechunkStoreTest, ChunksThatCannotBeReadAreErrors) {
  repository_.chunk(1).number(3, std::uint64_t{6});
  EXPECT_ERROR(chunk("1"), "memory, branch main: g/a/c/1: chunks/000G40R40M30E209185G");
  repository_.chunk(1).number(3, std::uint64_t{0});
  EXPECT_ERROR(chunk("1"), "g/a/c/1: manifests/2GAHC5RR34D1P70X3RFG", "no length");
  repository_.chunk(1).number(2, UINT64_MAX).number(3, std::uint64_t{2});
  EXPECT_ERROR(chunk("1"), "too large");
  repository_.chunk(2).text(5, "file:///data/none.bin");
  EXPECT_ERROR(chunk("2"), "g/a/c/2: file:///data/none.bin does not exist");
  repository_.chunk(2).number(2, std::uint64_t{9}).text(5, IcechunkRepository::kUrl);
  EXPECT_ERROR(chunk("2"), "g/a/c/2");
  repository_.chunk(3).vector(8, "no frame");
  EXPECT_ERROR(chunk("3"), "g/a/c/3", "zstd");
  repository_.chunk(4).text(5, "vcc://nowhere/file.bin");
  EXPECT_ERROR(chunk("4"), "g/a/c/4", "no virtual chunk container called \"nowhere\"");
  repository_.chunk(4).fields.erase(5);
  EXPECT_ERROR(chunk("4"), "names no place");
  change_ = [](Store& files) { files.erase(IcechunkRepository::kObjectKey); };
  repository_ = {};
  EXPECT_ERROR(chunk("1"), "g/a/c/1: chunks/000G40R40M30E209185G: this file of the repository");
}

TEST_P(IcechunkStoreTest, ManifestsMustBeRight) {
  std::swap(repository_.chunk(0), repository_.chunk(1));
  EXPECT_ERROR(chunk("0"), "g/a/c/0: manifests/2GAHC5RR34D1P70X3RFG: ", "not in the order");
  repository_ = {};
  repository_.chunk(3).vector(0, little(3U) + little(0U), 4);
  EXPECT_ERROR(chunk("0"), "has 2 numbers", "1 dimensions");
  repository_ = {};
  repository_.manifest.in_table(0, "another id..");
  EXPECT_ERROR(chunk("0"), "manifests/2GAHC5RR34D1P70X3RFG: it holds manifest");
  repository_ = {};
  change_ = [](Store& files) { files.erase(IcechunkRepository::kManifestKey); };
  EXPECT_ERROR(chunk("0"), "g/a/c/0: manifests/2GAHC5RR34D1P70X3RFG: this file", "not exist");
  EXPECT_ERROR(open().list("g/a"), "manifests/2GAHC5RR34D1P70X3RFG");
}

TEST_P(IcechunkStoreTest, ManifestsMustBeTheOnesOfTheSnapshot) {
  repository_.added_size = 1;
  EXPECT_ERROR(chunk("0"), "manifests/2GAHC5RR34D1P70X3RFG: it has", "the snapshot says");
  repository_ = {};
  repository_.added_count = 1;
  EXPECT_ERROR(chunk("0"), "refers to 5 chunks; the snapshot says 6");
  repository_ = {};
  repository_.listed_id = "another id..";
  EXPECT_ERROR(open(), "it does not list manifest 2GAHC5RR34D1P70X3RFG");
  repository_ = {};
  repository_.snapshot.tables_of(2).pop_back();  // the array
  EXPECT_ERROR(open(), "no array has manifest 2GAHC5RR34D1P70X3RFG");
  repository_ = {};
  repository_.manifest.tables_of(1).front().in_table(0, "no array");
  EXPECT_ERROR(chunk("0"), "g/a/c/0: manifests/2GAHC5RR34D1P70X3RFG: it has no references");
  EXPECT_ERROR(open().list("g/a"), "it has no references");
}

TEST_P(IcechunkStoreTest, ExtentsMustHoldChunks) {
  for (FlatObject& node : repository_.snapshot.tables_of(2)) {
    auto& data = node.fields.at(4).tables.front();
    if (data.fields.contains(2)) {
      data.tables_of(2).front().vector(1, little(3U) + little(3U), 8);
    }
  }
  EXPECT_ERROR(chunk("3"), "no chunks in dimension 0");
}

TEST_P(IcechunkStoreTest, DocumentsMustBeOfTheirNodes) {
  for (FlatObject& node : repository_.snapshot.tables_of(2)) node.number(3, std::uint8_t{2});
  repository_.listed_id.clear();
  IcechunkStore store = open();
  EXPECT_NE(value(store, "g/zarr.json"), "missing");
  EXPECT_ERROR(value(store, "g/a/zarr.json"), "g/a/zarr.json", "of type array");
}

// Of what a small file decompresses to.
TEST_P(IcechunkStoreTest, ManifestsOfManyArraysAreBounded) {
  FlatObject& array = repository_.snapshot.tables_of(2).back();
  array.fields.at(4).tables.front().vector(2, std::string(4'000'000, '\1'), 4);
  EXPECT_ERROR(open(), "more manifests than");
}

TEST_P(IcechunkStoreTest, EntriesOutsideOfTheExtentsAreOfOtherSnapshots) {
  for (FlatObject& node : repository_.snapshot.tables_of(2)) {
    auto& data = node.fields.at(4).tables.front();
    if (data.fields.contains(2)) {
      data.tables_of(2).front().vector(1, little(1U) + little(3U), 8);
    }
  }
  IcechunkStore store = open();
  EXPECT_EQ(value(store, "g/a/c/0"), "missing");
  EXPECT_EQ(value(store, "g/a/c/1"), "AB");
  EXPECT_EQ(value(store, "g/a/c/3"), "missing");
  EXPECT_EQ(store.list("g/a/c").keys, (std::vector<std::string>{"1", "2"}));
}

TEST_P(IcechunkStoreTest, SnapshotsMustBeRight) {
  change_ = [](Store& files) { files.erase(IcechunkRepository::kSnapshotKey); };
  EXPECT_ERROR(open(), "memory: snapshots/1CECHNKREP0F1RSTCMT0: ", "does not exist");
  change_ = nullptr;
  repository_.snapshot.in_table(0, "another id..");
  EXPECT_ERROR(open(), "snapshots/1CECHNKREP0F1RSTCMT0: it holds snapshot");
  repository_ = {};
  std::swap(repository_.snapshot.tables_of(2)[0], repository_.snapshot.tables_of(2)[1]);
  EXPECT_ERROR(open(), "not in the order");
  repository_ = {};
  repository_.snapshot.fields.erase(2);
  EXPECT_ERROR(open(), "it has no nodes");
  repository_ = {};
  repository_.snapshot.tables_of(2)[3].number(3, std::uint8_t{3});
  EXPECT_ERROR(chunk("0"), "g/a/c/0", "/g/a", "type 3");
}

// Of the envelope.
TEST_P(IcechunkStoreTest, EnvelopesMustBeRight) {
  const auto with_byte = [this](std::size_t place, char byte) {
    change_ = [=](Store& files) {
      std::string file(files.get(IcechunkRepository::kSnapshotKey)->text());
      file[place] = byte;
      files.put(IcechunkRepository::kSnapshotKey, std::as_bytes(std::span(file)));
    };
  };
  with_byte(0, 'X');
  EXPECT_ERROR(open(), "snapshots/1CECHNKREP0F1RSTCMT0: this is no file of Icechunk");
  with_byte(36, 3);
  EXPECT_ERROR(open(), "version 3");
  with_byte(37, 2);
  EXPECT_ERROR(open(), "should be a snapshot", "a manifest");
  with_byte(38, 2);
  EXPECT_ERROR(open(), "unknown compression 2");
  with_byte(39, 0);
  EXPECT_ERROR(open(), "zstd");
}

TEST(Icechunk, InfoMustBeRight) {
  const auto open = [](const IcechunkRepository& repository) {
    const auto files = std::make_shared<MemoryStore>();
    repository.put(*files);
    return Repository::open(files)->find_snapshot({});
  };
  IcechunkRepository newer;
  newer.info.number(0, std::uint8_t{3});
  EXPECT_ERROR(open(newer), "memory: repo: it has version 3");
  IcechunkRepository offline;
  offline.info.fields.at(5).tables.front().number(0, std::uint8_t{2}).text(2, "moving house");
  EXPECT_ERROR(open(offline), "memory: repo: the repository is offline: moving house");
  IcechunkRepository wrong;
  wrong.info.tables_of(2).front().number(1, std::uint32_t{7});
  EXPECT_ERROR(open(wrong), "repo: main has snapshot 7 of 1");
  EXPECT_ERROR(Repository::open(std::make_shared<MemoryStore>()), "no Icechunk repository");
}

TEST(Icechunk, RefsOfFormat1MustNameSnapshots) {
  const auto files = std::make_shared<MemoryStore>();
  const auto put = [&](std::string_view text) {
    files->put("refs/branch.main/ref.json", std::as_bytes(std::span(text)));
  };
  for (const char* text :
       {"{}", R"({"snapshot": "../../etc/passwd"})", R"({"snapshot": 1})", "["}) {
    put(text);
    EXPECT_ERROR(Repository::open(files), "memory: refs/branch.main/ref.json: ");
  }
}

TEST(Icechunk, IdsAreCrockfordsBase32) {
  const std::string id = "\x0b\x1c\xc8\xd6\x78\x75\x80\xf0\xe3\x3a\x65\x34";
  EXPECT_EQ(icechunk::id_text(std::as_bytes(std::span(id))), "1CECHNKREP0F1RSTCMT0");
  EXPECT_TRUE(icechunk::is_object_id("1CECHNKREP0F1RSTCMT0"));
  EXPECT_FALSE(icechunk::is_object_id("1CECHNKREP0F1RSTCMTU"));
  EXPECT_FALSE(icechunk::is_object_id("1CECHNKREP0F1RSTCMT"));
}

TEST(Icechunk, ContainersInYaml) {
  constexpr std::string_view kConfig =
      "# made by hand\ncaching: null\nvirtual_chunk_containers:\n"
      "  first:\n    store: !s3_compatible\n      name: inner\n    name: 'one: 1'\n"
      "    url_prefix: \"s3://bucket/a\"\n"
      "  s3://bucket/b:\n    url_prefix: s3://bucket/b\n    name: two\n"
      "manifest:\n  three:\n    url_prefix: s3://bucket/c\n";
  const Json config = icechunk::parse_yaml(kConfig);
  EXPECT_EQ(icechunk::container_url(config, "one: 1"), "s3://bucket/a");
  EXPECT_EQ(icechunk::container_url(config, "two"), "s3://bucket/b");
  EXPECT_EQ(icechunk::container_url(config, "inner"), std::nullopt);
  EXPECT_EQ(icechunk::container_url(config, "three"), std::nullopt);
  EXPECT_EQ(icechunk::container_url(icechunk::parse_yaml(""), "two"), std::nullopt);
}

}  // namespace
}  // namespace zarrcore::test::icechunk_store_test
