// Filters that compute each element from one other, like an expression of NumPy: a sequence of
// operations with numbers, each in the type that NumPy uses.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "zarrcore/base/json.h"
#include "zarrcore/base/strided.h"
#include "zarrcore/codec/codec.h"
#include "zarrcore/codec/held_values.h"
#include "zarrcore/dtype/numpy_type.h"

namespace zarrcore {

class NumpyPipeline {
 public:
  // For elements of type `input`. All steps except cast() throw Error for other types than real
  // numbers.
  explicit NumpyPipeline(const DataType& input) : input_(input) {}

  NumpyPipeline& add(const Json& number);
  NumpyPipeline& subtract(const Json& number);
  NumpyPipeline& multiply(const Json& number);
  NumpyPipeline& divide(const Json& number);
  // Rounds to whole numbers, halves to the even one.
  NumpyPipeline& round();
  NumpyPipeline& cast(const DataType& type);

  void run(const std::byte* input, std::byte* output, std::size_t count) const;

 private:
  // Changes a batch of elements in place.
  using Operation = std::function<void(std::byte* elements, std::size_t count)>;
  struct Stage {
    std::shared_ptr<const ElementConverter> cast;  // from the type of the stage before
    DataType type;
    std::vector<Operation> operations;
  };

  const DataType& type() const { return stages_.empty() ? input_ : stages_.back().type; }
  template <typename Operator>
  void append(const DataType& type, const Json& number);

  DataType input_;
  std::vector<Stage> stages_;
};

// Makes the filter between elements of `decoded` and `encoded` that the two pipelines describe.
// Encoding throws Error for elements that it would restore with a larger error than `tolerance`.
std::unique_ptr<const Filter> make_pipeline_filter(std::string name, const NumpyType& decoded,
                                                   const NumpyType& encoded, NumpyPipeline encode,
                                                   NumpyPipeline decode, Tolerance tolerance);

}  // namespace zarrcore
