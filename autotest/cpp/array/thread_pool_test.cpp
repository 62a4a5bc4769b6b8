#include "zarrcore/array/thread_pool.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace zarrcore::test::thread_pool_test {
namespace {

TEST(ThreadPool, EveryCallIsMadeOnce) {
  ThreadPool pool;
  for (const std::size_t threads : {0, 1, 2, 5}) {
    for (const std::size_t count : {0, 1, 2, 3, 1000}) {
      std::vector<std::atomic<int>> calls(count);
      pool.parallel_for(count, threads, [&](std::size_t i) { ++calls[i]; });
      for (const auto& made : calls) EXPECT_EQ(made, 1);
    }
  }
}

TEST(ThreadPool, NoMoreThreadsTakePartThanAsked) {
  ThreadPool pool;
  // Makes more threads than the next loop may have.
  pool.parallel_for(100, 5, [](std::size_t) { std::this_thread::yield(); });
  constexpr int kThreads = 3;
  std::atomic<int> running = 0;
  std::atomic<int> most = 0;
  pool.parallel_for(300, kThreads, [&](std::size_t) {
    const int now = ++running;
    for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
    }
    std::this_thread::sleep_for(std::chrono::microseconds(10));
    --running;
  });
  EXPECT_LE(most, kThreads);
}

TEST(ThreadPool, LoopsMayBeInsideLoops) {
  ThreadPool pool;
  std::vector<std::atomic<int>> calls(20 * 30);
  for (int round = 0; round < 20; ++round) {
    pool.parallel_for(20, 4, [&](std::size_t i) {
      pool.parallel_for(30, 4, [&](std::size_t j) { ++calls[i * 30 + j]; });
    });
  }
  for (const auto& made : calls) EXPECT_EQ(made, 20);
}

TEST(ThreadPool, LoopsInsideALoopHaveThreads) {
  ThreadPool pool;
  std::atomic<int> arrived = 0;
  std::atomic<int> met = 0;
  pool.parallel_for(2, 2, [&](std::size_t) {
    pool.parallel_for(2, 2, [&](std::size_t) {
      ++arrived;
      // All four at the same time.
      for (int i = 0; i < 10'000 && arrived < 4; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      if (arrived == 4) ++met;
    });
  });
  EXPECT_EQ(met, 4);
}

TEST(ThreadPool, OneThreadIsTheCaller) {
  ThreadPool pool;
  const auto caller = std::this_thread::get_id();
  std::vector<std::size_t> order;
  pool.parallel_for(5, 1, [&](std::size_t i) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    order.push_back(i);
  });
  EXPECT_EQ(order, (std::vector<std::size_t>{0, 1, 2, 3, 4}));
}

TEST(ThreadPool, SeveralThreadsReallyTakePart) {
  ThreadPool pool;
  // Each call waits for the other: a loop on one thread would never end.
  std::atomic<int> arrived = 0;
  pool.parallel_for(2, 2, [&](std::size_t) {
    ++arrived;
    while (arrived < 2) std::this_thread::yield();
  });
  EXPECT_EQ(arrived, 2);
}

TEST(ThreadPool, TheFirstExceptionIsThrownOn) {
  ThreadPool pool;
  for (const std::size_t threads : {1, 2, 4}) {
    std::atomic<int> calls = 0;
    try {
      pool.parallel_for(100000, threads, [&](std::size_t i) {
        const int call = ++calls;
        if (i == 10) throw std::runtime_error("call 10");
        // So that the thread of call 10 gets its turn, whatever else the machine does.
        if (call > 1000) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      });
      FAIL() << "no exception";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "call 10");
    }
    EXPECT_LT(calls, 100000);
  }
}

