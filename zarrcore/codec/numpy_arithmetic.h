// Numbers as NumPy treats them: which type two types meet in, and what a cast makes of a value. The
// filters of numcodecs are defined by it.
#pragma once

#include <cstring>
#include <memory>
#include <type_traits>

#include "zarrcore/base/json.h"
#include "zarrcore/base/strided.h"
#include "zarrcore/dtype/dispatch.h"

namespace zarrcore {

// numpy.result_type of two numeric types.
DataType promote_numpy_types(const DataType& a, const DataType& b);

// The type of an array of `type` after an operation with a number, which widens it only as far as
// its kind and value demand (NumPy 1's rule; NumPy 2 has errors and infinities for the numbers
// where it differs).
DataType promote_numpy_type(const DataType& type, const Json& number);

// ndarray.astype: floats lose their fraction to become integers, integers wrap around, complex
// numbers lose their imaginary part, times are their int64. Of floats that an integer cannot hold,
// NumPy makes what the processor makes; here, that is what it does on x86. Throws Error for types
// that are neither numbers nor times, and for times whose units differ.
std::unique_ptr<const ElementConverter> make_numpy_cast(const DataType& source,
                                                        const DataType& destination);

// The counterpart of load_element.
template <typename T, typename Value>
void store_element(Value value, std::byte* bytes) {
  T stored;
  if constexpr (std::is_same_v<T, Bool>) {
    stored = {static_cast<std::uint8_t>(value != Value{0})};
  } else if constexpr (std::is_same_v<T, Float16>) {
    stored = {double_to_float16(static_cast<double>(value))};
  } else {
    stored = value;
  }
  std::memcpy(bytes, &stored, sizeof(T));
}

// Elements that are worked on at a time, in memory for kNumpyBlock of the largest.
inline constexpr std::size_t kNumpyBlock = 256;
struct NumpyBlock {
  std::byte bytes[kNumpyBlock * sizeof(std::complex<double>)];
};

}  // namespace zarrcore
