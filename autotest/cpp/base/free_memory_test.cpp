// What the memory of buffers that come and go costs.
#include "zarrcore/base/free_memory.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstring>

#include "zarrcore/base/buffer.h"

namespace zarrcore::test {
namespace {

// Pages that the system has cleared for this process.
long page_count() {
  struct rusage usage;
  EXPECT_EQ(::getrusage(RUSAGE_SELF, &usage), 0);
  return usage.ru_minflt;
}

void use_chunk(std::size_t size) {
  Buffer decoded(size);
  std::memset(decoded.data(), 1, size);
  Buffer encoded(size + 16);
  std::memset(encoded.data(), 2, size + 16);
  decoded = {};
  Buffer half(size / 2);
  std::memset(half.data(), 3, size / 2);
}

TEST(FreeMemory, IsUsedAgainByTheNextBuffers) {
#if !defined(__GLIBC__) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "another allocator than glibc's";
#endif
  expect_large_buffers();
  constexpr std::size_t kChunk = 2 << 20;
  use_chunk(kChunk);
  const long before = page_count();
  for (int i = 0; i < 100; ++i) use_chunk(kChunk);
  EXPECT_LT(page_count() - before, 1000);  // of 4 KiB; one chunk has 512
}

TEST(FreeMemory, IsReturnedWhenThatIsAskedFor) {
#if !defined(__GLIBC__) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "another allocator than glibc's";
#endif
  expect_large_buffers();
  constexpr std::size_t kChunk = 2 << 20;
  use_chunk(kChunk);
  return_free_memory();
  const long before = page_count();
  use_chunk(kChunk);
  EXPECT_GT(page_count() - before, 500);
}

}  // namespace
}  // namespace zarrcore::test
