#include "zarrcore/codec/value_cast.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "zarrcore/base/error.h"
#include "zarrcore/base/json.h"
#include "zarrcore/dtype/convert.h"
#include "zarrcore/dtype/element_converter.h"

namespace zarrcore {
namespace {

constexpr std::ptrdiff_t kWideSize = 8;

// Calls `body` with the TypeTag of the type in which values of `type` are computed.
template <typename Body>
auto with_wide_type(const DataType& type, const Body& body) {
  switch (type.kind) {
    case TypeKind::signed_integer:
      return body(TypeTag<std::int64_t>());
    case TypeKind::unsigned_integer:
      return body(TypeTag<std::uint64_t>());
    case TypeKind::floating:
      return body(TypeTag<double>());
    default:
      throw not_real_numbers(type);
  }
}

DataType wide_type(const DataType& type) {
  return {type.kind, kWideSize};
}

template <typename From>
Error unfit(From value, const DataType& type) {
  return Error("cast_value: " + dump_json(Json(value)) + " does not fit the data type " +
               type_name(type));
}

double round_to_whole(double value, Rounding rounding) {
  switch (rounding) {
    case Rounding::nearest_even:
      return std::nearbyint(value);
    case Rounding::towards_zero:
      return std::trunc(value);
    case Rounding::towards_positive:
      return std::ceil(value);
    case Rounding::towards_negative:
      return std::floor(value);
    case Rounding::nearest_away:
      return std::round(value);
  }
  return value;
}

// A finite number: ±significand * 2^exponent.
struct Parts {
  bool negative;
  std::uint64_t significand;
  int exponent;
};

template <typename From>
Parts parts_of(From value) {
  if constexpr (std::is_floating_point_v<From>) {
    int exponent = 0;
    const double fraction = std::frexp(std::abs(value), &exponent);
    return {std::signbit(value), static_cast<std::uint64_t>(std::ldexp(fraction, 53)),
            exponent - 53};
  } else {
    const bool negative = std::cmp_less(value, 0);
    const auto bits = static_cast<std::uint64_t>(value);
    return {negative, negative ? 0 - bits : bits, 0};
  }
}

}  // namespace

// Exact for every mode and type. The exponent of the result is not bounded: the caller checks the
// range.
template <typename From>
double ValueCast::round_to_float(From value) const {
  if (rounding_ == Rounding::nearest_even) {  // what the processor does
    if (limits_.precision == 53) return static_cast<double>(value);
    if (limits_.precision == 24) return static_cast<double>(static_cast<float>(value));
  }
  const Parts parts = parts_of(value);
  const int top = static_cast<int>(std::bit_width(parts.significand)) + parts.exponent;
  const int unit = std::max(top - limits_.precision, limits_.min_exponent);
  const int dropped = unit - parts.exponent;  // bits
  double magnitude = 0;
  if (dropped <= 0) {
    magnitude = std::ldexp(static_cast<double>(parts.significand), parts.exponent);
  } else {
    std::uint64_t kept = dropped < 64 ? parts.significand >> dropped : 0;
    const std::uint64_t rest =
        dropped < 64 ? parts.significand & ((std::uint64_t{1} << dropped) - 1) : parts.significand;
    // Beyond 64 dropped bits, the rest is less than the half.
    const std::uint64_t half = dropped <= 64 ? std::uint64_t{1} << (dropped - 1) : UINT64_MAX;
    // Even is the number whose code ends with a zero; without a mantissa that depends on the
    // exponent.
    const bool is_odd =
        limits_.precision == 1 ? (unit - limits_.min_exponent) % 2 != 0 : kept % 2 != 0;
    bool goes_up = false;
    switch (rounding_) {
      case Rounding::nearest_even:
        goes_up = rest > half || (rest == half && is_odd);
        break;
      case Rounding::towards_zero:
        break;
      case Rounding::towards_positive:
        goes_up = rest != 0 && !parts.negative;
        break;
      case Rounding::towards_negative:
        goes_up = rest != 0 && parts.negative;
        break;
      case Rounding::nearest_away:
        goes_up = rest >= half;
        break;
    }
    if (goes_up) ++kept;
    magnitude = std::ldexp(static_cast<double>(kept), unit);
  }
  return parts.negative ? -magnitude : magnitude;
}

template <typename From>
double ValueCast::cast_to_float(From value) const {
  if constexpr (std::is_floating_point_v<From>) {
    if (std::isnan(value)) {
      if (!limits_.has_nan) throw unfit(value, to_);
      return value;
    }
    if (std::isinf(value) && limits_.has_infinity) return value;
  }
  const bool is_infinite =
      std::abs(static_cast<double>(value)) > std::numeric_limits<double>::max();
  const double rounded = is_infinite ? static_cast<double>(value) : round_to_float(value);
  if (rounded >= limits_.lowest && rounded <= limits_.largest) return rounded;
  if (out_of_range_ != OutOfRange::clamp) throw unfit(value, to_);
  const bool is_high = rounded > limits_.largest;
  if (limits_.has_infinity) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    return is_high ? kInfinity : -kInfinity;
  }
  return is_high ? limits_.largest : limits_.lowest;
}

