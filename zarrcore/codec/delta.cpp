// The `delta` filter of numcodecs: the first element, then the differences between neighbours.
// Configuration: `dtype` of the elements, `astype` of the differences.
//
// As in NumPy, differences are taken in `dtype`, and summed up in the type that both types meet in.
#include <algorithm>
#include <limits>

#include "zarrcore/base/error.h"
#include "zarrcore/codec/configuration.h"
#include "zarrcore/codec/element_filter.h"
#include "zarrcore/codec/numpy_arithmetic.h"
#include "zarrcore/codec/registry.h"

namespace zarrcore {
namespace {

// Durations: one that is not a time makes none of all that come from it.
struct Duration {
  std::int64_t count;
};
constexpr std::int64_t kNotATime = std::numeric_limits<std::int64_t>::min();

template <typename T>
auto load(const std::byte* bytes) {
  if constexpr (std::is_same_v<T, Duration>) {
    return load_element<std::int64_t>(bytes);
  } else {
    return load_element<T>(bytes);
  }
}

template <typename T, typename Value>
void store(Value value, std::byte* bytes) {
  if constexpr (std::is_same_v<T, Duration>) {
    store_element<std::int64_t>(value, bytes);
  } else {
    store_element<T>(value, bytes);
  }
}

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
  // Integers of one type come back whatever the differences.
  std::optional<Tolerance> tolerance() const override {
    const bool is_integer =
        decoded_.kind == TypeKind::signed_integer || decoded_.kind == TypeKind::unsigned_integer;
    if (is_integer && decoded_ == encoded_) return std::nullopt;
    if (rounding_unit(decoded_) == 0) return Tolerance();
    const double unit =
        std::max({rounding_unit(decoded_), rounding_unit(encoded_), rounding_unit(sum_)});
    return Tolerance{0, 4 * unit, true};
  }

  void encode_elements(const std::byte* decoded, std::byte* encoded,
                       std::size_t count) const override {
    const auto size = static_cast<std::ptrdiff_t>(decoded_.item_size);
    with_delta_type(decoded_, [&](auto tag) {
      using T = typename decltype(tag)::Type;
      decltype(load<T>(decoded)) previous{};
      NumpyBlock block;
      for (std::size_t done = 0; done < count; done += kNumpyBlock) {
        const std::size_t now = std::min(kNumpyBlock, count - done);
        const std::byte* source = decoded + done * sizeof(T);
        for (std::size_t i = 0; i < now; ++i) {
          const auto value = load<T>(source + i * sizeof(T));
          store<T>(difference<T>(value, previous), block.bytes + i * sizeof(T));
          previous = value;
        }
        to_encoded_->convert(block.bytes, size, encoded + done * encoded_.item_size,
                             static_cast<std::ptrdiff_t>(encoded_.item_size), now);
      }
    });
  }

  void decode_elements(const std::byte* encoded, std::byte* decoded,
                       std::size_t count) const override {
    const auto size = static_cast<std::ptrdiff_t>(sum_.item_size);
    with_delta_type(sum_, [&](auto tag) {
      using T = typename decltype(tag)::Type;
      decltype(load<T>(encoded)) total{};
      NumpyBlock block;
      for (std::size_t done = 0; done < count; done += kNumpyBlock) {
        const std::size_t now = std::min(kNumpyBlock, count - done);
        to_sum_->convert(encoded + done * encoded_.item_size,
                         static_cast<std::ptrdiff_t>(encoded_.item_size), block.bytes, size, now);
        for (std::size_t i = 0; i < now; ++i) {
          std::byte* element = block.bytes + i * sizeof(T);
          const auto value = load<T>(element);
          // The first is not added to zero: that would make 0.0 of -0.0.
          total = done + i == 0 ? value : sum<T>(total, value);
          store<T>(total, element);
          total = load<T>(element);  // as rounded to half precision
        }
        to_decoded_->convert(block.bytes, size, decoded + done * decoded_.item_size,
                             static_cast<std::ptrdiff_t>(decoded_.item_size), now);
      }
    });
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
