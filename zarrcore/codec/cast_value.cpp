// The `cast_value` codec (zarr-extensions): stores the values of an array in another data type. A
// value is cast from one real number type to another, with a rule for every case: how to round,
// what happens to values that do not fit, and single values that are mapped to others instead. The
// same rules apply in both directions, except for the mapped scalars.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "zarrcore/base/error.h"
#include "zarrcore/base/json.h"
#include "zarrcore/base/strided.h"
#include "zarrcore/codec/codec.h"
#include "zarrcore/codec/element_codec.h"
#include "zarrcore/dtype/convert.h"
#include "zarrcore/dtype/data_type.h"
#include "zarrcore/dtype/elements.h"
#include "zarrcore/dtype/small_float.h"
#include "zarrcore/metadata/documents.h"
#include "zarrcore/metadata/fill_value.h"

namespace zarrcore {
namespace {

enum class Rounding : std::uint8_t {
  nearest_even,
  towards_zero,
  towards_positive,
  towards_negative,
  nearest_away,
};

enum class OutOfRange : std::uint8_t {
  error,
  clamp,  // to the nearest end, or to infinity in float types that have it
  wrap,   // modulo the power of two; to integers only
};

// An element of the source type, and the element that it becomes.
struct MappedScalar {
  std::vector<std::byte> from;
  std::vector<std::byte> to;
};

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
  return {type.kind, sizeof(std::uint64_t)};
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

// How values become elements of a type.
struct CastRules {
  const DataType& type;
  Rounding rounding;
  OutOfRange out_of_range;
  int bits;            // of an integer type
  FloatLimits limits;  // of a float type

  // Exact for every mode and type. The exponent of the result is not bounded: the caller checks the
  // range.
  template <typename From>
  double round_to_float(From value) const {
    if (rounding == Rounding::nearest_even) {  // what the processor does
      if (limits.precision == 53) return static_cast<double>(value);
      if (limits.precision == 24) return static_cast<double>(static_cast<float>(value));
    }
    const Parts parts = parts_of(value);
    const int top = static_cast<int>(std::bit_width(parts.significand)) + parts.exponent;
    const int unit = std::max(top - limits.precision, limits.min_exponent);
    const int dropped = unit - parts.exponent;  // bits
    double magnitude = 0;
    if (dropped <= 0) {
      magnitude = std::ldexp(static_cast<double>(parts.significand), parts.exponent);
    } else {
      std::uint64_t kept = dropped < 64 ? parts.significand >> dropped : 0;
      const std::uint64_t rest = dropped < 64
                                     ? parts.significand & ((std::uint64_t{1} << dropped) - 1)
                                     : parts.significand;
      // Beyond 64 dropped bits, the rest is less than the half.
      const std::uint64_t half = dropped <= 64 ? std::uint64_t{1} << (dropped - 1) : UINT64_MAX;
      // Even is the number whose code ends with a zero; without a mantissa that depends on the
      // exponent.
      const bool is_odd =
          limits.precision == 1 ? (unit - limits.min_exponent) % 2 != 0 : kept % 2 != 0;
      bool rounds_up = false;
      switch (rounding) {
        case Rounding::nearest_even:
          rounds_up = rest > half || (rest == half && is_odd);
          break;
        case Rounding::towards_zero:
          break;
        case Rounding::towards_positive:
          rounds_up = rest != 0 && !parts.negative;
          break;
        case Rounding::towards_negative:
          rounds_up = rest != 0 && parts.negative;
          break;
        case Rounding::nearest_away:
          rounds_up = rest >= half;
          break;
      }
      if (rounds_up) ++kept;
      magnitude = std::ldexp(static_cast<double>(kept), unit);
    }
    return parts.negative ? -magnitude : magnitude;
  }

