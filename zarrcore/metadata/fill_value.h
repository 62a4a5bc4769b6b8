// Fill values: from JSON to the bytes of one element, and back.
#pragma once

#include <cstddef>
#include <vector>

#include "zarrcore/base/json.h"
#include "zarrcore/dtype/data_type.h"

namespace zarrcore {

// The element that `value` spells, item_size bytes in the host's byte order. Understands every
// spelling of the formats, which do not contradict each other:
//   bool      true, false, 0, 1
//   integers  a number (also 1.0); as text "12", "0x0c", "0b1100"; true and false
//   floats    a number, also as text; "NaN", "Infinity", "+Infinity", "-Infinity";
//             the bits at full width: "0x7fc00000", "0b0111…"
//   complex   a list of two of these; one alone has no imaginary part
//   times     an integer as above, "NaT"
//   raw       base64, a list of bytes, 0
//   fixed_bytes      base64 of at most item_size bytes, a list of bytes, 0
//   fixed_utf32      the text, 0
//   variable_string  the text, 0
//   variable_bytes   base64, a list of bytes, 0
//   struct    an object with members for fields (others are zero), or as fixed_bytes
// and a list of only one of these (NCZarr). 0 means the empty string, or bytes of zero. For a type
// of variable length, the result is the element's content, of any length. Throws Error for
// everything else, and when the value does not fit the type; but a number too large for a float is
// infinity, as in NumPy.
std::vector<std::byte> parse_fill_value(const Json& value, const DataType& type);

// The spelling of v3 for `element`, which parse_fill_value() reads back bit for bit:
//   bool      true, false
//   integers  a number
//   floats    a number or one of the words; "0x7fc00001" for NaNs other than the usual one
//   complex   a list of two
//   times     an integer, "NaT"
//   raw       a list of bytes
//   fixed_bytes, variable_bytes      base64, without the zero bytes that pad a fixed length
//   fixed_utf32, variable_string     the text, without padding
//   struct    an object; base64 when equal names or subarrays do not allow one
// Of a type of variable length `element` is what the element holds. Throws Error when a text is
// not valid Unicode.
Json format_fill_value(const std::vector<std::byte>& element, const DataType& type);

}  // namespace zarrcore
