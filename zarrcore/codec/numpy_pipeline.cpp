#include "zarrcore/codec/numpy_pipeline.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "zarrcore/base/error.h"
#include "zarrcore/codec/element_filter.h"
#include "zarrcore/codec/numpy_arithmetic.h"

namespace zarrcore {
namespace {

// Applied to floats, of which half of a precision is a float, and to integers as uint64_t, where
// they wrap around and nothing else.
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

template <typename T>
using ValueOf = decltype(load_element<T>(nullptr));

template <typename T>
ValueOf<T> number_as(const Json& number) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(number.get<std::int64_t>());
  } else {
    std::byte bytes[sizeof(T)];
    store_element<T>(static_cast<ValueOf<T>>(number.get<double>()), bytes);
    return load_element<T>(bytes);
  }
}

// Calls `body` with the TypeTag of a type of real numbers.
template <typename Body>
void with_real_type(const DataType& type, const Body& body) {
  with_numeric_type(type, [&](auto tag) {
    using T = typename decltype(tag)::Type;
    if constexpr (IsComplex<T>::value || std::is_same_v<T, Bool>) {
      throw Error("the data type " + type_name(type) + " has no real numbers");
    } else {
      body(tag);
    }
  });
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
    stages_.back().operations.push_back(
        [operand = number_as<T>(number)](std::byte* elements, std::size_t count) {
          for (std::size_t i = 0; i < count; ++i, elements += sizeof(T)) {
            const auto value = load_element<T>(elements);
            if constexpr (!std::is_integral_v<T>) {
              store_element<T>(Operator()(value, operand), elements);
            } else if constexpr (!std::is_same_v<Operator, Divide>) {
              store_element<T>(static_cast<T>(Operator()(static_cast<std::uint64_t>(value),
                                                         static_cast<std::uint64_t>(operand))),
                               elements);
            }
          }
        });
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
        for (std::size_t i = 0; i < count; ++i, elements += sizeof(T)) {
          store_element<T>(std::nearbyint(load_element<T>(elements)), elements);
        }
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
  NumpyBlock blocks[2];
  for (std::size_t done = 0; done < count; done += kNumpyBlock) {
    const std::size_t now = std::min(kNumpyBlock, count - done);
    const std::byte* source = input + done * input_.item_size;
    std::uint64_t source_size = input_.item_size;
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      const Stage& stage = stages_[i];
      const std::uint64_t size = stage.type.item_size;
      std::byte* target = i + 1 == stages_.size() ? output + done * size : blocks[i % 2].bytes;
      stage.cast->convert(source, static_cast<std::ptrdiff_t>(source_size), target,
                          static_cast<std::ptrdiff_t>(size), now);
      for (const Operation& operation : stage.operations) operation(target, now);
      source = target;
      source_size = size;
    }
  }
}

std::unique_ptr<const Filter> make_pipeline_filter(std::string name, const NumpyType& decoded,
                                                   const NumpyType& encoded, NumpyPipeline encode,
                                                   NumpyPipeline decode, Tolerance tolerance) {
  return std::make_unique<PipelineFilter>(std::move(name), decoded, encoded, std::move(encode),
                                          std::move(decode), tolerance);
}

}  // namespace zarrcore