  template <typename From>
  double cast_to_float(From value) const {
    if constexpr (std::is_floating_point_v<From>) {
      if (std::isnan(value)) {
        if (!limits.has_nan) throw unfit(value, type);
        return value;
      }
      if (std::isinf(value) && limits.has_infinity) return value;
    }
    const bool is_infinite =
        std::abs(static_cast<double>(value)) > std::numeric_limits<double>::max();
    const double rounded = is_infinite ? static_cast<double>(value) : round_to_float(value);
    if (rounded >= limits.lowest && rounded <= limits.largest) return rounded;
    if (out_of_range != OutOfRange::clamp) throw unfit(value, type);
    const bool is_high = rounded > limits.largest;
    if (limits.has_infinity) {
      constexpr double kInfinity = std::numeric_limits<double>::infinity();
      return is_high ? kInfinity : -kInfinity;
    }
    return is_high ? limits.largest : limits.lowest;
  }

  template <typename To, typename From>
  To cast_to_integer(From value) const {
    const int unused = 64 - bits;
    // The low bits of a number with the value that they alone have.
    const auto wrapped = [unused](std::uint64_t number) {
      return static_cast<To>(static_cast<To>(number << unused) >> unused);
    };
    // Shifts keep the sign of the ends.
    const To high = static_cast<To>(std::numeric_limits<To>::max() >> unused);
    const To low = static_cast<To>(std::numeric_limits<To>::min() >> unused);
    if constexpr (std::is_floating_point_v<From>) {
      if (!std::isfinite(value)) throw unfit(value, type);
      const double rounded = round_to_whole(value, rounding);
      // One more than the highest value: a double holds it exactly.
      const double end = std::ldexp(1.0, bits - std::is_signed_v<To>);
      if (rounded >= static_cast<double>(low) && rounded < end) return static_cast<To>(rounded);
      switch (out_of_range) {
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
      switch (out_of_range) {
        case OutOfRange::error:
          break;
        case OutOfRange::clamp:
          return is_low ? low : high;
        case OutOfRange::wrap:
          return wrapped(static_cast<std::uint64_t>(value));
      }
    }
    throw unfit(value, type);
  }

  template <typename To, typename From>
  To cast(From value) const {
    if constexpr (std::is_floating_point_v<To>) {
      return cast_to_float(value);
    } else {
      return cast_to_integer<To>(value);
    }
  }
};

// Casts elements, as an ElementLoop.
class ValueCast {
 public:
  // The first of equal `map` entries wins; NaN there means every NaN, and 0 both zeros. Throws
  // Error unless both types are of real numbers.
  ValueCast(const DataType& from, const DataType& to, Rounding rounding, OutOfRange out_of_range,
            const std::vector<MappedScalar>& map)
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
    for (const MappedScalar& scalar : map) {
      Wide value = 0;
      widen(scalar.from.data(), &value, 1);
      map_.emplace(key_of(value), scalar.to);
    }
  }

  // Throws Error on the first element that can be neither mapped nor cast.
  void operator()(const std::byte* from, std::byte* to, std::size_t count) const {
    const std::size_t to_size = memory_size(to_.item_size);
    Wide values[kBatchElements];
    std::pair<std::size_t, const std::vector<std::byte>*> mapped[kBatchElements];
    for_each_batch(count, [&](std::size_t first, std::size_t size) {
      widen(from + first * from_.item_size, values, size);
      std::size_t mapped_count = 0;
      for (std::size_t i = 0; i < size && !map_.empty(); ++i) {
        const auto entry = map_.find(key_of(values[i]));
        if (entry == map_.end()) continue;
        mapped[mapped_count++] = {i, &entry->second};
        values[i] = one_;  // a value of every type, until the mapped element replaces it
      }
      (this->*cast_block_)(values, size);
      std::byte* const target = to + first * to_size;
      convert(narrow_, reinterpret_cast<const std::byte*>(values), sizeof(Wide), target, to_size,
              size);
      for (const auto& [i, element] : std::span(mapped, mapped_count)) {
        std::memcpy(target + i * to_size, element->data(), to_size);
      }
    });
  }

 private:
  // The bits of a value in the type for computing: an int64_t, a uint64_t or a double, each of
  // which holds all values of its kind of type exactly.
  using Wide = std::uint64_t;

