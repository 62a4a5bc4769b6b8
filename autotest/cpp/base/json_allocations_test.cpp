// JSON while memory runs out: each allocation fails once, and the failure is reported.
#include <gtest/gtest.h>

#include <cstdint>
#include <new>
#include <string>

#include "autotest/cpp/support/failing_allocations.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/json.h"

namespace zarrcore::test::json_allocations_test {
namespace {

std::string document() {
  std::string text = R"({"deep": )" + std::string(40, '[') + "1.10" + std::string(40, ']');
  for (int i = 0; i < 8; ++i) {
    text +=
        ", \"member " + std::to_string(i) + R"(": {"list": ["a text of some length", NaN, 1e400]})";
  }
  return text + "}";
}

TEST(JsonAllocations, EachMayFailWithoutEndingTheProcess) {
  const std::string text = document();
  const std::string expected = dump_json(parse_json(text), {.as_read = true});
  bool has_failed = true;
  std::uint64_t failures = 0;
  for (std::uint64_t number = 0; has_failed; number += kAllocationStep) {
    std::string written;
    fail_allocation_after(number);
    try {
      Json value = parse_json(text);
      Json copy = value;
      erase_members(copy, [](const std::string& name) { return name == "member 2"; });
      copy.erase("deep");
      written = dump_json(value, {.as_read = true});
    } catch (const Error&) {
      ++failures;
    } catch (const std::bad_alloc&) {
      ++failures;
    }
    has_failed = stop_failing_allocations();
    if (written.empty()) continue;
    ASSERT_EQ(written, expected);
  }
  EXPECT_GT(failures, 100U);
}

TEST(JsonAllocations, DestroyingAValueNeedsNone) {
  Json value = parse_json(document());
  fail_allocation_after(0);
  value = nullptr;
  EXPECT_FALSE(stop_failing_allocations());
}

}  // namespace
}  // namespace zarrcore::test::json_allocations_test
