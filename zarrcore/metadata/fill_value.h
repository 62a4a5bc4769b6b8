// Fill values: from JSON to the bytes of one element, and back.
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

// The spelling of v3 for `element`, which parse_fill_value() reads back bit for bit:
//   floats   a number or one of the words; "0x7fc00001" for NaNs other than the usual one
//   complex  a list of two
//   raw      a list of bytes
//   times    an integer, "NaT"
//   strings  bytes as base64, others as text
//   struct   an object; base64 when it cannot be one, for equal names or subarrays
// Of a type of variable length `element` is what the element holds. Throws Error when a text is
// none.
Json format_fill_value(const std::vector<std::byte>& element, const DataType& type);

}  // namespace zarrcore
