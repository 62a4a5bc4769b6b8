// Conversion between numeric data types, for callers that want another type than the stored one.
#pragma once

#include <memory>

#include "zarrcore/base/strided.h"
#include "zarrcore/dtype/data_type.h"

namespace zarrcore {

// A converter between two numeric types; null when one of them is not numeric, and when both are
// the same (nothing is to be converted). Floats become integers by rounding half away from zero,
// values out of range go to the nearest end, NaN becomes 0; bool takes 1 for all that is not 0; a
// complex number becomes a real one by its real part.
std::unique_ptr<const ElementConverter> make_numeric_converter(const DataType& source,
                                                               const DataType& destination);

// Two conversions one after the other, of which either may be null: no conversion. Elements in
// between have `middle_size` bytes, which are at most 16.
std::unique_ptr<const ElementConverter> chain_converters(
    std::unique_ptr<const ElementConverter> first, std::size_t middle_size,
    std::unique_ptr<const ElementConverter> second);

}  // namespace zarrcore
