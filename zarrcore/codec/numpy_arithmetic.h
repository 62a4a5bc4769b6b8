// NumPy's rules for numbers, by which the filters of numcodecs are defined: to which type two types
// are promoted, and how values are cast.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "zarrcore/base/json.h"
#include "zarrcore/base/strided.h"
#include "zarrcore/dtype/data_type.h"

namespace zarrcore {

// numpy.result_type of two numeric types.
DataType promote_numpy_types(const DataType& a, const DataType& b);

// The type of an array of `type` after an operation with a number. The number widens it only as far
// as its kind and value require (NumPy 1's rule; where NumPy 2's differs, its results are errors
// and infinities).
DataType promote_numpy_type(const DataType& type, const Json& number);

// ndarray.astype: floats lose their fraction to become integers, integers wrap around, complex
// numbers lose their imaginary part, times are their int64. In NumPy, the result for floats that an
// integer cannot hold depends on the processor; here it is always x86's. Throws Error for types
// that are neither numbers nor times, and for times whose units differ.
std::unique_ptr<const ElementConverter> make_numpy_cast(const DataType& source,
                                                        const DataType& destination);

// The operations with a number that filters need.
enum class NumpyOperator : std::uint8_t { add, subtract, multiply, divide };

// Computes each element from one other, like an expression of NumPy: a sequence of operations with
// numbers, each in the type that NumPy uses. Callable as an ElementLoop.
class NumpyPipeline {
 public:
  // For elements of type `input`. All steps except cast() throw Error for other types than real
  // numbers.
  explicit NumpyPipeline(const DataType& input) : input_(input) {}

  NumpyPipeline& compute(NumpyOperator op, const Json& number);
  // Rounds to whole numbers, halves to the even one.
  NumpyPipeline& round();
  NumpyPipeline& cast(const DataType& type);

  void operator()(const std::byte* input, std::byte* output, std::size_t count) const;

 private:
  // Changes a batch of elements in place.
  using Operation = std::function<void(std::byte* elements, std::size_t count)>;
  struct Stage {
    std::shared_ptr<const ElementConverter> cast;  // null: the stage before has the same type
    DataType type;
    std::vector<Operation> operations;
  };

  const DataType& type() const { return stages_.empty() ? input_ : stages_.back().type; }
  // Adds `compute`, applied to each element of type T.
  template <typename T, typename Compute>
  void append(const Compute& compute);

  DataType input_;
  std::vector<Stage> stages_;
};

}  // namespace zarrcore
