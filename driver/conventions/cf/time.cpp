#include "driver/conventions/cf/time.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string_view>

#include "driver/conventions/cf/calendar.h"
#include "zarrcore/base/text.h"

namespace gdal_zarr {
namespace {

using cf::Calendar;
using cf::Date;
using cf::floor_divide;

constexpr std::string_view kSince = " since ";
constexpr std::int64_t kMicroseconds = 1'000'000;  // in a second
constexpr std::int64_t kDay = 86'400 * kMicroseconds;

// A year is that of the calendar; where its years differ, a tropical year.
double year_length(Calendar calendar) {
  switch (calendar) {
    case Calendar::d360:
      return 360.0 * kDay;
    case Calendar::noleap:
      return 365.0 * kDay;
    case Calendar::all_leap:
      return 366.0 * kDay;
    default:
      return 31'556'925.9747 * kMicroseconds;
  }
}

// The length of a unit in microseconds, by UDUNITS' names.
std::optional<double> unit_length(std::string_view unit, Calendar calendar) {
  struct Unit {
    std::string_view name;
    double microseconds;
  };
  constexpr double kSecond = kMicroseconds;
  const double year = year_length(calendar);
  const std::array<Unit, 35> units{{
      {"nanosecond", 1e-3},
      {"nanoseconds", 1e-3},
      {"ns", 1e-3},
      {"microsecond", 1},
      {"microseconds", 1},
      {"us", 1},
      {"millisecond", 1e3},
      {"milliseconds", 1e3},
      {"ms", 1e3},
      {"msec", 1e3},
      {"second", kSecond},
      {"seconds", kSecond},
      {"s", kSecond},
      {"sec", kSecond},
      {"secs", kSecond},
      {"minute", 60 * kSecond},
      {"minutes", 60 * kSecond},
      {"min", 60 * kSecond},
      {"mins", 60 * kSecond},
      {"hour", 3600 * kSecond},
      {"hours", 3600 * kSecond},
      {"h", 3600 * kSecond},
      {"hr", 3600 * kSecond},
      {"hrs", 3600 * kSecond},
      {"day", kDay},
      {"days", kDay},
      {"d", kDay},
      {"week", 7.0 * kDay},
      {"weeks", 7.0 * kDay},
      {"month", year / 12},
      {"months", year / 12},
      {"year", year},
      {"years", year},
      {"common_year", 365.0 * kDay},
      {"common_years", 365.0 * kDay},
  }};
  for (const Unit& known : units) {
    if (unit == known.name) return known.microseconds;
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
  return cf::days_of(date, calendar) * kDay + time - ahead;
}

std::string format_moment(std::int64_t moment, Calendar calendar) {
  const std::int64_t days = floor_divide(moment, kDay);
  const Date date = cf::date_of(days, calendar);
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
  const auto calendar = cf::find_calendar(calendar_name);
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
