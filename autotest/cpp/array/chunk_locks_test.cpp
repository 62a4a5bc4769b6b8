// Processes that write the same chunks of an array at the same time.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <thread>

#include "autotest/cpp/support/array_codecs.h"
#include "autotest/cpp/support/bytes.h"
#include "autotest/cpp/support/expect_error.h"
#include "autotest/cpp/support/observed_store.h"
#include "autotest/cpp/support/process.h"
#include "autotest/cpp/support/stored_array.h"
#include "autotest/cpp/support/temporary_folder.h"
#include "zarrcore/array/array_writer.h"
#include "zarrcore/store/file_system_store.h"
#include "zarrcore/store/memory_store.h"

namespace zarrcore::test::chunk_locks_test {
namespace {

constexpr std::uint64_t kProcesses = 4;
constexpr std::int32_t kRounds = 15;
const Shape kShape{8, kProcesses};

// Each row is a chunk; a shard has two inner chunks, and each of them elements of two processes.
const std::string kChunks = codec_list({bytes_codec(), codec("gzip")});
const std::string kShards = codec_list(
    {sharding_codec({1, 2}, codec_list({bytes_codec(), codec("gzip")}), index_codecs())});

class ChunkLocks : public testing::TestWithParam<const std::string*> {
 protected:
  void create(const std::string& codecs) {
    FileSystemStore store(root());
    put_document(store, "", array_document(kShape, {1, kProcesses}, "\"int32\"", codecs));
  }

  std::filesystem::path root() const { return folder_.path() / "a.zarr"; }

  // Adds one to a column of the array, row by row, again and again.
  void increment(std::uint64_t column, const std::shared_ptr<const FileLocks>& locks) const {
    const auto array = open_array(std::make_shared<FileSystemStore>(root()));
    ArrayWriter writer(array, {.locks = locks});
    for (std::int32_t round = 0; round < kRounds; ++round) {
      const Selection own{{0, column}, {kShape[0], 1}, {}};
      std::vector<std::int32_t> values(kShape[0]);
      auto* data = reinterpret_cast<std::byte*>(values.data());
      writer.read(own, {data, {4, 4}, nullptr});
      for (std::int32_t& value : values) ++value;
      writer.write(own, {data, {4, 4}, nullptr});
      writer.flush();
    }
  }

  // Whether all processes find all that they have written.
  bool nothing_is_lost(const std::shared_ptr<const FileLocks>& locks) const {
    {
      std::vector<std::unique_ptr<ChildProcess>> processes;
      for (std::uint64_t column = 0; column < kProcesses; ++column) {
        processes.push_back(
            std::make_unique<ChildProcess>([&, column] { increment(column, locks); }));
      }
      for (const auto& process : processes) {
        if (process->wait() != 0) return false;
      }
    }
    const auto array = open_array(std::make_shared<FileSystemStore>(root()));
    return read(*array, everything(kShape)) ==
           elements(std::vector<std::int32_t>(kShape[0] * kShape[1], kRounds));
  }

