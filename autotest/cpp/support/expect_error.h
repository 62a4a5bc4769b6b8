// EXPECT_ERROR(expression, parts…): the expression throws zarrcore::Error, and its message holds
// every part.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <string_view>

#include "zarrcore/base/error.h"

namespace zarrcore::test {

template <typename Body>
testing::AssertionResult throws_error(const Body& body,
                                      std::initializer_list<std::string_view> parts) {
  try {
    body();
  } catch (const Error& error) {
    const std::string_view message = error.what();
    for (const std::string_view part : parts) {
      if (message.find(part) == std::string_view::npos) {
        return testing::AssertionFailure() << '"' << message << "\" does not say \"" << part << '"';
      }
    }
    return testing::AssertionSuccess();
  }
  return testing::AssertionFailure() << "it does not throw";
}

}  // namespace zarrcore::test

#define EXPECT_ERROR(expression, ...) \
  EXPECT_TRUE(::zarrcore::test::throws_error([&] { static_cast<void>(expression); }, {__VA_ARGS__}))
