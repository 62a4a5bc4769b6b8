#include "zarrcore/codec/numpy_arithmetic.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "zarrcore/base/error.h"
#include "zarrcore/dtype/elements.h"

namespace zarrcore {
namespace {

DataType float64() {
  return {TypeKind::floating, 8};
}

DataType promote_integers(const DataType& a, const DataType& b) {
  if (a.kind == b.kind) return a.item_size < b.item_size ? b : a;
  const std::uint64_t signed_size = a.kind == TypeKind::signed_integer ? a.item_size : b.item_size;
  const std::uint64_t unsigned_size =
      a.kind == TypeKind::signed_integer ? b.item_size : a.item_size;
  const std::uint64_t size = std::max(signed_size, 2 * unsigned_size);
  return size > 8 ? float64() : DataType{TypeKind::signed_integer, size};
}

// The size of the smallest float that holds a real type.
std::uint64_t float_size(const DataType& type) {
  if (type.kind == TypeKind::boolean) return 2;
  if (type.kind == TypeKind::floating) return type.item_size;
  return std::min<std::uint64_t>(2 * type.item_size, 8);
}

// The smallest integer type that holds a number, unsigned if that is possible and allowed.
DataType smallest_integer(std::int64_t number, bool may_be_unsigned) {
  for (unsigned size = 1; size < 8; size *= 2) {
    const unsigned bits = 8 * size;
    if (may_be_unsigned && number >= 0) {
      if (number < std::int64_t{1} << bits) return {TypeKind::unsigned_integer, size};
    } else if (number >= -(std::int64_t{1} << (bits - 1)) && number < std::int64_t{1}
                                                                          << (bits - 1)) {
      return {TypeKind::signed_integer, size};
    }
  }
  return {may_be_unsigned && number >= 0 ? TypeKind::unsigned_integer : TypeKind::signed_integer,
          8};
}

DataType smallest_float(double number) {
  // The bounds are NumPy's.
  const double magnitude = std::abs(number);
  if (!std::isfinite(number) || magnitude < 65000) return {TypeKind::floating, 2};
  return {TypeKind::floating, magnitude < 3.4e38 ? 4u : 8u};
}

template <typename Integer>
Integer truncate(double value) {
  // Processors convert to one of these and keep the low bits; uint64 needs one more subtraction.
  constexpr bool kIsWide = sizeof(Integer) == 8 || std::is_same_v<Integer, std::uint32_t>;
  using Machine = std::conditional_t<kIsWide, std::int64_t, std::int32_t>;
  using Limits = std::numeric_limits<Machine>;
  constexpr auto kLimit = static_cast<double>(std::uint64_t{1} << Limits::digits);
  if constexpr (std::is_same_v<Integer, std::uint64_t>) {
    if (value >= kLimit) return value < 2 * kLimit ? static_cast<Integer>(value) : 0;
  }
  if (!(value > -kLimit - 1 && value < kLimit)) return static_cast<Integer>(Limits::min());
  return static_cast<Integer>(static_cast<Machine>(value));
}

template <typename T, typename From>
void store_cast(From value, std::byte* bytes) {
  if constexpr (IsComplex<From>::value) {
    if constexpr (IsComplex<T>::value) {
      store_element<T>(T(value), bytes);
    } else if constexpr (std::is_same_v<T, Bool>) {
      store_element<T>(value != From{0}, bytes);
    } else {
      store_cast<T>(value.real(), bytes);
    }
  } else if constexpr (IsComplex<T>::value) {
    using Part = typename T::value_type;
    store_element<T>(T(static_cast<Part>(value)), bytes);
  } else if constexpr (std::is_same_v<T, Bool> || std::is_same_v<T, Float16>) {
    store_element<T>(value, bytes);
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<T>) {
    store_element<T>(truncate<T>(static_cast<double>(value)), bytes);
  } else {
    store_element<T>(static_cast<T>(value), bytes);
  }
}

// The type in which elements of type T are computed with: integers as uint64_t, which only wrap
// around.
template <typename T>
using OperandOf = std::conditional_t<std::is_integral_v<T>, std::uint64_t, ValueOf<T>>;

template <typename T>
OperandOf<T> number_as(const Json& number) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<std::uint64_t>(number.get<std::int64_t>());
  } else {
    return rounded_to<T>(static_cast<ValueOf<T>>(number.get<double>()));
  }
}

}  // namespace

