#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "zarrcore/base/process.h"

namespace zarrcore::test::thread_object_test {
namespace {

class Marked {
 public:
  Marked() : mark_(kMark), memory_(std::make_unique<std::uint64_t>(kMark)) { ++made; }
  ~Marked() {
    // If the memory of this object were free, one of these would get it.
    std::vector<std::vector<std::byte>> others;
    for (std::size_t i = 0; i < 2000; ++i) others.emplace_back(8 + i % 10 * 8, std::byte{0xaa});
    if (mark_ == kMark && *memory_ == kMark) ++intact;
    mark_ = 0;
  }
  Marked(const Marked&) = delete;
  Marked& operator=(const Marked&) = delete;

  int number = 0;
  static inline std::atomic<int> made = 0;
  static inline std::atomic<int> intact = 0;

 private:
  static constexpr std::uint64_t kMark = 0x6d61726b;
  std::uint64_t mark_;
  std::unique_ptr<std::uint64_t> memory_;
};

TEST(ThreadObject, EachThreadHasItsOwnUntilItEnds) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 50;
  const int made = Marked::made;
  const int intact = Marked::intact;
  std::atomic<int> kept = 0;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&kept, i] {
        Marked& object = thread_object<Marked>();
        if (object.number != 0) return;
        object.number = i + 1;
        std::this_thread::yield();
        if (&thread_object<Marked>() == &object && object.number == i + 1) ++kept;
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_EQ(kept, kThreads * kRounds);
  EXPECT_EQ(Marked::made - made, kThreads * kRounds);
  EXPECT_EQ(Marked::intact - intact, kThreads * kRounds);
}

TEST(ThreadObject, TypesHaveObjectsOfTheirOwn) {
  struct One {
    int number = 1;
  };
  struct Two {
    int number = 2;
  };
  thread_object<One>().number = 3;
  EXPECT_EQ(thread_object<Two>().number, 2);
  EXPECT_EQ(thread_object<One>().number, 3);
}

}  // namespace
}  // namespace zarrcore::test::thread_object_test
