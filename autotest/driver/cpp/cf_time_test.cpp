// The expected times are from the Python package cftime.
#include <gtest/gtest.h>

#include <limits>

#include "driver/conventions/cf/time.h"

namespace gdal_zarr::test::cf_time_test {
namespace {

std::string time_of(double value, const std::string& units, const std::string& calendar = "") {
  return iso_time(value, units, calendar).value_or("none");
}

TEST(CfTime, UnitsAreThoseOfUdunits) {
  for (const auto& [value, unit] :
       std::initializer_list<std::pair<double, const char*>>{{30.25, "days"},
                                                             {30.25, "Days"},
                                                             {726, "hours"},
                                                             {726, "h"},
                                                             {43560, "minutes"},
                                                             {2613600, "seconds"},
                                                             {2613600e3, "milliseconds"},
                                                             {2613600e6, "microseconds"},
                                                             {2613600e9, "nanoseconds"},
                                                             {261360, "10 seconds"}}) {
    EXPECT_EQ(time_of(value, std::string(unit) + " since 2000-01-01"), "2000-01-31T06:00:00Z")
        << unit;
  }
  EXPECT_EQ(time_of(12, "months since 2000-01-01"), "2000-12-31T05:48:45.9747Z");
}

TEST(CfTime, MomentsAreSpelledInManyWays) {
  for (const char* moment :
       {"1990-01-02 03:04:05", "1990-1-2 3:4:5", "1990-01-02T03:04:05Z", "1990-01-02 03:04:05 UTC",
        "1990-01-02 04:34:05 +1:30", "1990-01-02 01:04:05-2", "1990-01-02 04:34:05 +0130",
        " 1990-01-02  03:04:05.000"}) {
    EXPECT_EQ(time_of(0, "days since " + std::string(moment)), "1990-01-02T03:04:05Z") << moment;
  }
  EXPECT_EQ(time_of(0, "days since 1990-01-02 03"), "1990-01-02T03:00:00Z");
  EXPECT_EQ(time_of(0.5, "seconds since 1990-01-02"), "1990-01-02T00:00:00.5Z");
}

TEST(CfTime, EveryCalendarHasItsOwnYears) {
  const std::string units = "days since 2000-02-28";
  EXPECT_EQ(time_of(1, units, "standard"), "2000-02-29T00:00:00Z");
  EXPECT_EQ(time_of(1, units, "noleap"), "2000-03-01T00:00:00Z");
  EXPECT_EQ(time_of(1, "days since 2001-02-28", "all_leap"), "2001-02-29T00:00:00Z");
  EXPECT_EQ(time_of(2, units, "360_day"), "2000-02-30T00:00:00Z");
  EXPECT_EQ(time_of(365, "days since 1850-01-01", "365_day"), "1851-01-01T00:00:00Z");
  EXPECT_EQ(time_of(0, "days since 1900-02-29", "julian"), "1900-02-29T00:00:00Z");
  EXPECT_EQ(time_of(-1, "days since 2000-01-01", "360_day"), "1999-12-30T00:00:00Z");
}

TEST(CfTime, TheStandardCalendarIsReformedIn1582) {
  EXPECT_EQ(time_of(1, "days since 1582-10-04", "standard"), "1582-10-15T00:00:00Z");
  EXPECT_EQ(time_of(-1, "days since 1582-10-15", "gregorian"), "1582-10-04T00:00:00Z");
  EXPECT_EQ(time_of(1, "days since 1582-10-04", "proleptic_gregorian"), "1582-10-05T00:00:00Z");
  EXPECT_EQ(time_of(693961, "days since 0001-01-01", "standard"), "1900-12-31T00:00:00Z");
  EXPECT_EQ(time_of(693960, "days since 0001-01-01", "proleptic_gregorian"),
            "1901-01-01T00:00:00Z");
}

TEST(CfTime, FractionsOfDaysAreRoundedToTheSecondThatTheyMean) {
  EXPECT_EQ(time_of(1.0 / 3, "days since 2000-01-01"), "2000-01-01T08:00:00Z");
  EXPECT_EQ(time_of(56978.041666666664, "days since 1858-11-17"), "2014-11-17T01:00:00Z");
}

TEST(CfTime, WhatIsNoTimeIsNone) {
  for (const char* units :
       {"", "days", "days since", "days since yesterday", "fortnights since 2000-01-01",
        "days since 2000-13-01", "days since 2000-01-32", "days since 2000-01-01 25:00",
        "days since 2000-01-01 00:61", "days since 2000-01-01 00:00:00 CET",
        "days since 2000-01-01 00:00 +99", "days since 99999999999-01-01", "K"}) {
    EXPECT_EQ(time_of(0, units), "none") << units;
  }
  for (const char* calendar : {"standard", "360_day"}) {
    EXPECT_EQ(time_of(0, "days since 1000000-01-01", calendar), "none");
    EXPECT_EQ(time_of(0, "days since -1000000-01-01", calendar), "none");
  }
  EXPECT_EQ(time_of(0, "days since 2000-01-01", "maya"), "none");
  EXPECT_EQ(time_of(std::numeric_limits<double>::quiet_NaN(), "days since 2000-01-01"), "none");
  EXPECT_EQ(time_of(1e300, "days since 2000-01-01"), "none");
}

}  // namespace
}  // namespace gdal_zarr::test::cf_time_test
