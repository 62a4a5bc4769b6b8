// Filters that compute each element from one other, as an expression of NumPy would: a sequence of
// operations with numbers, each of them in the type that NumPy does it in.
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
  // It gets elements of `input`. All steps but cast() are for real numbers; they throw Error for
  // others.
  explicit NumpyPipeline(const DataType& input) : input_(input) {}

  NumpyPipeline& add(const Json& number);
  NumpyPipeline& subtract(const Json& number);
  NumpyPipeline& multiply(const Json& number);
  NumpyPipeline& divide(const Json& number);
  // To whole numbers, halves to the even one.
  NumpyPipeline& round();
  NumpyPipeline& cast(const DataType& type);

  void run(const std::byte* input, std::byte* output, std::size_t count) const;

 private:
  // Works on a block of elements where they are.
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

// The filter between elements of `decoded` and of `encoded` that the two pipelines describe.
// Elements that come back from it with a larger error than `tolerance` are not encoded.
std::unique_ptr<const Filter> make_pipeline_filter(std::string name, const NumpyType& decoded,
                                                   const NumpyType& encoded, NumpyPipeline encode,
                                                   NumpyPipeline decode, Tolerance tolerance);

}  // namespace zarrcore
