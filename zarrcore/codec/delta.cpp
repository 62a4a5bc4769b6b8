// The `delta` filter of numcodecs: the first element, then the differences between neighbours.
// Configuration: `dtype` of the elements, `astype` of the differences.
//
// As in NumPy, differences are computed in `dtype`, and sums in the type to which both are
// promoted.
#include <algorithm>
#include <functional>
#include <limits>
#include <type_traits>
#include <utility>

#include "zarrcore/base/error.h"
#include "zarrcore/codec/codec.h"
#include "zarrcore/codec/element_codec.h"
#include "zarrcore/codec/numpy_arithmetic.h"
#include "zarrcore/dtype/elements.h"

namespace zarrcore {
namespace {

// Durations, which are stored as int64: the result of "not a time" with anything is "not a time".
struct Duration {};
template <typename T>
using StoredAs = std::conditional_t<std::is_same_v<T, Duration>, std::int64_t, T>;
constexpr std::int64_t kNotATime = std::numeric_limits<std::int64_t>::min();

// The sum or, with std::minus, the difference. Integers wrap around; of bool, the sum is "or" and
// the difference "exclusive or".
template <typename T, typename Operator, typename Value>
Value combined(Value a, Value b) {
  if constexpr (std::is_same_v<T, Bool>) {
    return std::is_same_v<Operator, std::plus<>> ? a | b : a ^ b;
  } else if constexpr (std::is_same_v<T, Duration>) {
    if (a == kNotATime || b == kNotATime) return kNotATime;
    return combined<std::int64_t, Operator>(a, b);
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(Operator()(static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b)));
  } else {
    return Operator()(a, b);
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

struct Delta {
  Delta(const DataType& decoded_type, const DataType& encoded_type)
      : decoded(decoded_type),
        encoded(encoded_type),
        sum_type(decoded == encoded ? decoded : promote_numpy_types(encoded, decoded)),
        to_encoded(NumpyPipeline(decoded).cast(encoded)),
        to_sum(NumpyPipeline(encoded).cast(sum_type)),
        to_decoded(NumpyPipeline(sum_type).cast(decoded)) {
    with_delta_type(decoded, [](auto) {});
    if ((decoded.is_time() || encoded.is_time()) && decoded != encoded) {
      throw Error("\"dtype\" and \"astype\" are not the same kind of time");
    }
  }

  // If both types are the same integer type, elements are always restored.
  std::optional<Tolerance> tolerance() const {
    if (decoded.is_integer() && decoded == encoded) return std::nullopt;
    if (rounding_unit(decoded) == 0) return Tolerance();
    const double unit =
        std::max({rounding_unit(decoded), rounding_unit(encoded), rounding_unit(sum_type)});
    return Tolerance{0, 4 * unit, true};
  }

  void encode(const std::byte* from, std::byte* to, std::size_t count) const {
    with_delta_type(decoded, [&](auto tag) {
      using T = typename decltype(tag)::Type;
      using Value = ValueOf<StoredAs<T>>;
      Value previous{};
      ElementBatch batch;
      for_each_batch(count, [&](std::size_t first, std::size_t size) {
        transform_elements<StoredAs<T>>(
            from + first * decoded.item_size, batch.bytes, size, [&](Value value) {
              return combined<T, std::minus<>>(value, std::exchange(previous, value));
            });
        to_encoded(batch.bytes, to + first * encoded.item_size, size);
      });
    });
  }

  void decode(const std::byte* from, std::byte* to, std::size_t count) const {
    with_delta_type(sum_type, [&](auto tag) {
      using T = typename decltype(tag)::Type;
      using Value = ValueOf<StoredAs<T>>;
      Value total{};
      bool is_first = true;
      ElementBatch batch;
      for_each_batch(count, [&](std::size_t first, std::size_t size) {
        to_sum(from + first * encoded.item_size, batch.bytes, size);
        transform_elements<StoredAs<T>>(batch.bytes, batch.bytes, size, [&](Value value) {
          // The first is not added to zero: that would make 0.0 of -0.0.
          total = std::exchange(is_first, false)
                      ? value
                      : rounded_to<StoredAs<T>>(combined<T, std::plus<>>(total, value));
          return total;
        });
        to_decoded(batch.bytes, to + first * decoded.item_size, size);
      });
    });
  }

  DataType decoded;
  DataType encoded;
  DataType sum_type;
  NumpyPipeline to_encoded;
  NumpyPipeline to_sum;
  NumpyPipeline to_decoded;
};

}  // namespace

Codec make_delta(const Json& configuration, const ChunkSpec& spec) {
  const NumpyType decoded = numpy_type_option(configuration, "dtype", {spec.data_type});
  const NumpyType encoded = numpy_type_option(configuration, "astype", decoded);
  const Delta delta(decoded.type, encoded.type);
  return make_element_filter(
      {"delta", decoded, encoded, [delta](auto... elements) { delta.encode(elements...); },
       [delta](auto... elements) { delta.decode(elements...); }, delta.tolerance()});
}

}  // namespace zarrcore