template <typename To, typename From>
To ValueCast::cast_to_integer(From value) const {
  const int unused = 64 - bits_;
  // The low bits of a number with the value that they alone have.
  const auto wrapped = [unused](std::uint64_t bits) {
    return static_cast<To>(static_cast<To>(bits << unused) >> unused);
  };
  // Shifts keep the sign of the ends.
  const To high = static_cast<To>(std::numeric_limits<To>::max() >> unused);
  const To low = static_cast<To>(std::numeric_limits<To>::min() >> unused);
  if constexpr (std::is_floating_point_v<From>) {
    if (!std::isfinite(value)) throw unfit(value, to_);
    const double rounded = round_to_whole(value, rounding_);
    // One more than the highest value: a double holds it exactly.
    const double end = std::ldexp(1.0, bits_ - std::is_signed_v<To>);
    if (rounded >= static_cast<double>(low) && rounded < end) return static_cast<To>(rounded);
    switch (out_of_range_) {
      case OutOfRange::error:
        break;
      case OutOfRange::clamp:
        return rounded < 0 ? low : high;
      case OutOfRange::wrap: {
        const double rest = std::fmod(rounded, 0x1p64);
        const auto magnitude = static_cast<std::uint64_t>(std::abs(rest));
        return wrapped(rest < 0 ? 0 - magnitude : magnitude);
      }
    }
  } else {
    const bool is_low = std::cmp_less(value, low);
    if (!is_low && !std::cmp_greater(value, high)) return static_cast<To>(value);
    switch (out_of_range_) {
      case OutOfRange::error:
        break;
      case OutOfRange::clamp:
        return is_low ? low : high;
      case OutOfRange::wrap:
        return wrapped(static_cast<std::uint64_t>(value));
    }
  }
  throw unfit(value, to_);
}

template <typename To, typename From>
To ValueCast::cast(From value) const {
  if constexpr (std::is_floating_point_v<To>) {
    return cast_to_float(value);
  } else {
    return cast_to_integer<To>(value);
  }
}

template <typename From, typename To>
void ValueCast::cast_block(Wide* values, std::size_t count) const {
  for (Wide& value : std::span(values, count)) {
    value = std::bit_cast<Wide>(cast<To>(std::bit_cast<From>(value)));
  }
}

ValueCast::ValueCast(const DataType& from, const DataType& to, Rounding rounding,
                     OutOfRange out_of_range, const std::vector<MappedScalar>& map)
    : from_(from), to_(to), rounding_(rounding), out_of_range_(out_of_range) {
  with_wide_type(from_, [&](auto source) {
    using From = typename decltype(source)::Type;
    one_ = std::bit_cast<Wide>(From{1});
    with_wide_type(to_, [&](auto destination) {
      cast_block_ = &ValueCast::cast_block<From, typename decltype(destination)::Type>;
    });
  });
  widen_ = make_numeric_converter(from_, wide_type(from_));
  narrow_ = make_numeric_converter(wide_type(to_), to_);
  if (to_.kind == TypeKind::floating) {
    limits_ = float_limits(to_);
  } else {
    bits_ = to_.bits != 0 ? to_.bits : static_cast<int>(to_.item_size * 8);
  }
  for (const MappedScalar& scalar : map)
    map_.push_back({key_of(widen(scalar.from.data())), scalar.to});
  std::stable_sort(map_.begin(), map_.end(),
                   [](const Entry& a, const Entry& b) { return a.key < b.key; });
}

ValueCast::Wide ValueCast::widen(const std::byte* element) const {
  Wide value = 0;
  if (widen_) {
    widen_->convert(element, 0, reinterpret_cast<std::byte*>(&value), 0, 1);
  } else {
    std::memcpy(&value, element, sizeof(value));
  }
  return value;
}

ValueCast::Wide ValueCast::key_of(Wide value) const {
  if (from_.kind != TypeKind::floating) return value;
  const auto number = std::bit_cast<double>(value);
  if (std::isnan(number)) return std::bit_cast<Wide>(std::numeric_limits<double>::quiet_NaN());
  return number == 0 ? 0 : value;
}

const ValueCast::Entry* ValueCast::find(Wide value) const {
  const Wide key = key_of(value);
  const auto entry = std::lower_bound(map_.begin(), map_.end(), key,
                                      [](const Entry& a, Wide b) { return a.key < b; });
  return entry != map_.end() && entry->key == key ? &*entry : nullptr;
}

void ValueCast::run(const std::byte* from, std::byte* to, std::size_t count) const {
  const auto from_size = static_cast<std::ptrdiff_t>(from_.item_size);
  const auto to_size = static_cast<std::ptrdiff_t>(to_.item_size);
  Wide values[kBatchElements];
  auto* const bytes = reinterpret_cast<std::byte*>(values);
  std::pair<std::size_t, const Entry*> mapped[kBatchElements];
  for_each_batch(count, [&](std::size_t /*first*/, std::size_t size) {
    if (widen_) {
      widen_->convert(from, from_size, bytes, kWideSize, size);
    } else {
      std::memcpy(bytes, from, size * sizeof(Wide));
    }
    std::size_t mapped_count = 0;
    for (std::size_t i = 0; i < size && !map_.empty(); ++i) {
      const Entry* entry = find(values[i]);
      if (entry == nullptr) continue;
      mapped[mapped_count++] = {i, entry};
      values[i] = one_;  // a value of every type, until the mapped element replaces it
    }
    (this->*cast_block_)(values, size);
    if (narrow_) {
      narrow_->convert(bytes, kWideSize, to, to_size, size);
    } else {
      std::memcpy(to, bytes, size * sizeof(Wide));
    }
    for (const auto& [i, entry] : std::span(mapped, mapped_count)) {
      std::memcpy(to + static_cast<std::ptrdiff_t>(i) * to_size, entry->to.data(),
                  memory_size(to_.item_size));
    }
    from += static_cast<std::ptrdiff_t>(size) * from_size;
    to += static_cast<std::ptrdiff_t>(size) * to_size;
  });
}

}  // namespace zarrcore
