// The casts of the `cast_value` codec (zarr-extensions): from one real number type to another, by
// value, with a rule for every case: how to round, what happens to values that do not fit, and
// single values that are mapped to others instead.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "zarrcore/base/strided.h"
#include "zarrcore/dtype/data_type.h"
#include "zarrcore/dtype/small_float.h"

namespace zarrcore {

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

class ValueCast {
 public:
  // The first of equal `map` entries wins; NaN there means every NaN, and 0 both zeros. Throws
  // Error unless both types are of real numbers.
  ValueCast(const DataType& from, const DataType& to, Rounding rounding, OutOfRange out_of_range,
            const std::vector<MappedScalar>& map);

  // Throws Error on the first element that can be neither mapped nor cast.
  void run(const std::byte* from, std::byte* to, std::size_t count) const;

 private:
  // The bits of a value in the type for computing: an int64_t, a uint64_t or a double, each of
  // which holds all values of its kind of type exactly.
  using Wide = std::uint64_t;

  struct Entry {
    Wide key;
    std::vector<std::byte> to;
  };

  template <typename From, typename To>
  void cast_block(Wide* values, std::size_t count) const;
  template <typename To, typename From>
  To cast(From value) const;
  template <typename To, typename From>
  To cast_to_integer(From value) const;
  template <typename From>
  double cast_to_float(From value) const;
  template <typename From>
  double round_to_float(From value) const;

  Wide widen(const std::byte* element) const;
  // The same for all values that are equal in the map.
  Wide key_of(Wide value) const;
  const Entry* find(Wide value) const;

  DataType from_;
  DataType to_;
  Rounding rounding_;
  OutOfRange out_of_range_;
  std::vector<Entry> map_;                          // sorted
  std::unique_ptr<const ElementConverter> widen_;   // null: the source type is wide
  std::unique_ptr<const ElementConverter> narrow_;  // null: the destination type is wide
  void (ValueCast::*cast_block_)(Wide*, std::size_t) const = nullptr;
  Wide one_ = 0;          // in the source type
  int bits_ = 0;          // of a destination that is an integer
  FloatLimits limits_{};  // of a destination that is a float
};

}  // namespace zarrcore
