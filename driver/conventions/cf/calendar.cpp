#include "driver/conventions/cf/calendar.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "zarrcore/base/text.h"

namespace gdal_zarr::cf {
namespace {

// The first day of the Gregorian calendar, which follows the Julian 4 October.
constexpr Date kReform{1582, 10, 15};

// The day, counted from 0, in the year that begins in March, so that the leap day is its last day.
// A month then begins (153 m + 2) / 5 days after the year.
std::int64_t march_days(const Date& date, std::int64_t& year) {
  const int month = date.month > 2 ? date.month - 3 : date.month + 9;
  year = date.month > 2 ? date.year : date.year - 1;
  return (153 * month + 2) / 5 + date.day - 1;
}

Date from_march_days(std::int64_t year, std::int64_t day) {
  const auto month = static_cast<int>((5 * day + 2) / 153);
  Date date;
  date.day = static_cast<int>(day - (153 * month + 2) / 5 + 1);
  date.month = month < 10 ? month + 3 : month - 9;
  date.year = month < 10 ? year : year + 1;
  return date;
}

enum class LeapRule : std::uint8_t { gregorian, julian };

// The first day of the year that begins in March of `year`. Days of the Julian calendar are counted
// so that its 4 October 1582 is the day before the Gregorian 15 October 1582.
std::int64_t year_start(std::int64_t year, LeapRule rule) {
  const std::int64_t start = 365 * year + floor_divide(year, 4);
  if (rule == LeapRule::julian) return start - 2;
  return start - floor_divide(year, 100) + floor_divide(year, 400);
}

std::int64_t leap_days(const Date& date, LeapRule rule) {
  std::int64_t year = 0;
  const std::int64_t day = march_days(date, year);
  return year_start(year, rule) + day;
}

Date leap_date(std::int64_t days, LeapRule rule) {
  std::int64_t year = floor_divide(days * 400, 146'097);
  while (year_start(year, rule) > days) --year;
  while (year_start(year + 1, rule) <= days) ++year;
  return from_march_days(year, days - year_start(year, rule));
}

// The days before each month, and the days of the year.
using Months = std::array<int, 13>;

// The months of a calendar without leap years; null for others.
const Months* uniform_months(Calendar calendar) {
  static constexpr Months kNoLeap{0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365};
  static constexpr Months kAllLeap{0, 31, 60, 91, 121, 152, 182, 213, 244, 274, 305, 335, 366};
  static constexpr Months kThirties{0, 30, 60, 90, 120, 150, 180, 210, 240, 270, 300, 330, 360};
  switch (calendar) {
    case Calendar::noleap:
      return &kNoLeap;
    case Calendar::all_leap:
      return &kAllLeap;
    case Calendar::d360:
      return &kThirties;
    default:
      return nullptr;
  }
}

std::int64_t uniform_days(const Date& date, const Months& months) {
  return date.year * months.back() + months[static_cast<std::size_t>(date.month - 1)] + date.day -
         1;
}

Date uniform_date(std::int64_t days, const Months& months) {
  const std::int64_t year = floor_divide(days, months.back());
  const auto day = static_cast<int>(days - year * months.back());
  const auto next = std::upper_bound(months.begin(), months.end(), day);
  const auto month = static_cast<int>(next - months.begin());
  return {year, month, day - *(next - 1) + 1};
}

LeapRule leap_rule(Calendar calendar, bool is_before_reform) {
  const bool is_julian =
      calendar == Calendar::julian || (calendar == Calendar::standard && is_before_reform);
  return is_julian ? LeapRule::julian : LeapRule::gregorian;
}

}  // namespace

std::optional<Calendar> find_calendar(const std::string& name) {
  static constexpr std::array<std::pair<std::string_view, Calendar>, 10> kNames{{
      {"", Calendar::standard},
      {"standard", Calendar::standard},
      {"gregorian", Calendar::standard},
      {"proleptic_gregorian", Calendar::proleptic_gregorian},
      {"julian", Calendar::julian},
      {"noleap", Calendar::noleap},
      {"365_day", Calendar::noleap},
      {"all_leap", Calendar::all_leap},
      {"366_day", Calendar::all_leap},
      {"360_day", Calendar::d360},
  }};
  const std::string wanted = zarrcore::lower_case(name);
  for (const auto& [known, calendar] : kNames) {
    if (wanted == known) return calendar;
  }
  return std::nullopt;
}

std::int64_t days_of(const Date& date, Calendar calendar) {
  if (const Months* months = uniform_months(calendar)) return uniform_days(date, *months);
  return leap_days(date, leap_rule(calendar, date < kReform));
}

Date date_of(std::int64_t days, Calendar calendar) {
  if (const Months* months = uniform_months(calendar)) return uniform_date(days, *months);
  const bool is_before_reform = days < leap_days(kReform, LeapRule::gregorian);
  return leap_date(days, leap_rule(calendar, is_before_reform));
}

}  // namespace gdal_zarr::cf
