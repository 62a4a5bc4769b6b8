#include "driver/conventions/cf/time.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "driver/conventions/cf/attributes.h"
#include "zarrcore/base/text.h"

namespace gdal_zarr {
namespace {

// The calendars of the CF conventions (section 4.4.1,
// https://cfconventions.org/cf-conventions/cf-conventions.html#calendar): dates as days that are
// counted from a day of the calendar's own.
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

// Rounds towards negative infinity.
constexpr std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

// The first day of the Gregorian calendar, which follows the Julian 4 October.
constexpr Date kReform{1582, 10, 15};

// The rule that a calendar follows: the standard one has two.
Calendar rule_of(Calendar calendar, bool is_before_reform) {
  if (calendar != Calendar::standard) return calendar;
  return is_before_reform ? Calendar::julian : Calendar::proleptic_gregorian;
}

// The first day of a year. Days of the Julian calendar are counted so that its 4 October 1582 is
// the day before the Gregorian 15 October 1582.
std::int64_t year_start(std::int64_t year, Calendar rule) {
  const std::int64_t last = year - 1;
  const std::int64_t with_leap_days = 365 * year + floor_divide(last, 4);
  switch (rule) {
    case Calendar::noleap:
      return 365 * year;
    case Calendar::all_leap:
      return 366 * year;
    case Calendar::d360:
      return 360 * year;
    case Calendar::julian:
      return with_leap_days - 2;
    default:
      return with_leap_days - floor_divide(last, 100) + floor_divide(last, 400);
  }
}

// The days of a year before each month, and all of them.
using Months = std::array<int, 13>;

const Months& months_of(std::int64_t year, Calendar rule) {
  static constexpr Months kCommon{0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365};
  static constexpr Months kLeap{0, 31, 60, 91, 121, 152, 182, 213, 244, 274, 305, 335, 366};
  static constexpr Months kThirties{0, 30, 60, 90, 120, 150, 180, 210, 240, 270, 300, 330, 360};
  const std::int64_t length = year_start(year + 1, rule) - year_start(year, rule);
  return length == kThirties.back() ? kThirties : length == kLeap.back() ? kLeap : kCommon;
}

// Finds a calendar by CF's name, in any case; an empty name means the standard calendar. Empty for
// unknown names.
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

// The day of a date, and the inverse. Two days of one calendar are as far apart as they differ.
std::int64_t days_of(const Date& date, Calendar calendar) {
  const Calendar rule = rule_of(calendar, date < kReform);
  const Months& months = months_of(date.year, rule);
  return year_start(date.year, rule) + months[static_cast<std::size_t>(date.month - 1)] + date.day -
         1;
}

Date date_of(std::int64_t days, Calendar calendar) {
  const Calendar rule = rule_of(calendar, days < days_of(kReform, Calendar::proleptic_gregorian));
  // The years of a calendar repeat after 400 or less.
  std::int64_t year = floor_divide(days * 400, year_start(400, rule) - year_start(0, rule));
  while (year_start(year, rule) > days) --year;
  while (year_start(year + 1, rule) <= days) ++year;
  const Months& months = months_of(year, rule);
  const auto day = static_cast<int>(days - year_start(year, rule));
  const auto month = static_cast<std::size_t>(std::upper_bound(months.begin(), months.end(), day) -
                                              months.begin());
  return {year, static_cast<int>(month), day - months[month - 1] + 1};
}

constexpr std::string_view kSince = " since ";
constexpr std::int64_t kMicroseconds = 1'000'000;  // in a second
constexpr std::int64_t kDay = 86'400 * kMicroseconds;

// The average length of a year in the calendar; if its years differ in length, a tropical year.
double year_length(Calendar calendar) {
  const bool has_leap_years = calendar == Calendar::standard || calendar == Calendar::julian ||
                              calendar == Calendar::proleptic_gregorian;
  return has_leap_years ? 31'556'925.9747 * kMicroseconds
                        : 1.0 * months_of(0, calendar).back() * kDay;
}

// The length of a unit in microseconds, by UDUNITS' names.
std::optional<double> unit_length(std::string_view unit, Calendar calendar) {
  struct Unit {
    std::string_view words;
    double microseconds;
  };
  constexpr double kSecond = kMicroseconds;
  const double year = year_length(calendar);
  const Unit units[] = {{"nanosecond ns", 1e-3},
                        {"microsecond us", 1},
                        {"millisecond ms msec", 1e3},
                        {"second s sec", kSecond},
                        {"minute min", 60 * kSecond},
                        {"hour h hr", 3600 * kSecond},
                        {"day d", kDay},
                        {"week", 7.0 * kDay},
                        {"month", year / 12},
                        {"year", year},
                        {"common_year", 365.0 * kDay}};
  // Words of more than two letters have a plural.
  if (unit.size() > 2 && unit.ends_with('s')) unit.remove_suffix(1);
  for (const Unit& known : units) {
    if (cf::is_word_of(known.words, unit)) return known.microseconds;
  }
  return std::nullopt;
}

// Functions that read from the front of a text, in any locale.

bool take(std::string_view& text, char c) {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

template <typename Number>
bool take(std::string_view& text, Number& number) {
  // Not "nan" of "nanoseconds".
  const bool may_be_number = text.find_first_of("-0123456789") == 0;
  const auto read = may_be_number ? zarrcore::take_number<Number>(text) : std::nullopt;
  if (read) number = *read;
  return read.has_value();
}

bool take_date(std::string_view& text, Date& date) {
  if (!take(text, date.year)) return false;
  if (take(text, '-')) {
    if (!take(text, date.month)) return false;
    if (take(text, '-') && !take(text, date.day)) return false;
  } else if (date.year >= 1000'01'01) {  // "20000131"
    date.day = static_cast<int>(date.year % 100);
    date.month = static_cast<int>(date.year / 100 % 100);
    date.year /= 10'000;
  }
  constexpr std::int64_t kMaxYear = 200'000;  // its microseconds fit int64
  return date.year >= -kMaxYear && date.year <= kMaxYear && date.month >= 1 && date.month <= 12 &&
         date.day >= 1 && date.day <= 31;
}

// "06", "06:30", "06:30:00.5", as microseconds. An absent time is midnight.
bool take_clock(std::string_view& text, std::int64_t& time) {
  unsigned hour = 0;
  unsigned minute = 0;
  double second = 0;
  time = 0;
  if (!take(text, hour)) return true;
  if (take(text, ':') && (!take(text, minute) || (take(text, ':') && !take(text, second)))) {
    return false;
  }
  if (hour > 24 || minute > 59 || !(second >= 0 && second < 61)) return false;
  time = (std::int64_t{hour} * 3600 + std::int64_t{minute} * 60) * kMicroseconds +
         std::llround(second * kMicroseconds);
  return true;
}

// "Z", "UTC", "UTC+1", "+1", "-1:30", "+0130": the microseconds by which the zone differs from UTC.
// An absent zone is UTC.
bool take_zone(std::string_view& text, std::int64_t& shift) {
  shift = 0;
  if (text.empty()) return true;
  std::size_t length = 0;
  while (length < text.size() && std::isalpha(static_cast<unsigned char>(text[length])) != 0) {
    ++length;
  }
  const std::string name = zarrcore::lower_case(text.substr(0, length));
  text.remove_prefix(length);
  if (!name.empty() && name != "z" && name != "utc" && name != "gmt") return false;
  if (!name.empty()) cf::skip_spaces(text);
  const bool is_west = take(text, '-');
  if (!is_west && !take(text, '+')) return !name.empty();
  unsigned hours = 0;
  unsigned minutes = 0;
  if (!take(text, hours) || (take(text, ':') && !take(text, minutes))) return false;
  if (hours >= 100) {
    minutes = hours % 100;
    hours /= 100;
  }
  if (hours > 14 || minutes > 59) return false;
  shift = (std::int64_t{hours} * 60 + minutes) * 60 * kMicroseconds;
  if (is_west) shift = -shift;
  return true;
}

// "1990-01-01", "1990-1-1 06:30:00.5", "1990-01-01T00:00:00Z", "… +1:30", as microseconds since the
// calendar's day 0.
std::optional<std::int64_t> parse_moment(std::string_view text, Calendar calendar) {
  cf::skip_spaces(text);
  Date date;
  std::int64_t time = 0;
  std::int64_t shift = 0;
  if (!take_date(text, date)) return std::nullopt;
  if (!take(text, 'T')) cf::skip_spaces(text);
  if (!take_clock(text, time)) return std::nullopt;
  cf::skip_spaces(text);
  if (!take_zone(text, shift)) return std::nullopt;
  cf::skip_spaces(text);
  if (!text.empty()) return std::nullopt;
  return days_of(date, calendar) * kDay + time - shift;
}

std::string format_moment(std::int64_t moment, Calendar calendar) {
  const std::int64_t days = floor_divide(moment, kDay);
  const Date date = date_of(days, calendar);
  const std::int64_t rest = moment - days * kDay;
  const std::int64_t seconds = rest / kMicroseconds;
  const auto fraction = static_cast<int>(rest % kMicroseconds);
  char text[64];
  std::snprintf(text, sizeof(text), "%s%04lld-%02d-%02dT%02d:%02d:%02d", date.year < 0 ? "-" : "",
                static_cast<long long>(std::abs(date.year)), date.month, date.day,
                static_cast<int>(seconds / 3600), static_cast<int>(seconds / 60 % 60),
                static_cast<int>(seconds % 60));
  std::string result = text;
  if (fraction != 0) {
    std::snprintf(text, sizeof(text), ".%06d", fraction);
    result += text;
    result.resize(zarrcore::without_trailing(result, '0').size());
  }
  return result + 'Z';
}

}  // namespace

bool is_time_unit(const std::string& units) {
  return zarrcore::lower_case(units).find(kSince) != std::string::npos;
}

std::optional<std::string> iso_time(double value, const std::string& units,
                                    const std::string& calendar_name) {
  const auto calendar = find_calendar(calendar_name);
  const auto since = zarrcore::lower_case(units).find(kSince);
  if (!calendar || since == std::string::npos || !std::isfinite(value)) return std::nullopt;
  const std::string lower_units = zarrcore::lower_case(units.substr(0, since));
  std::string_view unit = lower_units;
  cf::skip_spaces(unit);
  double count = 1;
  take(unit, count);  // "10 seconds since …"
  cf::skip_spaces(unit);
  const auto length = unit_length(unit.substr(0, unit.find(' ')), *calendar);
  const auto origin =
      parse_moment(std::string_view(units).substr(since + kSince.size()), *calendar);
  if (!length || !origin) return std::nullopt;
  const double offset = value * count * *length;
  // Dates beyond that are meaningless, and int64 ends soon after.
  constexpr double kLimit = 4e18;
  if (!(std::abs(offset) + std::abs(static_cast<double>(*origin)) < kLimit)) return std::nullopt;
  // A double has enough digits for microseconds of today, but fractions of days are rounded.
  std::int64_t moment = *origin + std::llround(offset);
  const std::int64_t near_second = floor_divide(moment + kMicroseconds / 2, kMicroseconds);
  if (*length > kMicroseconds && std::abs(moment - near_second * kMicroseconds) < 1000) {
    moment = near_second * kMicroseconds;
  }
  return format_moment(moment, *calendar);
}

}  // namespace gdal_zarr
