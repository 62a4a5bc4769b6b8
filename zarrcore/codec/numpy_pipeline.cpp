#include "zarrcore/codec/numpy_pipeline.h"

#include <cmath>
#include <type_traits>
#include <utility>

#include "zarrcore/codec/element_filter.h"
#include "zarrcore/codec/numpy_arithmetic.h"
#include "zarrcore/dtype/element_loop.h"

namespace zarrcore {
namespace {

// Applied to floats, also for half precision, and to integers as uint64_t, which only wrap around.
struct Add {
  template <typename T>
  T operator()(T a, T b) const {
    return a + b;
  }
};
struct Subtract {
  template <typename T>
  T operator()(T a, T b) const {
    return a - b;
  }
};
struct Multiply {
  template <typename T>
  T operator()(T a, T b) const {
    return a * b;
  }
};
struct Divide {
  template <typename T>
  T operator()(T a, T b) const {
    return a / b;
  }
};

// The type in which elements of type T are computed with.
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

class PipelineFilter final : public ElementFilter {
 public:
  PipelineFilter(std::string name, const NumpyType& decoded, const NumpyType& encoded,
                 NumpyPipeline encode, NumpyPipeline decode, Tolerance tolerance)
      : ElementFilter(std::move(name), decoded, encoded),
        encode_(std::move(encode)),
        decode_(std::move(decode)),
        tolerance_(tolerance) {}

 private:
  void encode_elements(const std::byte* decoded, std::byte* encoded,
                       std::size_t count) const override {
    encode_.run(decoded, encoded, count);
  }
  void decode_elements(const std::byte* encoded, std::byte* decoded,
                       std::size_t count) const override {
    decode_.run(encoded, decoded, count);
  }

  std::optional<Tolerance> tolerance() const override { return tolerance_; }

  NumpyPipeline encode_;
  NumpyPipeline decode_;
  Tolerance tolerance_;
};

}  // namespace

template <typename Operator>
void NumpyPipeline::append(const DataType& type, const Json& number) {
  cast(type);
  with_real_type(type, [&](auto tag) {
    using T = typename decltype(tag)::Type;
    if constexpr (std::is_integral_v<T> && std::is_same_v<Operator, Divide>) {
      return;  // divide() has converted them to floats
    } else {
      const OperandOf<T> operand = number_as<T>(number);
      stages_.back().operations.push_back([operand](std::byte* elements, std::size_t count) {
        transform_elements<T>(elements, elements, count, [operand](ValueOf<T> value) {
          return static_cast<ValueOf<T>>(Operator()(static_cast<OperandOf<T>>(value), operand));
        });
      });
    }
  });
}

NumpyPipeline& NumpyPipeline::add(const Json& number) {
  append<Add>(promote_numpy_type(type(), number), number);
  return *this;
}

NumpyPipeline& NumpyPipeline::subtract(const Json& number) {
  append<Subtract>(promote_numpy_type(type(), number), number);
  return *this;
}

NumpyPipeline& NumpyPipeline::multiply(const Json& number) {
  append<Multiply>(promote_numpy_type(type(), number), number);
  return *this;
}

NumpyPipeline& NumpyPipeline::divide(const Json& number) {
  const bool is_float = type().kind == TypeKind::floating;
  append<Divide>(is_float ? promote_numpy_type(type(), number) : DataType{TypeKind::floating, 8},
                 number);
  return *this;
}

NumpyPipeline& NumpyPipeline::round() {
  with_real_type(type(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    if constexpr (!std::is_integral_v<T>) {
      cast(type());
      stages_.back().operations.push_back([](std::byte* elements, std::size_t count) {
        transform_elements<T>(elements, elements, count,
                              [](ValueOf<T> value) { return std::nearbyint(value); });
      });
    }
  });
  return *this;
}

NumpyPipeline& NumpyPipeline::cast(const DataType& type) {
  if (stages_.empty() || this->type() != type) {
    stages_.push_back({make_numpy_cast(this->type(), type), type, {}});
  }
  return *this;
}

void NumpyPipeline::run(const std::byte* input, std::byte* output, std::size_t count) const {
  ElementBatch batches[2];
  for_each_batch(count, [&](std::size_t first, std::size_t size) {
    const std::byte* source = input + first * input_.item_size;
    std::uint64_t source_size = input_.item_size;
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      const Stage& stage = stages_[i];
      const std::uint64_t item_size = stage.type.item_size;
      const bool is_last = i + 1 == stages_.size();
      std::byte* target = is_last ? output + first * item_size : batches[i % 2].bytes;
      stage.cast->convert(source, static_cast<std::ptrdiff_t>(source_size), target,
                          static_cast<std::ptrdiff_t>(item_size), size);
      for (const Operation& operation : stage.operations) operation(target, size);
      source = target;
      source_size = item_size;
    }
  });
}

std::unique_ptr<const Filter> make_pipeline_filter(std::string name, const NumpyType& decoded,
                                                   const NumpyType& encoded, NumpyPipeline encode,
                                                   NumpyPipeline decode, Tolerance tolerance) {
  return std::make_unique<PipelineFilter>(std::move(name), decoded, encoded, std::move(encode),
                                          std::move(decode), tolerance);
}

}  // namespace zarrcore
