#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <vector>

#include "zarrcore/base/buffer.h"

namespace zarrcore::test::buffer_memory_test {
namespace {

constexpr std::size_t kMegabyte = std::size_t{1} << 20;

Buffer filled(std::size_t size, int value) {
  Buffer buffer(size);
  std::memset(buffer.data(), value, size);
  return buffer;
}

bool has_only(const Buffer& buffer, int value) {
  for (const std::byte byte : buffer.span()) {
    if (byte != static_cast<std::byte>(value)) return false;
  }
  return true;
}

TEST(BufferMemory, BuffersOfAllSizesAreApart) {
  std::vector<Buffer> buffers;
  for (int round = 0; round < 3; ++round) {
    for (const std::size_t size :
         {std::size_t{0}, std::size_t{1}, kMegabyte - 1, kMegabyte, kMegabyte + 1, 2 * kMegabyte,
          2 * kMegabyte + 4097, 5 * kMegabyte - 1, 7 * kMegabyte}) {
      for (int copy = 0; copy < 2; ++copy) {
        buffers.push_back(filled(size, static_cast<int>(buffers.size())));
      }
    }
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      EXPECT_TRUE(has_only(buffers[i], static_cast<int>(i))) << i;
    }
    buffers.clear();
  }
}

TEST(BufferMemory, OneThatIsShrunkKeepsItsBytes) {
  Buffer buffer = filled(6 * kMegabyte, 9);
  buffer.truncate(3 * kMegabyte);
  EXPECT_EQ(buffer.capacity(), 6 * kMegabyte);
  buffer.shrink_to_fit();
  EXPECT_EQ(buffer.capacity(), 3 * kMegabyte);
  EXPECT_TRUE(has_only(buffer, 9));
  const Buffer moved = std::move(buffer);
  EXPECT_TRUE(has_only(moved, 9));
}

#ifdef __linux__
std::size_t resident_megabytes() {
  std::size_t all = 0;
  std::size_t resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) / kMegabyte;
}

TEST(BufferMemory, LittleOfWhatIsFreedIsKept) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers take memory of their own";
#endif
  const std::size_t before = resident_megabytes();
  {
    std::vector<Buffer> buffers;
    for (std::size_t i = 0; i < 100; ++i) buffers.push_back(filled(3 * kMegabyte + i * 4096, 1));
    EXPECT_GT(resident_megabytes(), before + 250);
  }
  EXPECT_LT(resident_megabytes(), before + 50);
  return_free_memory();
  EXPECT_LT(resident_megabytes(), before + 20);
}
#endif

}  // namespace
}  // namespace zarrcore::test::buffer_memory_test
