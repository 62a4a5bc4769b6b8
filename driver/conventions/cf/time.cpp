#include "driver/conventions/cf/time.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <cstdio>
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
  if (const Months* months = uniform_months(calendar)) return uniform_days(date, *months);
  return leap_days(date, leap_rule(calendar, date < kReform));
}

Date date_of(std::int64_t days, Calendar calendar) {
  if (const Months* months = uniform_months(calendar)) return uniform_date(days, *months);
  const bool is_before_reform = days < leap_days(kReform, LeapRule::gregorian);
  return leap_date(days, leap_rule(calendar, is_before_reform));
}

constexpr std::string_view kSince = " since ";
constexpr std::int64_t kMicroseconds = 1'000'000;  // in a second
constexpr std::int64_t kDay = 86'400 * kMicroseconds;

// The average length of a year in the calendar; if its years differ in length, a tropical year.
double year_length(Calendar calendar) {
  const Months* months = uniform_months(calendar);
  return months != nullptr ? 1.0 * months->back() * kDay : 31'556'925.9747 * kMicroseconds;
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

// Reads numbers and words from the front of a text, in any locale.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  bool is_at_end() const { return text_.empty(); }

  void skip_spaces() { text_.remove_prefix(std::min(text_.find_first_not_of(' '), text_.size())); }

  bool take(char c) {
    if (text_.empty() || text_.front() != c) return false;
    text_.remove_prefix(1);
    return true;
  }

  template <typename Number>
  bool take(Number& number) {
    // Not "nan" of "nanoseconds".
    if (text_.empty() ||
        (std::isdigit(static_cast<unsigned char>(text_.front())) == 0 && text_.front() != '-')) {
      return false;
    }
    const char* begin = text_.data();
    const auto [stop, error] = std::from_chars(begin, begin + text_.size(), number);
    if (error != std::errc()) return false;
    text_.remove_prefix(static_cast<std::size_t>(stop - begin));
    return true;
  }

  std::string_view take_letters() {
    std::size_t count = 0;
    while (count < text_.size() && std::isalpha(static_cast<unsigned char>(text_[count])) != 0) {
      ++count;
    }
    const std::string_view letters = text_.substr(0, count);
    text_.remove_prefix(letters.size());
    return letters;
  }

  std::string_view take_word() {
    const std::string_view word = text_.substr(0, text_.find(' '));
    text_.remove_prefix(word.size());
    return word;
  }

 private:
  std::string_view text_;
};

bool take_date(Cursor& cursor, Date& date) {
  if (!cursor.take(date.year)) return false;
  if (cursor.take('-')) {
    if (!cursor.take(date.month)) return false;
    if (cursor.take('-') && !cursor.take(date.day)) return false;
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
bool take_clock(Cursor& cursor, std::int64_t& time) {
  unsigned hour = 0;
  unsigned minute = 0;
  double second = 0;
  time = 0;
  if (!cursor.take(hour)) return true;
  if (cursor.take(':') && (!cursor.take(minute) || (cursor.take(':') && !cursor.take(second)))) {
    return false;
  }
  if (hour > 24 || minute > 59 || !(second >= 0 && second < 61)) return false;
  time = (std::int64_t{hour} * 3600 + std::int64_t{minute} * 60) * kMicroseconds +
         std::llround(second * kMicroseconds);
  return true;
}

// "Z", "UTC", "UTC+1", "+1", "-1:30", "+0130": the microseconds that the zone is ahead of UTC. An
// absent zone is UTC.
bool take_zone(Cursor& cursor, std::int64_t& ahead) {
  ahead = 0;
  if (cursor.is_at_end()) return true;
  const std::string name = zarrcore::lower_case(cursor.take_letters());
  if (!name.empty() && name != "z" && name != "utc" && name != "gmt") return false;
  if (!name.empty()) cursor.skip_spaces();
  const bool is_west = cursor.take('-');
  if (!is_west && !cursor.take('+')) return !name.empty();
  unsigned hours = 0;
  unsigned minutes = 0;
  if (!cursor.take(hours) || (cursor.take(':') && !cursor.take(minutes))) return false;
  if (hours >= 100) {
    minutes = hours % 100;
    hours /= 100;
  }
  if (hours > 14 || minutes > 59) return false;
  ahead = (std::int64_t{hours} * 60 + minutes) * 60 * kMicroseconds;
  if (is_west) ahead = -ahead;
  return true;
}

// "1990-01-01", "1990-1-1 06:30:00.5", "1990-01-01T00:00:00Z", "… +1:30", as microseconds since the
// calendar's day 0.
std::optional<std::int64_t> parse_moment(std::string_view text, Calendar calendar) {
  Cursor cursor(text);
  cursor.skip_spaces();
  Date date;
  std::int64_t time = 0;
  std::int64_t ahead = 0;
  if (!take_date(cursor, date)) return std::nullopt;
  if (!cursor.take('T')) cursor.skip_spaces();
  if (!take_clock(cursor, time)) return std::nullopt;
  cursor.skip_spaces();
  if (!take_zone(cursor, ahead)) return std::nullopt;
  cursor.skip_spaces();
  if (!cursor.is_at_end()) return std::nullopt;
  return days_of(date, calendar) * kDay + time - ahead;
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
  const std::string before = zarrcore::lower_case(units.substr(0, since));
  Cursor cursor(before);
  cursor.skip_spaces();
  double count = 1;
  cursor.take(count);  // "10 seconds since …"
  cursor.skip_spaces();
  const auto length = unit_length(cursor.take_word(), *calendar);
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
