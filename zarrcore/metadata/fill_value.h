// Fill values: from JSON to the bytes of one element.
#pragma once

#include <cstddef>
#include <vector>

#include "zarrcore/base/json.h"
#include "zarrcore/dtype/data_type.h"

namespace zarrcore {

// The element that `value` spells, item_size bytes in the host's byte order. Understands every
// spelling of the formats, which do not contradict each other:
//   bool     true, false, 0, 1
//   integers a number (1.0 too), a number as text
//   floats   a number, "NaN", "Infinity", "-Infinity", "0x7fc00000" (the bits)
//   complex  a list of two of the above; a number alone has no imaginary part
//   raw      a list of bytes, base64
//   times    an integer, "NaT"
//   strings  fixed_bytes: base64; fixed_utf32: the text; 0 is the empty string
//   of variable length: the text; for bytes base64 or a list of bytes. The result is what the
//   element
//            holds, whatever its length
//   struct   an object with a member for each field, base64 of the bytes
// and a list that holds one of these alone (NCZarr). Throws Error on all else, and when the value
// does not fit the type; but a number too large for a float is infinity, as in NumPy.
std::vector<std::byte> parse_fill_value(const Json& value, const DataType& type);

}  // namespace zarrcore