DataType promote_numpy_types(const DataType& a, const DataType& b) {
  if (a == b || b.kind == TypeKind::boolean) return a;
  if (a.kind == TypeKind::boolean) return b;
  if (a.is_integer() && b.is_integer()) return promote_integers(a, b);
  if (a.kind == TypeKind::complex || b.kind == TypeKind::complex) {
    const auto part_size = [](const DataType& type) {
      return type.kind == TypeKind::complex ? type.item_size / 2 : float_size(type);
    };
    return {TypeKind::complex, 2 * std::max({part_size(a), part_size(b), std::uint64_t{4}})};
  }
  return {TypeKind::floating, std::max(float_size(a), float_size(b))};
}

DataType promote_numpy_type(const DataType& type, const Json& number) {
  const bool is_small_integer =
      number.is_number_integer() &&
      (!number.is_number_unsigned() || number.get<std::uint64_t>() <= INT64_MAX);
  if (!is_small_integer) {
    const bool is_float = type.kind == TypeKind::floating;
    return promote_numpy_types(type, is_float ? smallest_float(number.get<double>()) : float64());
  }
  if (type.kind == TypeKind::boolean) return {TypeKind::signed_integer, 8};
  return promote_numpy_types(
      type, smallest_integer(number.get<std::int64_t>(), type.kind != TypeKind::signed_integer));
}

std::unique_ptr<const ElementConverter> make_numpy_cast(const DataType& source,
                                                        const DataType& destination) {
  if (source == destination) {
    return make_element_converter(
        [size = memory_size(source.item_size)](const std::byte* from, std::byte* to) {
          std::memcpy(to, from, size);
        });
  }
  if (source.is_time() && destination.is_time() && source.time_unit != destination.time_unit) {
    throw Error("the units of " + type_name(source) + " and " + type_name(destination) +
                " differ, which is not supported");
  }
  return with_numeric_type(source.value_type(), [&](auto from_tag) {
    return with_numeric_type(destination.value_type(), [&](auto to_tag) {
      using From = typename decltype(from_tag)::Type;
      using To = typename decltype(to_tag)::Type;
      return make_element_converter([](const std::byte* from, std::byte* to) {
        store_cast<To>(load_element<From>(from), to);
      });
    });
  });
}

template <typename T, typename Compute>
void NumpyPipeline::append(const Compute& compute) {
  stages_.back().operations.push_back([compute](std::byte* elements, std::size_t count) {
    transform_elements<T>(elements, elements, count, compute);
  });
}

NumpyPipeline& NumpyPipeline::compute(NumpyOperator op, const Json& number) {
  const bool divides_integers = op == NumpyOperator::divide && type().kind != TypeKind::floating;
  cast(divides_integers ? float64() : promote_numpy_type(type(), number));
  with_real_type(type(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    const auto append_operator = [&](auto operate) {
      append<T>([operate, operand = number_as<T>(number)](ValueOf<T> value) {
        return static_cast<ValueOf<T>>(operate(static_cast<OperandOf<T>>(value), operand));
      });
    };
    switch (op) {
      case NumpyOperator::add:
        return append_operator(std::plus<>());
      case NumpyOperator::subtract:
        return append_operator(std::minus<>());
      case NumpyOperator::multiply:
        return append_operator(std::multiplies<>());
      case NumpyOperator::divide:
        if constexpr (!std::is_integral_v<T>) append_operator(std::divides<>());
    }
  });
  return *this;
}

NumpyPipeline& NumpyPipeline::round() {
  with_real_type(type(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    if constexpr (!std::is_integral_v<T>) {
      cast(type());
      append<T>([](ValueOf<T> value) { return std::nearbyint(value); });
    }
  });
  return *this;
}

NumpyPipeline& NumpyPipeline::cast(const DataType& type) {
  if (stages_.empty() || this->type() != type) {
    stages_.push_back(
        {this->type() == type ? nullptr : make_numpy_cast(this->type(), type), type, {}});
  }
  return *this;
}

void NumpyPipeline::operator()(const std::byte* input, std::byte* output, std::size_t count) const {
  ElementBatch batches[2];
  for_each_batch(count, [&](std::size_t first, std::size_t size) {
    const std::byte* source = input + first * input_.item_size;
    std::uint64_t source_size = input_.item_size;
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      const Stage& stage = stages_[i];
      const std::uint64_t item_size = stage.type.item_size;
      const bool is_last = i + 1 == stages_.size();
      std::byte* target = is_last ? output + first * item_size : batches[i % 2].bytes;
      if (stage.cast) {
        stage.cast->convert(source, static_cast<std::ptrdiff_t>(source_size), target,
                            static_cast<std::ptrdiff_t>(item_size), size);
      } else {
        std::memcpy(target, source, memory_size(size * item_size));
      }
      for (const Operation& operation : stage.operations) operation(target, size);
      source = target;
      source_size = item_size;
    }
  });
}

}  // namespace zarrcore