TEST(ThreadPool, AnExceptionOfAWorkerReachesTheCaller) {
  ThreadPool pool;
  const auto caller = std::this_thread::get_id();
  std::atomic<bool> thrown = false;
  EXPECT_THROW(pool.parallel_for(2, 2,
                                 [&](std::size_t) {
                                   if (std::this_thread::get_id() != caller) {
                                     thrown = true;
                                     throw std::runtime_error("in a worker");
                                   }
                                   while (!thrown) std::this_thread::yield();
                                 }),
               std::runtime_error);
}

TEST(ThreadPool, IsUsableAfterAnException) {
  ThreadPool pool;
  for (int round = 0; round < 100; ++round) {
    EXPECT_THROW(pool.parallel_for(50, 3, [](std::size_t) { throw std::string("stop"); }),
                 std::string);
    std::atomic<int> calls = 0;
    pool.parallel_for(50, 3, [&](std::size_t) { ++calls; });
    EXPECT_EQ(calls, 50);
  }
}

TEST(ThreadPool, LoopsMayRunAtTheSameTime) {
  ThreadPool pool;
  std::vector<std::thread> callers;
  std::atomic<std::uint64_t> total = 0;
  callers.reserve(4);
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&] {
      for (int round = 0; round < 200; ++round) {
        std::atomic<std::uint64_t> sum = 0;
        pool.parallel_for(100, 3, [&](std::size_t i) { sum += i; });
        EXPECT_EQ(sum, 4950);
        total += sum;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(total, 4 * 200 * 4950);
}

TEST(ThreadPool, TheScopeIsAroundTheWorkOfEachWorker) {
  ThreadPool pool;
  thread_local bool is_inside = false;
  const auto caller = std::this_thread::get_id();
  std::atomic<int> scopes = 0;
  std::atomic<int> arrived = 0;
  pool.parallel_for(
      3, 3,
      [&](std::size_t) {
        EXPECT_EQ(is_inside, std::this_thread::get_id() != caller);
        ++arrived;
        while (arrived < 3) std::this_thread::yield();
      },
      [&](const std::function<void()>& work) {
        ++scopes;
        is_inside = true;
        work();
        is_inside = false;
      });
  EXPECT_EQ(scopes, 2);
}

TEST(ThreadPool, LoopsEndInAForkedChildThoughTheWorkersAreGone) {
  for (int round = 0; round < 20; ++round) {
    auto pool = std::make_unique<ThreadPool>();
    std::atomic<int> calls = 0;
    const auto run = [&] { pool->parallel_for(10, 3, [&](std::size_t) { ++calls; }); };
    run();
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      ::alarm(20);
      for (int i = 0; i < 5; ++i) run();
      pool.reset();
      ::_exit(calls == 60 ? 0 : 1);
    }
    run();
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status)) << "the child hung";
    EXPECT_EQ(WEXITSTATUS(status), 0);
    EXPECT_EQ(calls, 20);
  }
}

std::atomic<int> running = 0;

// In a process of its own. The function that is registered first is called last, as those of the
// libraries that loops use.
TEST(ThreadPoolDeathTest, NoWorkerRunsWhenTheProcessHasBegunToEnd) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto end_beside_a_loop = [] {
    std::atexit([] {
      const ThreadPool late;
      ::_exit(running == 0 && !late.has_workers() ? 0 : 1);
    });
    static auto& pool = *new ThreadPool;
    std::thread([] {
      pool.parallel_for(30, 4, [](std::size_t) {
        ++running;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        --running;
      });
    }).detach();
    while (running < 4) std::this_thread::yield();
    std::exit(2);
  };
  EXPECT_EXIT(end_beside_a_loop(), testing::ExitedWithCode(0), "");
}

TEST(ThreadPool, MayBeDestroyedRightAfterALoop) {
  for (int round = 0; round < 200; ++round) {
    std::atomic<int> calls = 0;
    ThreadPool pool;
    pool.parallel_for(10, 4, [&](std::size_t) { ++calls; });
    EXPECT_EQ(calls, 10);
  }
}

}  // namespace
}  // namespace zarrcore::test::thread_pool_test
