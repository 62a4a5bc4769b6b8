#include <gtest/gtest.h>

#include <optional>

#include "zarrcore/store/requests.h"

namespace zarrcore::test::request_statistics_test {
namespace {

TEST(RequestStatistics, RequestsOneAfterTheOtherAreRoundTrips) {
  RequestStatistics statistics;
  for (int i = 0; i < 3; ++i) {
    CountedRequest request(&statistics);
    request.add_bytes(10);
  }
  EXPECT_EQ(statistics.counts().requests, 3U);
  EXPECT_EQ(statistics.counts().round_trips, 3U);
  EXPECT_EQ(statistics.counts().bytes, 30U);
}

TEST(RequestStatistics, RequestsTogetherAreOneRoundTrip) {
  RequestStatistics statistics;
  std::optional<CountedRequest> first(&statistics);
  std::optional<CountedRequest> second(&statistics);
  std::optional<CountedRequest> third(&statistics);
  second.reset();
  // It waited for the second alone.
  second.emplace(&statistics);
  first.reset();
  third.reset();
  EXPECT_EQ(statistics.counts().round_trips, 1U);
  second.reset();
  EXPECT_EQ(statistics.counts().round_trips, 2U);
  EXPECT_EQ(statistics.counts().requests, 4U);
}

}  // namespace
}  // namespace zarrcore::test::request_statistics_test
