// The `delta` filter of numcodecs: the first element, then the differences between neighbours.
// Configuration: `dtype` of the elements, `astype` of the differences.
//
// As in NumPy, differences are computed in `dtype`, and sums in the type to which both are
// promoted.
#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>

#include "zarrcore/base/error.h"
#include "zarrcore/codec/codec.h"
#include "zarrcore/codec/element_filter.h"
#include "zarrcore/codec/numpy_arithmetic.h"
#include "zarrcore/dtype/element_converter.h"

namespace zarrcore {
namespace {

// Durations, which are stored as int64: the result of "not a time" with anything is "not a time".
struct Duration {};
template <typename T>
using StoredAs = std::conditional_t<std::is_same_v<T, Duration>, std::int64_t, T>;
constexpr std::int64_t kNotATime = std::numeric_limits<std::int64_t>::min();

// Integers wrap around; of bool, the sum is "or" and the difference "exclusive or".
template <typename T, typename Value>
Value sum(Value a, Value b) {
  if constexpr (std::is_same_v<T, Bool>) {
    return a | b;
  } else if constexpr (std::is_same_v<T, Duration>) {
    if (a == kNotATime || b == kNotATime) return kNotATime;
    return sum<std::int64_t>(a, b);
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  } else {
    return a + b;
  }
}

template <typename T, typename Value>
Value difference(Value a, Value b) {
  if constexpr (std::is_same_v<T, Bool>) {
    return a ^ b;
  } else if constexpr (std::is_same_v<T, Duration>) {
    if (a == kNotATime || b == kNotATime) return kNotATime;
    return difference<std::int64_t>(a, b);
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
  } else {
    return a - b;
  }
}

template <typename Body>
void with_delta_type(const DataType& type, const Body& body) {
  if (type.kind == TypeKind::timedelta) {
    body(TypeTag<Duration>());
  } else {
    with_numeric_type(type, body);
  }
}

class DeltaFilter final : public ElementFilter {
 public:
  DeltaFilter(const NumpyType& decoded, const NumpyType& encoded)
      : ElementFilter("delta", decoded, encoded),
        decoded_(decoded.type),
        encoded_(encoded.type),
        sum_(decoded_ == encoded_ ? decoded_ : promote_numpy_types(encoded_, decoded_)),
        to_encoded_(make_numpy_cast(decoded_, encoded_)),
        to_sum_(make_numpy_cast(encoded_, sum_)),
        to_decoded_(make_numpy_cast(sum_, decoded_)) {
    with_delta_type(decoded_, [](auto) {});
    if ((decoded_.is_time() || encoded_.is_time()) && decoded_ != encoded_) {
      throw Error("\"dtype\" and \"astype\" are not the same kind of time");
    }
  }

 private:
  // If both types are the same integer type, elements are always restored.
  std::optional<Tolerance> tolerance() const override {
    if (decoded_.is_integer() && decoded_ == encoded_) return std::nullopt;
    if (rounding_unit(decoded_) == 0) return Tolerance();
    const double unit =
        std::max({rounding_unit(decoded_), rounding_unit(encoded_), rounding_unit(sum_)});
    return Tolerance{0, 4 * unit, true};
  }

  void encode_elements(const std::byte* decoded, std::byte* encoded,
                       std::size_t count) const override {
    with_delta_type(decoded_, [&](auto tag) {
      using T = typename decltype(tag)::Type;
      using Value = ValueOf<StoredAs<T>>;
      Value previous{};
      ElementBatch batch;
      for_each_batch(count, [&](std::size_t first, std::size_t size) {
        transform_elements<StoredAs<T>>(
            element_at(decoded, decoded_, first), batch.bytes, size,
            [&](Value value) { return difference<T>(value, std::exchange(previous, value)); });
        convert(*to_encoded_, batch.bytes, decoded_, element_at(encoded, encoded_, first), encoded_,
                size);
      });
    });
  }

  void decode_elements(const std::byte* encoded, std::byte* decoded,
                       std::size_t count) const override {
    with_delta_type(sum_, [&](auto tag) {
      using T = typename decltype(tag)::Type;
      using Value = ValueOf<StoredAs<T>>;
      Value total{};
      bool is_first = true;
      ElementBatch batch;
      for_each_batch(count, [&](std::size_t first, std::size_t size) {
        convert(*to_sum_, element_at(encoded, encoded_, first), encoded_, batch.bytes, sum_, size);
        transform_elements<StoredAs<T>>(batch.bytes, batch.bytes, size, [&](Value value) {
          // The first is not added to zero: that would make 0.0 of -0.0.
          total = std::exchange(is_first, false) ? value
                                                 : rounded_to<StoredAs<T>>(sum<T>(total, value));
          return total;
        });
        convert(*to_decoded_, batch.bytes, sum_, element_at(decoded, decoded_, first), decoded_,
                size);
      });
    });
  }

  template <typename Byte>
  static Byte* element_at(Byte* elements, const DataType& type, std::size_t index) {
    return elements + index * type.item_size;
  }

  static void convert(const ElementConverter& converter, const std::byte* source,
                      const DataType& source_type, std::byte* destination,
                      const DataType& destination_type, std::size_t count) {
    converter.convert(source, static_cast<std::ptrdiff_t>(source_type.item_size), destination,
                      static_cast<std::ptrdiff_t>(destination_type.item_size), count);
  }

  DataType decoded_;
  DataType encoded_;
  DataType sum_;
  std::unique_ptr<const ElementConverter> to_encoded_;
  std::unique_ptr<const ElementConverter> to_sum_;
  std::unique_ptr<const ElementConverter> to_decoded_;
};

}  // namespace

Codec make_delta(const Json& configuration, const ChunkSpec& spec) {
  const NumpyType decoded = numpy_type_option(configuration, "dtype", {spec.data_type});
  const NumpyType encoded = numpy_type_option(configuration, "astype", decoded);
  return std::unique_ptr<const Filter>(std::make_unique<DeltaFilter>(decoded, encoded));
}

}  // namespace zarrcore
