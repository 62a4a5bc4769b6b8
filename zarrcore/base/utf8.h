// UTF-8 (RFC 3629), the encoding of texts in documents and chunks: checks, and conversion from and
// to code points.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "zarrcore/base/buffer.h"

namespace zarrcore {

// Appends a code point of Unicode.
void append_utf8(std::string& text, std::uint32_t code_point);

// Whether any bytes are UTF-8: no overlong forms, no surrogates, nothing past U+10FFFF.
bool is_utf8(std::string_view text);

// The code points of `text`, which must be UTF-8; the JSON parser has checked that.
std::u32string decode_utf8(std::string_view text);

// The inverse, for code points of 4 bytes each in the host's order. Throws Error when one of them
// is a surrogate or not in Unicode.
std::string encode_utf8(ByteSpan code_points);

}  // namespace zarrcore
