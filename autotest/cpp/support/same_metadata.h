// Comparing models in tests.
#pragma once

#include <gtest/gtest.h>

#include "autotest/cpp/support/model_difference.h"

namespace zarrcore::test {

inline void expect_same(const ArrayMetadata& a, const ArrayMetadata& b) {
  EXPECT_EQ(model_difference(a, b), "");
}

inline void expect_same(const GroupMetadata& a, const GroupMetadata& b) {
  EXPECT_EQ(model_difference(a, b), "");
}

}  // namespace zarrcore::test
