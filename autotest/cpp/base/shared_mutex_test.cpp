#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "zarrcore/base/process.h"

namespace zarrcore::test::shared_mutex_test {
namespace {

// Each is new, as threads that are the first to use it are in danger of being let in together.
TEST(SharedMutex, AWriterIsAlone) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 300;
  std::atomic<int> readers_with_writer = 0;
  std::atomic<int> writers_with_writer = 0;
  int written = 0;
  for (int round = 0; round < kRounds; ++round) {
    const auto mutex = std::make_unique<SharedMutex>();
    std::atomic<int> readers = 0;
    std::atomic<int> writers = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&, i] {
        for (int k = 0; k < 20; ++k) {
          if ((i + k) % 2 == 0) {
            const std::shared_lock lock(*mutex);
            ++readers;
            std::this_thread::yield();
            if (writers > 0) ++readers_with_writer;
            --readers;
          } else {
            const std::lock_guard lock(*mutex);
            if (writers++ > 0) ++writers_with_writer;
            if (readers > 0) ++readers_with_writer;
            ++written;
            --writers;
          }
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_EQ(readers_with_writer, 0);
  EXPECT_EQ(writers_with_writer, 0);
  EXPECT_EQ(written, kRounds * kThreads * 10);
}

TEST(SharedMutex, ReadersShareItAndAWriterIsRefusedMeanwhile) {
  SharedMutex mutex;
  const auto tries = [&](auto attempt) {
    bool is_taken = false;
    std::thread([&] { is_taken = attempt(); }).join();
    return is_taken;
  };
  const auto write = [&] { return std::unique_lock(mutex, std::try_to_lock).owns_lock(); };
  const auto read = [&] { return std::shared_lock(mutex, std::try_to_lock).owns_lock(); };
  {
    const std::shared_lock lock(mutex);
    EXPECT_TRUE(tries(read));
    EXPECT_FALSE(tries(write));
  }
  {
    const std::lock_guard lock(mutex);
    EXPECT_FALSE(tries(read));
    EXPECT_FALSE(tries(write));
  }
  EXPECT_TRUE(tries(write));
}

}  // namespace
}  // namespace zarrcore::test::shared_mutex_test
