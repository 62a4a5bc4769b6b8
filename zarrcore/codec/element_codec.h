// Codecs that make one element of another: filters of numcodecs, which view bytes as elements of
// their own type; array-to-array codecs; and array-to-bytes codecs whose elements another codec
// encodes. Each is two functions. Filters are array-to-array codecs as well, which they are in v3
// chains.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "zarrcore/base/json.h"
#include "zarrcore/codec/codec.h"
#include "zarrcore/dtype/data_type.h"

namespace zarrcore {

// Makes `count` elements of as many others. Elements are in the host's byte order, and need not be
// aligned.
using ElementLoop = std::function<void(const std::byte* from, std::byte* to, std::size_t count)>;

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

struct ElementFilter {
  std::string name;  // messages start with it
  NumpyType decoded;
  NumpyType encoded;
  ElementLoop encode;
  ElementLoop decode;
  // How far decoded numbers and times may be from those that were encoded, NaN being the same as
  // NaN; nullopt when the filter has no such bound, or checks it itself.
  std::optional<Tolerance> tolerance = std::nullopt;
};

Codec make_element_filter(ElementFilter filter);

// Throws the Error that the element at `index`, which is `element`, cannot be stored because it
// would become `returned`. Both are of `type`.
[[noreturn]] void refuse_element(std::string_view name, const DataType& type, std::size_t index,
                                 const std::byte* element, const std::byte* returned);

// Makes an array-to-array codec for chunks of `spec`, whose elements become elements of the type
// `encoded`. Throws Error when the fill value cannot be encoded.
Codec make_element_codec(const ChunkSpec& spec, const DataType& encoded, ElementLoop encode,
                         ElementLoop decode);

// Converts all elements of a dense chunk. What elements of variable length point to is allocated in
// `arena`.
using ChunkConversion = std::function<void(ByteSpan from, MutableByteSpan to, Arena& arena)>;

// Makes an array-to-bytes codec for chunks of `spec` from `inner`, one for as many elements of
// `inner_size` bytes each.
Codec make_converting_codec(const ChunkSpec& spec, std::size_t inner_size, Codec inner,
                            ChunkConversion encode, ChunkConversion decode);

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
