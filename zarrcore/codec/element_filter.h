// Filters of numcodecs: the base of most of them, by which elements of one type become as many
// elements of another, and filters as array-to-array codecs, which they are in v3 chains.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "zarrcore/base/json.h"
#include "zarrcore/codec/codec.h"
#include "zarrcore/dtype/data_type.h"
#include "zarrcore/dtype/numpy_type.h"

namespace zarrcore {

// NumPy wraps around numbers that a type cannot hold, and numcodecs stores the result; here it is
// an error when a filter does not restore what it encoded.

// How far a decoded element may be from the original.
struct Tolerance {
  double absolute = 0;
  double relative = 0;
  // For sums: the relative part is of the largest element so far, and grows with the count.
  bool accumulates = false;
};

// The distance between 1 and the next number of a float or complex type; 0 for other types.
double rounding_unit(const DataType& type);

// The first of `count` elements of a numeric type or a time that differs from its counterpart in
// `returned` by more than the tolerance; NaN is the same as NaN.
std::optional<std::size_t> find_lost_element(const DataType& type, const std::byte* elements,
                                             const std::byte* returned, std::size_t count,
                                             const Tolerance& tolerance);

class ElementFilter : public Filter {
 public:
  std::optional<std::uint64_t> encoded_size(std::uint64_t decoded_size) const final;
  std::uint64_t max_decoded_size(ByteSpan encoded) const final;
  Buffer encode(ByteSpan decoded) const final;
  void decode(ByteSpan encoded, MutableByteSpan decoded) const final;
  std::string name() const final { return name_; }
  DataType encoded_type() const final { return encoded_.type; }
  Endian encoded_endian() const final { return encoded_.endian; }

 protected:
  // Messages start with `name`.
  ElementFilter(std::string name, NumpyType decoded, NumpyType encoded);

  // Throws the Error that the element at `index`, which is `element`, cannot be stored because it
  // would become `returned`. Both are of the decoded type.
  [[noreturn]] void refuse(std::size_t index, const std::byte* element,
                           const std::byte* returned) const;

 private:
  // Elements are in the host's byte order, and need not be aligned.
  virtual void encode_elements(const std::byte* decoded, std::byte* encoded,
                               std::size_t count) const = 0;
  virtual void decode_elements(const std::byte* encoded, std::byte* decoded,
                               std::size_t count) const = 0;
  // How far decoded numbers and times may be from those that were encoded; nullopt when the filter
  // has no such bound, or checks it itself.
  virtual std::optional<Tolerance> tolerance() const { return std::nullopt; }
  void check_held(const std::byte* decoded, const std::byte* encoded, std::size_t count) const;

  // The number of elements of `type` in `bytes`. Throws Error when it is not whole.
  std::size_t count_elements(ByteSpan bytes, const DataType& type) const;

  std::string name_;
  NumpyType decoded_;
  NumpyType encoded_;
};

// Changes `elements` of `type` from its byte order to the host's, or back.
void swap_elements(MutableByteSpan elements, const NumpyType& type);

// The data type `key` of a filter, as NumPy spells it; `fallback` when it is missing or null.
// Throws Error when it is not a data type.
NumpyType numpy_type_option(const Json& configuration, std::string_view key,
                            const NumpyType& fallback);

// Makes an array-to-array codec that applies `filter` to the elements of chunks of `spec` in C
// order. As in zarr-python, a filter sees the bytes of the elements. Their byte order is
// `input_endian`: little, unless another filter produced them, so a store means the same on every
// computer.
std::unique_ptr<const ArrayToArrayCodec> make_array_filter(std::unique_ptr<const Filter> filter,
                                                           const ChunkSpec& spec,
                                                           Endian input_endian);

}  // namespace zarrcore
