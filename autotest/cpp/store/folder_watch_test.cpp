// Every change of a file in a watched folder, by whatever way and process, is a new stamp.
#include "zarrcore/store/folder_watch.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "autotest/cpp/support/bytes.h"
#include "autotest/cpp/support/observed_store.h"
#include "autotest/cpp/support/process.h"
#include "autotest/cpp/support/stored_array.h"
#include "autotest/cpp/support/temporary_folder.h"
#include "zarrcore/store/file_system_store.h"
#include "zarrcore/store/forwarding_store.h"
#include "zarrcore/store/memory_store.h"

namespace zarrcore::test::folder_watch_test {
namespace {

namespace fs = std::filesystem;

void write_file(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

// As another program does that does not replace the file.
void write_in_place(const fs::path& path, const std::string& text) {
  std::fstream(path, std::ios::in | std::ios::out | std::ios::binary) << text;
}

class FolderWatchTest : public testing::Test {
 protected:
  FolderWatchTest() {
    fs::create_directories(root_ / "c/0");
    write_file(file_, "old");
    write_file(root_ / "c/0/2", "other");
    if (stamp_when_watched() == 0) is_watchable_ = false;
  }

  void SetUp() override {
    if (!is_watchable_) GTEST_SKIP() << "this file system is not watched";
  }

  std::uint64_t stamp() { return watch_->stamp("c/0/1", watch_->moment()); }
  std::uint64_t stamp_when_watched() {
    std::uint64_t seen = 0;
    for (int i = 0; i < 100'000 && seen == 0; ++i) seen = stamp();
    return seen;
  }

  TemporaryFolder folder_;
  fs::path root_ = folder_.path() / "a/store.zarr";
  fs::path file_ = root_ / "c/0/1";
  std::unique_ptr<ValueWatch> watch_ = watch_files(root_.string());
  bool is_watchable_ = true;
};

TEST_F(FolderWatchTest, AStampStaysTheSameForAWhile) {
  // A test can be interrupted for longer than a stamp lasts.
  bool is_same = false;
  for (int i = 0; i < 1000 && !is_same; ++i) is_same = stamp_when_watched() == stamp();
  EXPECT_TRUE(is_same);
}

TEST_F(FolderWatchTest, AFolderThatIsSeldomAskedForIsNotWatched) {
  EXPECT_EQ(watch_->stamp("c/x", watch_->moment()), 0U);
  const std::uint64_t moment = watch_->moment();
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(watch_->stamp("c/x", moment), 0U);
}

TEST_F(FolderWatchTest, AStampHoldsForItsMoment) {
  stamp_when_watched();
  const std::uint64_t before = watch_->moment();
  const std::uint64_t seen = watch_->stamp("c/0/1", before);
  write_in_place(file_, "new");
  EXPECT_EQ(watch_->stamp("c/0/1", before), seen);
  EXPECT_NE(watch_->stamp("c/0/1", watch_->moment()), seen);
}

TEST_F(FolderWatchTest, EachWayToChangeAFileIsSeenAtOnce) {
  const fs::path away = folder_.path() / "away";
  const auto set_time = [](const fs::path& path) {
    const timespec times[] = {{1, 0}, {1, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  };
  const std::vector<std::pair<const char*, std::function<void()>>> changes{
      {"written in place", [&] { write_in_place(file_, "new"); }},
      {"written anew", [&] { write_file(file_, "newer"); }},
      {"shortened", [&] { fs::resize_file(file_, 1); }},
      {"replaced",
       [&] {
         write_file(away, "replaced");
         fs::rename(away, file_);
       }},
      {"moved away", [&] { fs::rename(file_, away); }},
      {"moved back", [&] { fs::rename(away, file_); }},
      {"another file", [&] { write_in_place(root_ / "c/0/2", "x"); }},
      {"time", [&] { set_time(file_); }},
      {"written by another process",
       [&] { EXPECT_EQ(std::system(("printf new > '" + file_.string() + "'").c_str()), 0); }},
      {"removed", [&] { fs::remove(file_); }},
      {"folder moved",
       [&] {
         fs::rename(root_ / "c/0", away);
         fs::create_directory(root_ / "c/0");
       }},
      {"folder around it moved",
       [&] {
         fs::rename(root_, folder_.path() / "a/old.zarr");
         fs::create_directories(root_ / "c/0");
       }},
      {"folder removed", [&] { fs::remove_all(root_ / "c"); }},
  };
  for (const auto& [name, change] : changes) {
    SCOPED_TRACE(name);
    const std::uint64_t before = stamp_when_watched();
    ASSERT_NE(before, 0U);
    change();
    EXPECT_NE(stamp(), before);
  }
}

TEST_F(FolderWatchTest, ALinkThatLeadsElsewhereIsSeenAtOnce) {
  const fs::path link = folder_.path() / "current";
  const fs::path next = folder_.path() / "next";
  fs::create_directories(folder_.path() / "b/c/0");
  fs::create_directory_symlink(root_, link);
  fs::create_directory_symlink(folder_.path() / "b", next);
  const auto watch = watch_files(link.string());
  const auto stamp = [&] { return watch->stamp("c/0/1", watch->moment()); };
  std::uint64_t before = 0;
  for (int i = 0; i < 1000 && before == 0; ++i) before = stamp();
  ASSERT_NE(before, 0U);
  fs::rename(next, link);
  EXPECT_NE(stamp(), before);
}

TEST_F(FolderWatchTest, ChangesThatTheSystemDoesNotReportAreSeenSoon) {
  const std::uint64_t before = stamp_when_watched();
  const int descriptor = ::open(file_.c_str(), O_RDWR | O_CLOEXEC);
  void* memory = ::mmap(nullptr, 3, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  ASSERT_NE(memory, MAP_FAILED);
  *static_cast<char*>(memory) = 'n';
  ::munmap(memory, 3);
  ::close(descriptor);
  std::this_thread::sleep_for(std::chrono::milliseconds(kWatchMilliseconds));
  EXPECT_NE(stamp(), before);
}

TEST_F(FolderWatchTest, LinksAreNotTrusted) {
  EXPECT_TRUE(watch_->is_stamped("c/0/1"));
  fs::create_symlink(file_, root_ / "c/0/link");
  EXPECT_FALSE(watch_->is_stamped("c/0/link"));
  fs::create_hard_link(file_, folder_.path() / "same");
  EXPECT_FALSE(watch_->is_stamped("c/0/1"));
  EXPECT_FALSE(watch_->is_stamped("c/0/absent"));
}

TEST_F(FolderWatchTest, ForkedProcessesWatchByThemselves) {
  stamp_when_watched();
  ChildProcess child([&] {
    for (int i = 0; i < 3; ++i) {
      const std::uint64_t before = stamp_when_watched();
      write_in_place(file_, "new");
      if (before == 0 || stamp() == before) throw std::runtime_error("not seen");
    }
  });
  EXPECT_EQ(child.wait(), 0);
  const std::uint64_t before = stamp_when_watched();
  EXPECT_NE(before, 0U);
  write_in_place(file_, "new");
  EXPECT_NE(stamp(), before);
}

TEST_F(FolderWatchTest, ManyFoldersTakeTurns) {
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 200; ++i) {
      const std::string below = "c/many" + std::to_string(i);
      fs::create_directories(root_ / below);
      std::uint64_t before = 0;
      for (int k = 0; k < 1000 && before == 0; ++k) {
        before = watch_->stamp(below + "/0", watch_->moment());
      }
      ASSERT_NE(before, 0U);
      write_file(root_ / below / "0", "new");
      EXPECT_NE(watch_->stamp(below + "/0", watch_->moment()), before) << i;
    }
  }
}

TEST_F(FolderWatchTest, ThreadsSeeChanges) {
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      const std::string below = "c/" + std::to_string(i % 2);
      for (int k = 0; k < 200; ++k) {
        const std::uint64_t before = watch_->stamp(below + "/0", watch_->moment());
        if (i % 2 == 0) write_in_place(file_, "new");
        const std::uint64_t after = watch_->stamp(below + "/0", watch_->moment());
        if (i % 2 == 0) {
          EXPECT_TRUE(after == 0 || after != before);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// An array that is read row by row, so that its folder is watched.
class ReadsOfWatchedFolders : public testing::Test {
 protected:
  static inline const std::string kCodecs =
      codec_list({bytes_codec(), codec("gzip", R"("level": 1)")});
  static inline const Shape kShape{64, 64};
  static inline const Shape kChunk{32, 16};

  ReadsOfWatchedFolders() {
    const auto store = std::make_shared<FileSystemStore>(folder_.path() / "store");
    Random random(3);
    values_ = random_bytes(random, 64 * 64);
    write_array(*store, "", array_document(kShape, kChunk, "\"uint8\"", kCodecs), values_);
    age();
    array_ = open_array(store);
  }

  // The times of files just written tell nothing.
  static void age() { std::this_thread::sleep_for(std::chrono::milliseconds(100)); }
  // The bytes of a chunk whose elements all have one value.
  static std::string chunk_of(int value) {
    MemoryStore store;
    write_array(store, "", array_document(kChunk, kChunk, "\"uint8\"", kCodecs),
                Bytes(32 * 16, static_cast<std::byte>(value)));
    return std::string(store.get("c/0/0", kNoSizeLimit)->text());
  }

  Bytes row(std::uint64_t y) const { return read(*array_, {{y, 0}, {1, 64}, {1, 1}}); }

  TemporaryFolder folder_;
  Bytes values_;
  std::shared_ptr<const Array> array_;
};

TEST_F(ReadsOfWatchedFolders, SeeEachChangeWithTheNextRead) {
  const fs::path chunk = folder_.path() / "store/c/0/1";
  const fs::path away = folder_.path() / "away";
  for (int value = 1; value < 30; ++value) {
    for (std::uint64_t i = 0; i < 256; ++i) {
      const std::uint64_t y = i % 32;
      Bytes expected = selected(values_, kShape, 1, {{y, 0}, {1, 64}, {1, 1}});
      if (value > 1) std::fill_n(expected.begin() + 16, 16, static_cast<std::byte>(value - 1));
      ASSERT_EQ(row(y), expected) << value << ' ' << i;
      if (i == 20) age();
    }
    const std::string text = chunk_of(value);
    if (value % 3 == 0) {
      write_file(chunk, text);
    } else if (value % 3 == 1) {
      write_file(away, text);
      fs::rename(away, chunk);
    } else {
      write_file(away, text);
      const std::string copy = "cp '" + away.string() + "' '" + chunk.string() + "'";
      ASSERT_EQ(std::system(copy.c_str()), 0);
    }
  }
}

// Counts how often a store is queried for versions.
class VersionsCounted final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;

  ValueVersion current_version(std::string_view key) override {
    ++count;
    return ForwardingStore::current_version(key);
  }

  std::atomic<int> count = 0;
};

TEST_F(ReadsOfWatchedFolders, AskForFewVersions) {
  const auto files = std::make_shared<FileSystemStore>(folder_.path() / "store");
  const auto store = std::make_shared<VersionsCounted>(files);
  array_ = open_array(store);
  for (int i = 0; i < 100; ++i) row(3);
  ValueWatch* const watch = files->traits().watch;
  if (watch->stamp("c/0/0", watch->moment()) == 0) GTEST_SKIP() << "this system does not watch";
  // Four chunks; stamps last for some milliseconds, and the test may be interrupted.
  int least = 4 * 100;
  for (int tries = 0; tries < 50; ++tries) {
    store->count = 0;
    for (int i = 0; i < 100; ++i) row(3);
    least = std::min<int>(least, store->count);
  }
  EXPECT_LE(least, 2 * 4);
}

}  // namespace
}  // namespace zarrcore::test::folder_watch_test
