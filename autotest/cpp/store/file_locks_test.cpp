#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>
#include <vector>

#include "autotest/cpp/support/expect_error.h"
#include "autotest/cpp/support/process.h"
#include "autotest/cpp/support/temporary_folder.h"
#include "zarrcore/store/locks.h"

namespace zarrcore::test::file_locks_test {
namespace {

TEST(FileLocks, ThreadsExcludeEachOther) {
  const TemporaryFolder folder;
  const FileLocks locks(folder.path() / "sync");
  int count = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 500; ++k) {
        const auto held = locks.lock("a/c/0");
        ++count;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count, 2000);
}

TEST(FileLocks, TwoObjectsAndProcessesExcludeEachOther) {
  const TemporaryFolder folder;
  const auto counter = folder.path() / "counter";
  std::ofstream(counter) << 0;
  const auto work = [&] {
    const FileLocks locks(folder.path() / "sync");
    for (int k = 0; k < 300; ++k) {
      const auto held = locks.lock("0.0");
      int count = -1;
      std::ifstream(counter) >> count;
      std::ofstream(counter) << count + 1;
    }
  };
  {
    ChildProcess first(work);
    ChildProcess second(work);
    std::thread third(work);
    work();
    third.join();
    EXPECT_EQ(first.wait(), 0);
    EXPECT_EQ(second.wait(), 0);
  }
  int count = -1;
  std::ifstream(counter) >> count;
  EXPECT_EQ(count, 1200);
}

TEST(FileLocks, KeysDoNotExcludeEachOther) {
  const TemporaryFolder folder;
  const FileLocks locks(folder.path());
  // In another process, where no turn of this one's threads is in the way.
  const auto held = locks.lock("a/0.0");
  // So many that some have the turn that this process has taken for the other key.
  ChildProcess other([&] {
    for (int i = 1; i < 400; ++i) FileLocks(folder.path()).lock("a/0." + std::to_string(i));
  });
  EXPECT_EQ(other.wait(), 0);
}

TEST(FileLocks, ALockEndsWithItsProcess) {
  const TemporaryFolder folder;
  const FileLocks locks(folder.path());
  {
    ChildProcess other([&] {
      const auto held = locks.lock("0");
      std::ofstream(folder.path() / "held");
      while (true) ::pause();
    });
    while (!std::filesystem::exists(folder.path() / "held")) std::this_thread::yield();
    other.kill();
  }
  locks.lock("0");
}

TEST(FileLocks, ALockThatIsNotReleasedIsAnError) {
  using std::chrono::milliseconds;
  using std::chrono::steady_clock;
  const TemporaryFolder folder;
  const FileLocks locks(folder.path(), milliseconds(300));
  const auto other = std::make_unique<ChildProcess>([&] {
    const auto held = locks.lock("a/0");
    std::ofstream(folder.path() / "held");
    while (true) ::pause();
  });
  while (!std::filesystem::exists(folder.path() / "held")) std::this_thread::yield();
  // The threads of this process wait together, and not one after the other.
  const auto start = steady_clock::now();
  std::vector<std::thread> threads;
  for (int i = 0; i < 20; ++i) {
    threads.emplace_back([&] { EXPECT_ERROR(locks.lock("a/0"), "lock ", "a/0: ", "release"); });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LT(steady_clock::now() - start, milliseconds(20 * 300));
  locks.lock("a/1");
  other->kill();
  locks.lock("a/0");
}

// One process has a lock for long, and takes it again as soon as it has released it.
TEST(FileLocks, ALockThatIsTakenAgainAtOnceIsSharedWithOthers) {
  const TemporaryFolder folder;
  ChildProcess other([&] {
    const FileLocks locks(folder.path());
    while (true) {
      const auto held = locks.lock("0");
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      std::ofstream(folder.path() / "held");
    }
  });
  while (!std::filesystem::exists(folder.path() / "held")) std::this_thread::yield();
  const FileLocks locks(folder.path());
  for (int i = 0; i < 5; ++i) locks.lock("0");
}

TEST(FileLocks, WhatCannotBeLockedIsAnError) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "file");
  EXPECT_ERROR(FileLocks(folder.path() / "file").lock("0"), "lock ", "file");
  EXPECT_ERROR(FileLocks(folder.path()).lock("../0"), "key");
}

}  // namespace
}  // namespace zarrcore::test::file_locks_test
