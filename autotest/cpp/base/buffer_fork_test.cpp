// In a process of its own: nothing may have used large buffers before.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "zarrcore/base/buffer.h"

namespace zarrcore::test::buffer_fork_test {
namespace {

constexpr std::size_t kSize = std::size_t{2} << 20;

TEST(BufferFork, AChildCanAllocateWhileOtherThreadsUseBuffersForTheFirstTime) {
  std::atomic<bool> ends = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&ends] {
      while (!ends) Buffer buffer(kSize);
    });
  }
  for (int i = 0; i < 30; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(20);
      Buffer buffer(kSize);
      std::memset(buffer.data(), 7, kSize);
      ::_exit(buffer.span().back() == std::byte{7} ? 0 : 1);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    if (status != 0) break;  // the threads end first
  }
  ends = true;
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace zarrcore::test::buffer_fork_test
