// Processes that fork while other threads use the same arrays.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "autotest/cpp/support/bytes.h"
#include "autotest/cpp/support/night.h"
#include "autotest/cpp/support/process.h"
#include "autotest/cpp/support/stored_array.h"
#include "zarrcore/base/process.h"
#include "zarrcore/store/memory_store.h"

namespace zarrcore::test::forks_test {
namespace {

const int kForks = rounds(40, 400);

// Calls `work` on threads of its own until it ends.
class Threads {
 public:
  template <typename Work>
  Threads(int count, const Work& work) {
    for (int i = 0; i < count; ++i) {
      threads_.emplace_back([this, i, work] {
        while (!ends_) work(i);
      });
    }
  }
  ~Threads() {
    ends_ = true;
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  std::atomic<bool> ends_ = false;
  std::vector<std::thread> threads_;
};

TEST(Forks, AForkedChildReadsWhatThreadsOfItsParentWereReading) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "GCC 12's ASan forks while other threads hold locks of its allocator";
#endif
  const Shape shape{256, 256};
  Random random(3);
  const Bytes values = random_bytes(random, 256 * 256);
  const auto store = std::make_shared<MemoryStore>();
  const Json document =
      array_document(shape, {8, 8}, "\"uint8\"", codec_list({bytes_codec(), codec("zstd")}));
  write_array(*store, "", document, values);
  const auto array = open_array(store);
  const auto row = [](std::uint64_t at) { return Selection{{at, 0}, {1, 256}, {1, 1}}; };
  const Threads threads(3, [&](int thread) {
    thread_local auto at = static_cast<std::uint64_t>(thread);
    read(*array, row(at++ % 256));
  });
  for (int i = 0; i < kForks; ++i) {
    ChildProcess child([&] {
      ::alarm(20);
      for (std::uint64_t at = 0; at < 256; at += 50) {
        const Bytes expected(values.begin() + at * 256, values.begin() + (at + 1) * 256);
        if (read(*array, row(at)) != expected) ::_exit(2);
      }
    });
    ASSERT_EQ(child.wait(), 0) << "fork " << i;
  }
}

// Which the threads lock in different orders, make and destroy.
TEST(Forks, NoOtherThreadHasAForkMutexInAChild) {
  ForkMutex first;
  ForkMutex second;
  const Threads threads(3, [&](int thread) {
    const std::scoped_lock both(thread == 0 ? first : second, thread == 0 ? second : first);
    ForkMutex third;
    const std::lock_guard lock(third);
  });
  for (int i = 0; i < kForks; ++i) {
    ChildProcess child([&] {
      ::alarm(20);
      const std::scoped_lock both(first, second);
      ForkMutex third;
    });
    ASSERT_EQ(child.wait(), 0) << "fork " << i;
  }
}

}  // namespace
}  // namespace zarrcore::test::forks_test
