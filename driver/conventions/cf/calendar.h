// The calendars of the CF conventions (section 4.4.1,
// https://cfconventions.org/cf-conventions/cf-conventions.html#calendar): dates as days that are
// counted from a day of the calendar's own.
//
//   calendar = "360_day"
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>

namespace gdal_zarr::cf {

enum class Calendar : std::uint8_t {
  standard,
  proleptic_gregorian,
  julian,
  noleap,
  all_leap,
  d360
};

struct Date {
  std::int64_t year = 0;
  int month = 1;
  int day = 1;

  bool operator<(const Date& other) const {
    return std::tie(year, month, day) < std::tie(other.year, other.month, other.day);
  }
};

// By CF's name, in any case; an empty name means the standard calendar. Empty for unknown names.
std::optional<Calendar> find_calendar(const std::string& name);

// The day of a date, and the inverse. Two days of one calendar are as far apart as they differ.
std::int64_t days_of(const Date& date, Calendar calendar);
Date date_of(std::int64_t days, Calendar calendar);

// Rounds towards negative infinity.
constexpr std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

}  // namespace gdal_zarr::cf
