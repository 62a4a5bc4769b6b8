// What is particular to folders and files.
#include "zarrcore/store/file_system_store.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "autotest/cpp/support/bytes.h"
#include "autotest/cpp/support/expect_error.h"
#include "autotest/cpp/support/process.h"
#include "autotest/cpp/support/temporary_folder.h"

namespace zarrcore::test::file_system_store_test {
namespace {

namespace fs = std::filesystem;

class FileSystemStoreTest : public testing::Test {
 protected:
  fs::path path(std::string_view key) const { return folder_.path() / key; }
  std::size_t file_count() const {
    return static_cast<std::size_t>(std::distance(fs::recursive_directory_iterator(folder_.path()),
                                                  fs::recursive_directory_iterator()));
  }

  TemporaryFolder folder_;
  FileSystemStore file_system_store_{folder_.path()};
  Store& store_ = file_system_store_;
};

TEST_F(FileSystemStoreTest, AKeyIsAPathBelowTheFolder) {
  store_.put("a/b/0.0", bytes_of("chunk"));
  std::ifstream file(path("a/b/0.0"));
  std::string text;
  file >> text;
  EXPECT_EQ(text, "chunk");
}

TEST_F(FileSystemStoreTest, OneAtATimeHoldsTheLockOfAFolder) {
  auto lock = store_.lock("a/b");
  ASSERT_NE(lock, nullptr);
  EXPECT_NE(store_.lock("a"), nullptr);
  std::atomic<bool> has_waited{false};
  std::thread other([&] {
    const auto waiting = FileSystemStore(folder_.path()).lock("a/b");
    EXPECT_TRUE(has_waited);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  has_waited = true;
  lock.reset();
  other.join();
  EXPECT_EQ(file_count(), 2);
}

// As any program can that may read the folder.
class LockOfAnotherProgram {
 public:
  explicit LockOfAnotherProgram(const fs::path& folder)
      : descriptor_(::open(folder.string().c_str(), O_RDONLY | O_CLOEXEC)) {
    EXPECT_EQ(::flock(descriptor_, LOCK_EX), 0);
  }
  ~LockOfAnotherProgram() { ::close(descriptor_); }
  LockOfAnotherProgram(const LockOfAnotherProgram&) = delete;
  LockOfAnotherProgram& operator=(const LockOfAnotherProgram&) = delete;

 private:
  int descriptor_;
};

TEST_F(FileSystemStoreTest, WhoHasTheLockOfAFolderErasesInIt) {
  store_.put("a/0", bytes_of("1"));
  const auto lock = store_.lock("a");
  EXPECT_TRUE(store_.erase("a/0", {.expected = store_.current_version("a/0"), .has_lock = true}));
}

TEST_F(FileSystemStoreTest, ALockThatIsNotReleasedIsAnError) {
  FileSystemStore store(folder_.path(), {.lock_timeout = std::chrono::milliseconds(300)});
  const auto put = [&](const std::string& key) {
    const std::vector<std::byte> bytes = bytes_of("new");
    const ValuePart part{bytes};
    return store.put_parts(key, {&part, 1}, {store.current_version(key)});
  };
  store.put("a/0", bytes_of("old"));
  {
    const LockOfAnotherProgram lock(path("a"));
#ifdef __linux__
    const std::string holder = "process " + std::to_string(::getpid()) + " (";
#else
    const std::string holder = "another program";
#endif
    const std::string name = "lock " + path("a").string() + ": ";
    EXPECT_ERROR(store.lock("a"), name, holder);
    EXPECT_ERROR(put("a/0"), path("a/0").string(), name, holder);
    EXPECT_ERROR(store.erase("a/0", {store.current_version("a/0")}), name, holder);
    EXPECT_EQ(file_count(), 2);
    // Nobody waits for other folders.
    put("b/0");
  }
  EXPECT_TRUE(put("a/0"));
}

// A flush has many chunks in one folder.
TEST_F(FileSystemStoreTest, OneLockIsNotWaitedForAgainAndAgain) {
  using std::chrono::seconds;
  using std::chrono::steady_clock;
  FileSystemStore store(folder_.path(), {.lock_timeout = seconds(5)});
  store.put("a/0", bytes_of("old"));
  const LockOfAnotherProgram lock(path("a"));
  const auto start = steady_clock::now();
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 8; ++thread) {
    threads.emplace_back([&] {
      const ValueVersion version = store.current_version("a/0");
      for (int i = 0; i < 5; ++i) EXPECT_ERROR(store.put_parts("a/0", {}, {version}), "lock ");
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LT(steady_clock::now() - start, seconds(2 * 5));
}

// Of processes that take the lock of one folder as fast as they can, each has its turn.
TEST_F(FileSystemStoreTest, ManyProcessesShareALock) {
  constexpr int kProcesses = 8;
  constexpr int kLocks = 500;
  store_.put("a/count", bytes_of("0"));
  {
    std::vector<std::unique_ptr<ChildProcess>> processes;
    for (int i = 0; i < kProcesses; ++i) {
      processes.push_back(std::make_unique<ChildProcess>([&] {
        FileSystemStore store(folder_.path());
        for (int k = 0; k < kLocks; ++k) {
          const auto lock = store.lock("a");
          int count = -1;
          std::ifstream(path("a/count")) >> count;
          std::ofstream(path("a/count")) << count + 1;
        }
      }));
    }
    for (const auto& process : processes) EXPECT_EQ(process->wait(), 0);
  }
  int count = -1;
  std::ifstream(path("a/count")) >> count;
  EXPECT_EQ(count, kProcesses * kLocks);
}

TEST_F(FileSystemStoreTest, AForkedProcessDoesNotKeepALock) {
  auto lock = store_.lock("a");
  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  lock.reset();
  EXPECT_NE(store_.lock("a"), nullptr);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

TEST_F(FileSystemStoreTest, WhoWaitsForAFolderThatIsReplacedLocksTheNewOne) {
  auto lock = store_.lock("a");
  auto waiting = std::async(std::launch::async, [&] { return store_.lock("a"); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  fs::rename(path("a"), path("b"));
  fs::create_directory(path("a"));
  lock.reset();
  const auto of_new = waiting.get();
  const int folder = ::open(path("a").string().c_str(), O_RDONLY | O_DIRECTORY);
  EXPECT_NE(::flock(folder, LOCK_EX | LOCK_NB), 0);
  ::close(folder);
}

TEST_F(FileSystemStoreTest, PutLeavesNoTemporaryFile) {
  store_.put("a", bytes_of("1"));
  store_.put("a", bytes_of("2"));
  EXPECT_EQ(file_count(), 1);
}

TEST_F(FileSystemStoreTest, AValueWithANewKeyIsWrittenInItsPlace) {
  const auto put = [&](const std::function<Buffer()>& fetch) {
    const ValuePart part{{}, fetch};
    store_.put_parts("c/new", {&part, 1}, {.is_new_key = true});
  };
  const auto look = [&] {
    EXPECT_TRUE(fs::exists(path("c/new")));
    EXPECT_EQ(file_count(), 2);  // with the folder
    return Buffer::copy_of(bytes_of("1"));
  };
  EXPECT_ERROR(put([&]() -> Buffer { look(), throw Error("no part"); }), "no part");
  EXPECT_FALSE(fs::exists(path("c/new")));
  put(look);
  EXPECT_EQ(store_.get("c/new", kNoSizeLimit)->text(), "1");
  EXPECT_ERROR(put(look), "exists");
  EXPECT_EQ(store_.get("c/new", kNoSizeLimit)->text(), "1");
}

TEST_F(FileSystemStoreTest, AFailedPutLeavesTheOldValueAndNoTemporaryFile) {
  fs::create_directories(path("a"));
  EXPECT_ERROR(store_.put("a", bytes_of("1")), path("a").generic_string(), "irectory");
  EXPECT_EQ(file_count(), 1);
  store_.put("b", bytes_of("old"));
  EXPECT_ERROR(store_.put("b/c", bytes_of("1")), path("b/c").generic_string());
  EXPECT_EQ(store_.get("b")->text(), "old");
  EXPECT_EQ(file_count(), 2);
}

TEST_F(FileSystemStoreTest, TheFilesOfInterruptedPutsAreNotListed) {
  store_.put("a", bytes_of("1"));
  std::ofstream(path(".a.123.0.zarr-partial")) << "half";
  EXPECT_EQ(store_.list("").keys, std::vector<std::string>{"a"});
  EXPECT_EQ(store_.list_all(""), std::vector<std::string>{"a"});
  std::set<std::string> all;
  store_.visit_values("", [&](std::string_view key, auto) { all.emplace(key); },
                      {.with_temporary_files = true});
  EXPECT_EQ(all, (std::set<std::string>{"a", ".a.123.0.zarr-partial"}));
}

TEST_F(FileSystemStoreTest, SizesThatAreNotWantedAreNotFound) {
  store_.put("a/b", bytes_of("12"));
  store_.put("c", bytes_of("123"));
  std::map<std::string, std::optional<std::uint64_t>> sizes;
  store_.visit_values("", [&](std::string_view key, auto size) { sizes.emplace(key, size); },
                      {.wants_size = [](std::string_view key) { return key == "c"; }});
  EXPECT_EQ(sizes.at("a/b"), std::nullopt);
  EXPECT_EQ(sizes.at("c"), 3);
}

TEST_F(FileSystemStoreTest, AFileThatCannotBeOpenedIsAnErrorAndNotAbsent) {
  // A link to itself cannot be opened even by root.
  fs::create_symlink("loop", path("loop"));
  EXPECT_ERROR(store_.get("loop"), path("loop").generic_string(), "symbolic links");
  const ByteRange range = ByteRange::at(0, 1);
  EXPECT_ERROR(store_.get_ranges("loop", {&range, 1}), path("loop").generic_string(),
               "symbolic links");
  EXPECT_ERROR(store_.get("loop/below"), "symbolic links");
  EXPECT_THROW(store_.get("loop"), AccessFailure);
  EXPECT_EQ(store_.list("").keys, std::vector<std::string>{"loop"});
}

TEST_F(FileSystemStoreTest, ALinkThatLeadsNowhereIsAnErrorAndNotAbsent) {
  fs::create_symlink("nowhere", path("link"));
  fs::create_directories(path("folder"));
  fs::create_symlink("../nowhere", path("folder/c"));
  fs::create_symlink("folder", path("good"));
  const ByteRange range = ByteRange::at(0, 1);
  for (const char* key : {"link", "folder/c", "folder/c/0/0", "good/c/0"}) {
    EXPECT_ERROR(store_.get(key), path(key).generic_string(), "symbolic link", "leads to nothing");
    EXPECT_ERROR(store_.get_ranges(key, {&range, 1}), "symbolic link", "leads to nothing");
    EXPECT_ERROR(store_.has(key), "symbolic link", "leads to nothing");
  }
  EXPECT_FALSE(store_.get("good/absent"));
  EXPECT_FALSE(store_.get("absent/c/0/0"));
  store_.put("link", bytes_of("value"));
  EXPECT_EQ(store_.get("link")->text(), "value");
}

TEST_F(FileSystemStoreTest, LinksToFoldersThatContainThemAreNotFollowed) {
  store_.put("g/x/0", bytes_of("1"));
  fs::create_directory_symlink(".", path("g/a"));
  fs::create_directory_symlink("../..", path("g/x/b"));
  fs::create_directory_symlink("x", path("g/y"));
  EXPECT_EQ(store_.list("g").prefixes, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(store_.list_all(""), (std::vector<std::string>{"g/x/0", "g/y/0"}));
}

// Two links in each of 30 folders make a billion paths.
TEST_F(FileSystemStoreTest, LinksWithinLinksAreFollowedAFewTimes) {
  for (int i = 0; i < 30; ++i) {
    const std::string folder = std::to_string(i);
    store_.put(folder + "/0", bytes_of("1"));
    for (const char* name : {"/a", "/b"}) {
      fs::create_directory_symlink("../" + std::to_string(i + 1), path(folder + name));
    }
  }
  store_.put("30/0", bytes_of("1"));
  EXPECT_EQ(store_.list("0/a/a").prefixes, (std::vector<std::string>{"a", "b"}));
  const DirectoryListing deepest = store_.list("0/a/a/a");
  EXPECT_TRUE(deepest.prefixes.empty());
  EXPECT_EQ(deepest.keys, (std::vector<std::string>{"0", "a", "b"}));
  EXPECT_LE(store_.list_all("").size(), 30 * 31 + 1);
}

TEST_F(FileSystemStoreTest, AFolderWhoseNameNoKeyHasCountsAsAValue) {
  store_.put("x/0", bytes_of("1"));
  fs::create_directories(path("x/we\\ird/c"));
  EXPECT_EQ(store_.list_all(""), (std::vector<std::string>{"x/0", "x/we\\ird"}));
}

TEST_F(FileSystemStoreTest, AFileWithoutPermissionIsAnErrorAndNotAbsent) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  store_.put("a", bytes_of("secret"));
  fs::permissions(path("a"), fs::perms::none);
  EXPECT_ERROR(store_.get("a"), path("a").generic_string(), "Permission denied");
}

TEST_F(FileSystemStoreTest, AFolderWithoutPermissionIsAnErrorAndNotEmpty) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may list everything";
  store_.put("a/b", bytes_of("1"));
  fs::permissions(path("a"), fs::perms::none);
  EXPECT_ERROR(store_.list("a"), path("a").generic_string(), "Permission denied");
  fs::permissions(path("a"), fs::perms::owner_all);
}

TEST_F(FileSystemStoreTest, AnOverlongNameIsAnError) {
  EXPECT_ERROR(store_.get(std::string(5000, 'x')), "File name too long");
}

TEST_F(FileSystemStoreTest, WhatIsNoFileIsAnErrorAndNobodyWaitsForIt) {
  ASSERT_EQ(::mkfifo(path("pipe").string().c_str(), 0600), 0);
  EXPECT_ERROR(store_.get("pipe"), path("pipe").generic_string(), "not a file");
}

TEST_F(FileSystemStoreTest, NamesNearTheLongestPossibleCanBePut) {
  const std::string name(255, 'x');
  store_.put(name, bytes_of("1"));
  EXPECT_EQ(store_.get(name)->text(), "1");
}

TEST_F(FileSystemStoreTest, PartsBehindFourGigabytesAreRead) {
  const std::uint64_t offset = (std::uint64_t{4} << 30) + 5;
  {
    // A hole without memory on most file systems.
    std::ofstream file(path("a"), std::ios::binary);
    file << "start";
    file.seekp(static_cast<std::streamoff>(offset));
    file << "value";
  }
  const ByteRange range = ByteRange::at(offset + 1, 3);
  const auto parts = store_.get_ranges("a", {&range, 1});
  ASSERT_TRUE(parts);
  EXPECT_EQ(parts->front().text(), "alu");
}

// Small ones are written together.
TEST_F(FileSystemStoreTest, PartsOfAllSizesFollowEachOther) {
  Random random(17);
  for (int round = 0; round < 20; ++round) {
    std::vector<Bytes> values;
    for (std::size_t i = random_number(random, 0, 60); i > 0; --i) {
      values.push_back(random_bytes(random, memory_size(random_number(random, 0, 2) * 9000)));
    }
    std::vector<ValuePart> parts;
    Bytes all;
    for (const Bytes& value : values) {
      if (random_number(random, 0, 1) == 0) {
        parts.push_back({value});
      } else {
        parts.push_back({{}, [&value] { return Buffer::copy_of(ByteSpan(value)); }});
      }
      all.insert(all.end(), value.begin(), value.end());
    }
    store_.put_parts("a", parts);
    ASSERT_EQ(to_bytes(store_.get("a")->span()), all);
  }
}

// The folder of a node is known once its document has been read or put.
class MovedFolderTest : public FileSystemStoreTest {
 protected:
  MovedFolderTest() {
    FileSystemStore other(folder_.path() / "store");
    other.put("a/zarr.json", bytes_of("{}"));
    other.put("a/c/0", bytes_of("old"));
  }

  std::string root() const { return path("store").generic_string(); }

  // Each of these changes is an error that names the folder, and changes nothing.
  void expect_errors(Store& store, const std::string& folder) {
    const std::vector<std::byte> bytes = bytes_of("new");
    const ValuePart part{bytes};
    const ValueVersion any;
    const ValueVersion none = ValueVersion::absent();
    const std::vector<std::string> keys = {"a/c/0"};
    const std::size_t count = file_count();
    EXPECT_ERROR(store.put("a/c/0", bytes), folder);
    EXPECT_ERROR(store.put("a/zarr.json", bytes), folder);
    EXPECT_ERROR(store.put("a/d/e/0", bytes), folder);
    EXPECT_ERROR(store.put_parts("a/c/0", {&part, 1}, {any}), folder);
    EXPECT_ERROR(store.put_parts("a/c/1", {&part, 1}, {none}), folder);
    EXPECT_ERROR(store.erase("a/c/0"), folder);
    EXPECT_ERROR(store.erase_all(keys), folder);
    EXPECT_ERROR(store.erase("a/c/0", {any}), folder);
    EXPECT_ERROR(store.erase_prefix("a"), folder);
    EXPECT_ERROR(store.rename_prefix("a", "b"), folder);
    EXPECT_ERROR(store.lock("a/c"), folder);
    EXPECT_EQ(file_count(), count);
  }
};

TEST_F(MovedFolderTest, ChangesInANodeThatWasMovedAreErrors) {
  FileSystemStore files(root());
  Store& store = files;
  store.get("a/zarr.json");
  fs::rename(root() + "/a", root() + "/moved");
  expect_errors(store, root() + "/a");
  fs::create_directories(root() + "/a/c");
  expect_errors(store, root() + "/a");
  fs::remove_all(root() + "/a");
  fs::rename(root() + "/moved", root() + "/a");
  store.put("a/c/0", bytes_of("new"));
  EXPECT_EQ(store.get("a/c/0")->text(), "new");
}

TEST_F(MovedFolderTest, ChangesInAStoreThatWasMovedAreErrors) {
  FileSystemStore files(root());
  Store& store = files;
  fs::rename(root(), path("moved"));
  expect_errors(store, root());
  fs::create_directories(root() + "/a/c");
  expect_errors(store, root());
}

TEST_F(MovedFolderTest, FoldersThatHoldNoNodeMayComeAndGo) {
  FileSystemStore files(root());
  Store& store = files;
  store.get("a/zarr.json");
  store.put("a/c/0", bytes_of("new"));
  fs::remove_all(root() + "/a/c");
  store.put("a/c/0", bytes_of("newer"));
  EXPECT_EQ(store.get("a/c/0")->text(), "newer");
}

TEST_F(MovedFolderTest, NodesThatTheStoreMovesOrRemovesAreNotMissed) {
  FileSystemStore files(root());
  Store& store = files;
  store.get("a/zarr.json");
  store.rename_prefix("a", "b/a");
  store.put("b/a/c/0", bytes_of("new"));
  fs::rename(root() + "/b/a", root() + "/moved");
  EXPECT_ERROR(store.put("b/a/c/0", bytes_of("1")), root() + "/b/a");
  fs::rename(root() + "/moved", root() + "/b/a");
  store.erase_prefix("b/a");
  store.put("b/a/zarr.json", bytes_of("{}"));
  store.put("b/a/c/0", bytes_of("newer"));
  EXPECT_EQ(store.get("b/a/c/0")->text(), "newer");
  EXPECT_EQ(store.get("a/c/0"), std::nullopt);
}

TEST_F(MovedFolderTest, PrefixesAreExchangedAtOnceOrNotAtAll) {
  FileSystemStore files(root());
  Store& store = files;
  store.put("b/zarr.json", bytes_of("b"));
  store.get("a/zarr.json");
  store.get("b/zarr.json");
  EXPECT_FALSE(store.rename_prefix("a", "absent", {.exchanges = true}));
#ifdef __linux__
  EXPECT_TRUE(store.rename_prefix("a", "b", {.exchanges = true}));
  EXPECT_EQ(store.get("a/zarr.json")->text(), "b");
#endif
  store.put("a/c/0", bytes_of("new"));  // neither folder is missed
  store.put("b/c/0", bytes_of("new"));
}

// A put in a folder that is moved at that moment.
TEST_F(MovedFolderTest, APutDuringAMoveIsAtThePathOrAnError) {
  FileSystemStore files(root());
  Store& store = files;
  store.get("a/zarr.json");
  std::atomic<bool> is_done{false};
  std::thread mover([&] {
    std::error_code error;
    while (!is_done) {
      fs::rename(root() + "/a", root() + "/moved");
      fs::create_directories(root() + "/a/c");
      do {
        fs::remove_all(root() + "/a", error);  // it may have a temporary file again
        fs::rename(root() + "/moved", root() + "/a", error);
      } while (error);
    }
  });
  std::vector<std::string> put;
  for (int i = 1; i < 3000; ++i) {
    try {
      store.put("a/c/" + std::to_string(i), bytes_of("new"));
      put.push_back("a/c/" + std::to_string(i));
    } catch (const Error&) {
      // The folder was away.
    }
  }
  is_done = true;
  mover.join();
  EXPECT_EQ(store.list("a/c").keys.size(), 1 + put.size());
  for (const std::string& key : put) EXPECT_TRUE(store.has(key)) << key;
}

TEST_F(FileSystemStoreTest, ManyValuesAreOpenAndManyStoresArePutIntoWithFewDescriptors) {
  constexpr int kCount = 300;
  for (int i = 0; i < kCount; ++i) {
    store_.put(std::to_string(i) + "/zarr.json", bytes_of("{}"));
    store_.put(std::to_string(i) + "/0", bytes_of(std::to_string(i)));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // until versions are settled
  ChildProcess child([&] {
    struct rlimit usual;
    if (::getrlimit(RLIMIT_NOFILE, &usual) != 0) throw Error("no limit");
    const struct rlimit few{40, usual.rlim_max};
    if (::setrlimit(RLIMIT_NOFILE, &few) != 0) throw Error("no limit");
    std::vector<std::shared_ptr<OpenValue>> values;
    std::vector<std::unique_ptr<FileSystemStore>> stores;
    const ByteRange first = ByteRange::at(0, 1);
    for (int i = 0; i < kCount; ++i) {
      values.push_back(store_.open(std::to_string(i) + "/0"));
      if (!values.back()->get_ranges({&first, 1})) throw Error("absent");
      stores.push_back(std::make_unique<FileSystemStore>(path(std::to_string(i))));
      stores.back()->get("zarr.json", kNoSizeLimit);
      stores.back()->put("1", bytes_of("new"));
    }
    for (int i = 0; i < kCount; ++i) {
      if (values[i]->get(kNoSizeLimit)->text() != std::to_string(i)) throw Error("another value");
    }
    // UndefinedBehaviorSanitizer needs descriptors where exceptions are caught.
    if (::setrlimit(RLIMIT_NOFILE, &usual) != 0) throw Error("no limit");
    // The first value has been closed again.
    store_.put("0/0", bytes_of("x"));
    try {
      values[0]->get(kNoSizeLimit);
    } catch (const ValueChanged&) {
      return;
    }
    throw Error("an open value has changed");
  });
  EXPECT_EQ(child.wait(), 0);
}

TEST_F(FileSystemStoreTest, ErasingBelowAFileRemovesNothing) {
  store_.put("a", bytes_of("1"));
  EXPECT_TRUE(store_.erase("a/b"));
  EXPECT_EQ(store_.get("a")->text(), "1");
}

}  // namespace
}  // namespace zarrcore::test::file_system_store_test
