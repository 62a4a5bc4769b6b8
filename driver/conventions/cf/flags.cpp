#include "driver/conventions/cf/flags.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string_view>

#include "driver/conventions/cf/attributes.h"
#include "zarrcore/base/json.h"
#include "zarrcore/base/text.h"

namespace gdal_zarr::cf {
namespace {

using zarrcore::Json;

constexpr std::size_t kMaxFlags = 65536;
constexpr std::int64_t kMaxCategory = 65535;

std::optional<std::int64_t> as_integer(const Json& value) {
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX) return std::nullopt;
  if (value.is_number_integer()) return value.get<std::int64_t>();
  const double number = value.is_number() ? value.get<double>() : NAN;
  if (std::trunc(number) != number || std::abs(number) > 0x1p53) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

// A list of integers, or one integer; empty for anything else. Negative ones count as the same bits
// if the elements have no sign.
std::vector<std::int64_t> integers(const Json& attributes, const char* name,
                                   const zarrcore::DataType& type) {
  const Json* value = zarrcore::find_member(attributes, name);
  if (value == nullptr) return {};
  const Json list = value->is_array() ? *value : Json::array({*value});
  if (list.size() > kMaxFlags) return {};
  std::vector<std::int64_t> numbers;
  for (const Json& item : list) {
    const auto number = as_integer(item);
    if (!number) return {};
    const bool wraps = *number < 0 && type.kind == zarrcore::TypeKind::unsigned_integer &&
                       type.item_size < sizeof(std::int64_t);
    numbers.push_back(wraps ? *number + (std::int64_t{1} << (8 * type.item_size)) : *number);
  }
  return numbers;
}

std::uint64_t max_value(const zarrcore::DataType& type) {
  const std::size_t bits =
      8 * type.item_size - (type.kind == zarrcore::TypeKind::signed_integer ? 1 : 0);
  return ~std::uint64_t{0} >> (64 - bits);
}

// Letters, digits and some marks (section 3.5).
std::string as_meaning(std::string name) {
  constexpr std::string_view kMarks = "_-.+@";
  for (char& c : name) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_allowed =
        byte < 0x80 && (std::isalnum(byte) != 0 || kMarks.find(c) != std::string_view::npos);
    if (!is_allowed) c = '_';
  }
  return name;
}

}  // namespace

std::optional<std::uint32_t> parse_color(std::string_view word) {
  if (word.starts_with('#')) word.remove_prefix(1);
  const auto color = word.size() == 6 ? zarrcore::parse_digits(word, 16) : std::nullopt;
  return color ? std::optional(static_cast<std::uint32_t>(*color)) : std::nullopt;
}

Flags find_flags(const Json& attributes, const zarrcore::DataType& seen) {
  Flags flags;
  const std::vector<std::string> meanings = words_in(attributes, "flag_meanings");
  if (!seen.is_integer() || meanings.empty()) return flags;
  const auto values = integers(attributes, "flag_values", seen);
  const auto masks = integers(attributes, "flag_masks", seen);
  if (values.empty() && masks.empty()) return flags;
  for (const auto* numbers : {&values, &masks}) {
    if (numbers->empty() || numbers->size() == meanings.size()) continue;
    flags.problem = "flag_meanings has " + std::to_string(meanings.size()) + " words, and " +
                    (numbers == &values ? "flag_values " : "flag_masks ") +
                    std::to_string(numbers->size()) + " numbers";
    return flags;
  }
  const auto colors = words_in(attributes, "flag_colors");
  for (std::size_t i = 0; i < meanings.size(); ++i) {
    Flag flag{values.empty() ? masks[i] : values[i], {}, meanings[i], {}};
    if (!masks.empty()) flag.mask = masks[i];
    if (colors.size() == meanings.size()) flag.color = parse_color(colors[i]);
    flags.list.push_back(std::move(flag));
  }
  return flags;
}

std::vector<std::string> category_names(const std::vector<Flag>& flags) {
  const bool are_categories = std::ranges::all_of(flags, [](const Flag& flag) {
    return !flag.mask && flag.value >= 0 && flag.value <= kMaxCategory;
  });
  if (!are_categories) return {};
  std::vector<std::string> names;
  for (const Flag& flag : flags) {
    const auto value = static_cast<std::size_t>(flag.value);
    names.resize(std::max(names.size(), value + 1));
    names[value] = flag.meaning;
  }
  return names;
}

Json with_categories(Json attributes, std::span<const std::string> names,
                     const zarrcore::DataType& seen) {
  if (!seen.is_integer() || attributes.contains("flag_masks")) return attributes;
  Json values = Json::array();
  std::string meanings;
  for (std::size_t value = 0; value < names.size(); ++value) {
    if (names[value].empty()) continue;
    if (value > max_value(seen)) return attributes;
    values.push_back(value);
    meanings += (meanings.empty() ? "" : " ") + as_meaning(names[value]);
  }
  const Json* old_values = zarrcore::find_member(attributes, "flag_values");
  if (old_values == nullptr || *old_values != values) attributes.erase("flag_colors");
  if (values.empty()) {
    attributes.erase("flag_values");
    attributes.erase("flag_meanings");
  } else {
    attributes["flag_values"] = std::move(values);
    attributes["flag_meanings"] = std::move(meanings);
  }
  return attributes;
}

}  // namespace gdal_zarr::cf