  TemporaryFolder folder_;
};

INSTANTIATE_TEST_SUITE_P(Layouts, ChunkLocks, testing::Values(&kChunks, &kShards),
                         [](const auto& test) { return test.index == 0 ? "Chunks" : "Shards"; });

TEST_P(ChunkLocks, ProcessesThatShareChunksLoseNothing) {
  create(*GetParam());
  EXPECT_TRUE(nothing_is_lost(std::make_shared<FileLocks>(folder_.path() / "sync")));
}

// The store can tell that a chunk has changed.
TEST_P(ChunkLocks, WithoutLocksTheyDoNotEither) {
  for (int i = 0; i < 10; ++i) {
    create(*GetParam());
    EXPECT_TRUE(nothing_is_lost(nullptr));
    std::filesystem::remove_all(root());
  }
}

TEST_P(ChunkLocks, ThreadsWithWritersOfTheirOwnLoseNothing) {
  create(*GetParam());
  const auto locks = std::make_shared<FileLocks>(folder_.path() / "sync");
  std::vector<std::thread> threads;
  for (std::uint64_t column = 0; column < kProcesses; ++column) {
    threads.emplace_back([&, column] { increment(column, locks); });
  }
  for (std::thread& thread : threads) thread.join();
  const auto array = open_array(std::make_shared<FileSystemStore>(root()));
  EXPECT_EQ(read(*array, everything(kShape)),
            elements(std::vector<std::int32_t>(kShape[0] * kShape[1], kRounds)));
}

TEST_P(ChunkLocks, EachChunkIsPutOnceInACall) {
  const auto store = std::make_shared<ObservedStore>(std::make_shared<MemoryStore>());
  put_document(*store, "", array_document(kShape, {1, kProcesses}, "\"int32\"", *GetParam()));
  const auto array = open_array(store);
  ArrayWriter writer(array, {.locks = std::make_shared<FileLocks>(folder_.path() / "sync")});
  const std::vector<std::int32_t> values(24, 5);
  writer.write({{0, 0}, {8, 3}, {}},
               {reinterpret_cast<const std::byte*>(values.data()), {12, 4}, nullptr}, {3, nullptr});
  EXPECT_EQ(writer.pending_bytes(), 0);
  EXPECT_EQ(store->put_counts().size(), 8 + 1);
  for (const auto& [key, count] : store->put_counts()) EXPECT_EQ(count, 1) << key;
}

TEST_P(ChunkLocks, WhatCannotBePutIsReportedAndNotKept) {
  bool is_broken = true;
  const auto store = std::make_shared<FailingStore>(
      std::make_shared<MemoryStore>(),
      [&](std::string_view key) { return is_broken && key == "c/3/0"; });
  put_document(*store, "", array_document(kShape, {1, kProcesses}, "\"int32\"", *GetParam()));
  const auto array = open_array(store);
  ArrayWriter writer(array, {.locks = std::make_shared<FileLocks>(folder_.path() / "sync")});
  const std::int32_t five = 5;
  const Source source{reinterpret_cast<const std::byte*>(&five), {0, 0}, nullptr};
  EXPECT_ERROR(writer.write({{0, 0}, {8, 3}, {}}, source), "c/3/0", "on fire");
  EXPECT_EQ(writer.pending_bytes(), 0);
  is_broken = false;
  writer.write({{0, 0}, {8, 3}, {}}, source);
  EXPECT_EQ(read(*array, {{3, 0}, {1, 4}, {}}), elements<std::int32_t>({5, 5, 5, 0}));
}

// The other half of the test runs in zarr-python, whose lock files ours are.
TEST_F(ChunkLocks, ZarrPythonTakesPart) {
  if (std::system("/usr/bin/python3 -c 'import zarr, sys; sys.exit(zarr.__version__ > \"3\")'"
                  " >/dev/null 2>&1") != 0) {
    GTEST_SKIP() << "there is no zarr-python 2";
  }
  std::filesystem::create_directories(root());
  std::ofstream(root() / ".zarray")
      << R"({"zarr_format": 2, "shape": [8, 4], "chunks": [1, 4], "dtype": "<i4", "order": "C",)"
      << R"( "compressor": null, "filters": null, "fill_value": 0})";
  // The same for us: chunks are under the keys of v2.
  Json same = array_document(kShape, {1, kProcesses}, "\"int32\"", codec_list({bytes_codec()}));
  same["chunk_key_encoding"] = {{"name", "v2"}, {"configuration", {{"separator", "."}}}};
  {
    FileSystemStore store(root());
    put_document(store, "", same);
  }
  const auto sync = folder_.path() / "sync";
  std::ofstream(folder_.path() / "increment.py")
      << "import sys, zarr\n"
         "root, sync, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])\n"
         "a = zarr.open_array(root, mode='r+', synchronizer=zarr.ProcessSynchronizer(sync))\n"
         "for i in range(rounds):\n"
         "    a[:, 3] = a[:, 3] + 1\n";
  ChildProcess python([&] {
    ::execl("/usr/bin/python3", "python3", (folder_.path() / "increment.py").c_str(),
            root().c_str(), sync.c_str(), "40", nullptr);
  });
  const auto locks = std::make_shared<FileLocks>(sync);
  std::int32_t rounds = 0;
  // As long as the other one takes to begin, and to end.
  const auto array = open_array(std::make_shared<FileSystemStore>(root()));
  const auto last = [&] {
    const auto fresh = open_array(std::make_shared<FileSystemStore>(root()));
    return values_of<std::int32_t>(read(*fresh, {{7, 3}, {1, 1}, {}}))[0];
  };
  while (last() < 40 && rounds < 10000) {
    increment(0, locks);
    rounds += kRounds;
  }
  EXPECT_EQ(python.wait(), 0);
  std::vector<std::int32_t> expected;
  for (std::uint64_t row = 0; row < kShape[0]; ++row) {
    expected.insert(expected.end(), {rounds, 0, 0, 40});
  }
  EXPECT_EQ(read(*open_array(std::make_shared<FileSystemStore>(root())), everything(kShape)),
            elements(expected));
}

}  // namespace
}  // namespace zarrcore::test::chunk_locks_test