  template <typename From, typename To>
  void cast_block(Wide* values, std::size_t count) const {
    const CastRules rules{to_, rounding_, out_of_range_, bits_, limits_};
    for (Wide& value : std::span(values, count)) {
      value = std::bit_cast<Wide>(rules.cast<To>(std::bit_cast<From>(value)));
    }
  }

  using Converter = std::shared_ptr<const ElementConverter>;

  // Copies elements that need no converter.
  static void convert(const Converter& converter, const std::byte* from, std::size_t from_size,
                      std::byte* to, std::size_t to_size, std::size_t count) {
    if (converter) {
      converter->convert(from, static_cast<std::ptrdiff_t>(from_size), to,
                         static_cast<std::ptrdiff_t>(to_size), count);
    } else {
      std::memcpy(to, from, count * to_size);
    }
  }

  void widen(const std::byte* elements, Wide* values, std::size_t count) const {
    convert(widen_, elements, memory_size(from_.item_size), reinterpret_cast<std::byte*>(values),
            sizeof(Wide), count);
  }

  // The same for all values that are equal in the map.
  Wide key_of(Wide value) const {
    if (from_.kind != TypeKind::floating) return value;
    const auto number = std::bit_cast<double>(value);
    if (std::isnan(number)) return std::bit_cast<Wide>(std::numeric_limits<double>::quiet_NaN());
    return number == 0 ? 0 : value;
  }

  DataType from_;
  DataType to_;
  Rounding rounding_;
  OutOfRange out_of_range_;
  std::unordered_map<Wide, std::vector<std::byte>> map_;  // elements by key_of()
  Converter widen_;                                       // null: the source type is wide
  Converter narrow_;                                      // null: the destination type is wide
  void (ValueCast::*cast_block_)(Wide*, std::size_t) const = nullptr;
  Wide one_ = 0;  // in the source type
  int bits_ = 0;
  FloatLimits limits_{};
};

std::vector<MappedScalar> parse_map(const Json& configuration, std::string_view direction,
                                    const DataType& from, const DataType& to) {
  std::vector<MappedScalar> map;
  const Json* both = find_value(configuration, "scalar_map");
  if (both == nullptr) return map;
  if (!both->is_object()) {
    throw Error("\"scalar_map\" is " + std::string(describe_kind(*both)) +
                " where an object is expected");
  }
  const Json* pairs = find_value(*both, direction);
  if (pairs == nullptr) return map;
  with_context({"\"scalar_map\", \"", direction, "\""}, [&] {
    if (!pairs->is_array()) throw Error("this is not a list");
    for (const Json& pair : *pairs) {
      if (!pair.is_array() || pair.size() != 2) {
        throw Error(excerpt(pair) + " is not a pair of numbers");
      }
      map.push_back({parse_fill_value(pair[0], from), parse_fill_value(pair[1], to)});
    }
  });
  return map;
}

}  // namespace

Codec make_cast_value(const Json& configuration, const ChunkSpec& spec) {
  const DataType& decoded = spec.data_type;
  const DataType encoded = parse_v3_data_type(required_member(configuration, "data_type"));
  const auto rounding = choice_option(configuration, "rounding", Rounding::nearest_even,
                                      {{"nearest-even", Rounding::nearest_even},
                                       {"towards-zero", Rounding::towards_zero},
                                       {"towards-positive", Rounding::towards_positive},
                                       {"towards-negative", Rounding::towards_negative},
                                       {"nearest-away", Rounding::nearest_away}});
  const auto out_of_range =
      choice_option(configuration, "out_of_range", OutOfRange::error,
                    {{"clamp", OutOfRange::clamp}, {"wrap", OutOfRange::wrap}});
  ValueCast encode(decoded, encoded, rounding, out_of_range,
                   parse_map(configuration, "encode", decoded, encoded));
  ValueCast decode(encoded, decoded, rounding, out_of_range,
                   parse_map(configuration, "decode", encoded, decoded));
  if (out_of_range == OutOfRange::wrap && encoded.kind == TypeKind::floating) {
    throw Error("\"out_of_range\" is \"wrap\", which is for integers, not for " +
                type_name(encoded));
  }
  return make_element_codec(spec, encoded, std::move(encode), std::move(decode));
}

}  // namespace zarrcore
