// NumPy's rules for numbers, by which the filters of numcodecs are defined: to which type two types
// are promoted, and how values are cast.
#pragma once

#include <memory>

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
// numbers lose their imaginary part, times are their int64. The result for floats that an integer
// cannot hold depends on the processor in NumPy; here it is that of x86. Throws Error for types
// that are neither numbers nor times, and for times whose units differ.
std::unique_ptr<const ElementConverter> make_numpy_cast(const DataType& source,
                                                        const DataType& destination);

}  // namespace zarrcore
