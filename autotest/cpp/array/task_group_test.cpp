#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <future>
#include <mutex>
#include <thread>
#include <vector>

#include "autotest/cpp/support/bytes.h"
#include "autotest/cpp/support/temporary_folder.h"
#include "autotest/cpp/support/wait_until.h"
#include "zarrcore/array/thread_pool.h"
#include "zarrcore/store/file_system_store.h"

namespace zarrcore::test::task_group_test {
namespace {

// Lets tasks wait until the test says go.
class Gate {
 public:
  void open() { opened_.set_value(); }
  void wait() const { state_.wait(); }

 private:
  std::promise<void> opened_;
  std::shared_future<void> state_ = opened_.get_future().share();
};

// Runs tasks on the calling thread too, until all have ended.
void finish(TaskGroup& group) {
  while (group.help()) {
  }
}

// In a process of its own, where the locks of files are used after the pool.
TEST(TaskGroupDeathTest, TasksThatReadFilesDoNotStopAFork) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto fork_beside_tasks = [] {
    ::alarm(60);
    const TemporaryFolder folder;
    FileSystemStore store(folder.path());
    store.put("a", bytes_of("content"));
    ThreadPool pool;
    TaskGroup group(pool, std::make_shared<Cancellation>());
    for (int i = 0; i < 300; ++i) {
      for (int task = 0; task < 20; ++task) {
        group.post([&store] { store.open("a")->get(100); }, 3);
      }
      const pid_t child = ::fork();
      if (child == 0) ::_exit(store.open("a")->get(100) ? 0 : 1);
      int status = -1;
      ::waitpid(child, &status, 0);
      if (status != 0) std::exit(1);
    }
    finish(group);
    std::exit(0);
  };
  EXPECT_EXIT(fork_beside_tasks(), testing::ExitedWithCode(0), "");
}

TEST(TaskGroup, EveryTaskRunsOnce) {
  ThreadPool pool;
  for (const std::size_t threads : {0, 1, 2, 5}) {
    std::vector<std::atomic<int>> runs(500);
    TaskGroup group(pool);
    for (auto& count : runs) group.post([&count] { ++count; }, threads);
    finish(group);
    for (const auto& count : runs) EXPECT_EQ(count, 1);
    EXPECT_EQ(group.size(), 0);
  }
}

TEST(TaskGroup, TasksRunWhileTheCallerGoesOn) {
  ThreadPool pool;
  TaskGroup group(pool);
  std::atomic<int> runs = 0;
  for (int i = 0; i < 10; ++i) group.post([&] { ++runs; }, 1);
  wait_until([&] { return runs == 10; });
  wait_until([&] { return group.size() == 0; });
}

TEST(TaskGroup, NoMoreTasksRunAtOnceThanAsked) {
  ThreadPool pool;
  pool.parallel_for(100, 6, [](std::size_t) { std::this_thread::yield(); });
  TaskGroup group(pool);
  constexpr int kThreads = 3;
  std::atomic<int> running = 0;
  std::atomic<int> most = 0;
  std::atomic<int> runs = 0;
  for (int i = 0; i < 300; ++i) {
    group.post(
        [&] {
          const int now = ++running;
          for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
          }
          std::this_thread::sleep_for(std::chrono::microseconds(10));
          --running;
          ++runs;
        },
        kThreads);
  }
  wait_until([&] { return runs == 300; });
  EXPECT_LE(most, kThreads);
}

TEST(TaskGroup, TasksStartInOrder) {
  ThreadPool pool;
  TaskGroup group(pool);
  std::vector<int> order;
  for (int i = 0; i < 100; ++i) group.post([&order, i] { order.push_back(i); }, 1);
  wait_until([&] { return group.size() == 0; });
  for (int i = 0; i < 100; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
}

TEST(TaskGroup, CancelDropsWhatHasNotStarted) {
  ThreadPool pool;
  TaskGroup group(pool);
  Gate gate;
  std::atomic<int> started = 0;
  for (int i = 0; i < 10; ++i) {
    group.post(
        [&] {
          ++started;
          gate.wait();
        },
        1);
  }
  wait_until([&] { return started == 1; });
  std::thread cancelling([&] { group.cancel(); });
  wait_until([&] { return group.size() == 1; });
  gate.open();
  cancelling.join();
  EXPECT_EQ(group.size(), 0);
  EXPECT_EQ(started, 1);
}

TEST(TaskGroup, LoopsHaveThreadsWhileTasksRun) {
  ThreadPool pool;
  TaskGroup group(pool);
  Gate gate;
  std::atomic<int> started = 0;
  for (int i = 0; i < 2; ++i) {
    group.post(
        [&] {
          ++started;
          gate.wait();
        },
        2);
  }
  wait_until([&] { return started == 2; });
  std::atomic<int> arrived = 0;
  pool.parallel_for(2, 2, [&](std::size_t) {
    ++arrived;
    wait_until([&] { return arrived == 2; });
  });
  gate.open();
  finish(group);
}

TEST(TaskGroup, HelpRunsOneTask) {
  ThreadPool pool;
  TaskGroup group(pool);
  EXPECT_FALSE(group.help());
  Gate gate;
  std::atomic<bool> has_started = false;
  group.post(
      [&] {
        has_started = true;
        gate.wait();
      },
      1);
  wait_until([&] { return has_started.load(); });
  // The first task keeps the only thread of the group, so the caller has to run the second.
  std::thread::id thread;
  group.post([&] { thread = std::this_thread::get_id(); }, 1);
  EXPECT_TRUE(group.help());
  EXPECT_EQ(thread, std::this_thread::get_id());
  gate.open();
  finish(group);
  EXPECT_FALSE(group.help());
}

TEST(TaskGroup, TasksPauseWhileTheProcessForks) {
  ThreadPool pool;
  TaskGroup group(pool);
  std::mutex mutex;  // would stay locked in a child that is forked while a task runs
  std::atomic<bool> stops = false;
  std::function<void()> again;
  std::atomic<int> posted = 0;
  again = [&] {
    {
      const std::lock_guard lock(mutex);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (!stops) {
      ++posted;
      group.post(again, 2);
    }
  };
  group.post(again, 2);
  group.post(again, 2);
  for (int i = 0; i < 30; ++i) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      ::alarm(20);  // kills a child that hangs
      stops = true;
      const bool is_free = mutex.try_lock();
      mutex.unlock();
      int runs = 0;
      group.post([&] { ++runs; }, 2);
      finish(group);
      ::_exit(is_free && runs == 1 && group.size() == 0 ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << i;
  }
  stops = true;
  finish(group);
  EXPECT_GT(posted, 30);
}

}  // namespace
}  // namespace zarrcore::test::task_group_test
