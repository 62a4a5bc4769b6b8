#include "driver/virtual/time_pattern.h"

#include <algorithm>
#include <chrono>
#include <iterator>

#include "zarrcore/base/error.h"
#include "zarrcore/base/text.h"

namespace gdal_zarr {
namespace {

using zarrcore::is_digit;

struct DateParts {
  std::int64_t year = 1970;
  std::int64_t month = 1;
  std::int64_t day = 1;
  std::int64_t day_of_year = -1;  // negative if it is not given
  std::int64_t hour = 0;
  std::int64_t minute = 0;
  std::int64_t second = 0;
  std::int64_t epoch = 0;  // seconds
  std::int64_t short_year = -1;
};

struct Code {
  char name;
  std::size_t digits;
  std::int64_t DateParts::* part;
};
constexpr Code kCodes[] = {
    {'Y', 4, &DateParts::year},   {'y', 2, &DateParts::short_year},  {'m', 2, &DateParts::month},
    {'d', 2, &DateParts::day},    {'j', 3, &DateParts::day_of_year}, {'H', 2, &DateParts::hour},
    {'M', 2, &DateParts::minute}, {'S', 2, &DateParts::second},      {'s', 12, &DateParts::epoch}};

const Code& find_code(char name) {
  const auto* found = std::ranges::find(kCodes, name, &Code::name);
  if (found != std::end(kCodes)) return *found;
  throw zarrcore::Error(std::string("the time pattern has the unknown code %") + name);
}

std::optional<std::int64_t> seconds_of(const DateParts& parts) {
  using std::chrono::sys_days;
  // As POSIX has it.
  const std::int64_t century = parts.short_year < 69 ? 2000 : 1900;
  const std::chrono::year year(
      static_cast<int>(parts.short_year < 0 ? parts.year : century + parts.short_year));
  std::chrono::year_month_day date{year, std::chrono::month(static_cast<unsigned>(parts.month)),
                                   std::chrono::day(static_cast<unsigned>(parts.day))};
  if (parts.day_of_year >= 0) {
    date = sys_days(year / 1 / 1) + std::chrono::days(parts.day_of_year - 1);
    if (date.year() != year) return std::nullopt;
  }
  constexpr int kLeapSecond = 60;
  if (!date.ok() || parts.hour > 23 || parts.minute > 59 || parts.second > kLeapSecond) {
    return std::nullopt;
  }
  const std::int64_t days = sys_days(date).time_since_epoch().count();
  return parts.epoch + ((days * 24 + parts.hour) * 60 + parts.minute) * 60 + parts.second;
}

struct Match {
  std::int64_t time;
  std::size_t end;  // in the text
};

std::optional<Match> match_at(std::string_view text, std::size_t at, std::string_view pattern) {
  const auto is_digit_at = [&](std::size_t i) { return i < text.size() && is_digit(text[i]); };
  DateParts parts;
  bool ends_with_number = false;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const bool is_escape = pattern[i] == '%';
    if (is_escape) ++i;
    const bool is_code = is_escape && pattern[i] != '%';
    ends_with_number = is_code;
    if (!is_code) {
      if (at == text.size() || ((is_escape || pattern[i] != '?') && text[at] != pattern[i]))
        return std::nullopt;
      ++at;
      continue;
    }
    if (i == 1 && at > 0 && is_digit_at(at - 1)) return std::nullopt;
    const Code& code = find_code(pattern[i]);
    std::int64_t& number = parts.*code.part;
    number = 0;
    std::size_t count = 0;
    for (; count < code.digits && is_digit_at(at); ++count, ++at) {
      number = number * 10 + text[at] - '0';
    }
    if (count == 0 || (count < code.digits && code.name != 's')) return std::nullopt;
  }
  const auto time = seconds_of(parts);
  return ends_with_number && is_digit_at(at) ? std::nullopt
         : time                              ? std::optional(Match{*time, at})
                                             : std::nullopt;
}

// Returns true if the text after a time means UTC; fractions of a second are ignored.
bool is_utc(std::string_view rest) {
  if (rest.starts_with('.') && rest.size() > 1 && is_digit(rest[1]))
    rest.remove_prefix(std::min(rest.find_first_not_of("0123456789", 1), rest.size()));
  for (const std::string_view zone :
       {"", "Z", " Z", "UTC", " UTC", "+00", "+0000", "+00:00", " sec UTC"}) {
    if (rest == zone) return true;
  }
  return false;
}

void check_pattern(std::string_view pattern) {
  bool has_code = false;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%') continue;
    if (++i == pattern.size()) throw zarrcore::Error("the time pattern ends within a code");
    if (pattern[i] == '%') continue;
    find_code(pattern[i]);
    has_code = true;
  }
  if (!has_code) throw zarrcore::Error("the time pattern has no code such as %Y");
}

}  // namespace

std::optional<std::int64_t> find_time(std::string_view text, std::string_view pattern) {
  check_pattern(pattern);
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (const auto match = match_at(text, at, pattern)) return match->time;
  }
  return std::nullopt;
}

std::optional<std::int64_t> find_usual_time(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  text = text.substr(0, text.find_last_not_of(' ') + 1);
  for (const char* pattern :
       {"%Y:%m:%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y/%m/%d %H:%M:%S",
        "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M", "%Y%m%dT%H%M%S", "%Y-%m-%d", "%Y/%m/%d", "%Y%m%d"}) {
    const auto match = match_at(text, 0, pattern);
    if (match && is_utc(text.substr(match->end))) return match->time;
  }
  constexpr std::size_t kMinDigits = 9;  // of seconds; fewer may be a date in another form
  const auto seconds = match_at(text, 0, "%s");
  const bool is_time = seconds && seconds->end >= kMinDigits && is_utc(text.substr(seconds->end));
  return is_time ? std::optional(seconds->time) : std::nullopt;
}

}  // namespace gdal_zarr
