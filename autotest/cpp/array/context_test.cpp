// What the memory of buffers that come and go costs.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstring>

#include "zarrcore/array/array.h"

namespace zarrcore::test::context_test {
namespace {

// Pages that the system has cleared for this process.
long page_count() {
  struct rusage usage;
  EXPECT_EQ(::getrusage(RUSAGE_SELF, &usage), 0);
  return usage.ru_minflt;
}

// What encoding a chunk takes.
void use_chunk() {
  constexpr std::size_t kSize = 2 << 20;
  Buffer decoded(kSize);
  std::memset(decoded.data(), 1, kSize);
  Buffer encoded(kSize + 16);
  std::memset(encoded.data(), 2, kSize + 16);
  decoded = {};
  Buffer half(kSize / 2);
  std::memset(half.data(), 3, kSize / 2);
}

TEST(Context, LargeBuffersGetTheMemoryOfThoseBefore) {
#if !defined(__GLIBC__) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "another allocator than glibc's";
#endif
  const Context context;
  use_chunk();
  const long before = page_count();
  for (int i = 0; i < 100; ++i) use_chunk();
  EXPECT_LT(page_count() - before, 1000);  // one chunk has 512 of 4 KiB
}

}  // namespace
}  // namespace zarrcore::test::context_test
