// Waiting for other threads in tests.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <thread>

namespace zarrcore::test {

// Fails if the condition does not become true in twenty seconds.
inline void wait_until(const std::function<bool()>& condition) {
  for (int i = 0; i < 20'000 && !condition(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ASSERT_TRUE(condition());
}

}  // namespace zarrcore::test
