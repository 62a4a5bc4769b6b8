// Conversion between numeric data types, for callers that want another type than the stored one.
#pragma once

#include <memory>

#include "zarrcore/base/api.h"
#include "zarrcore/base/strided.h"
#include "zarrcore/dtype/data_type.h"

namespace zarrcore {

// Returns a converter between two numeric types; null when one of them is not numeric, and when
// both are the same and need no conversion. Floats become integers by rounding half away from zero,
// values out of range become the nearest end, NaN becomes 0; everything but 0 becomes true; a
// complex number becomes its real part.
ZARRCORE_API std::unique_ptr<const ElementConverter> make_numeric_converter(
    const DataType& source, const DataType& destination);

// Combines two conversions, each of which may be null. Elements in between have `middle_size`
// bytes, at most 16.
ZARRCORE_API std::unique_ptr<const ElementConverter> chain_converters(
    std::unique_ptr<const ElementConverter> first, std::uint64_t middle_size,
    std::unique_ptr<const ElementConverter> second);

}  // namespace zarrcore
