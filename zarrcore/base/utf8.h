// UTF-8 (RFC 3629), in which texts stand in documents and chunks: checked, and from and to code
// points.
#pragma once

#include <string>
#include <string_view>

#include "zarrcore/base/buffer.h"

namespace zarrcore {

// Whether `text`, which may be anything, is UTF-8: no overlong forms, no surrogates, nothing past
// U+10FFFF.
bool is_utf8(std::string_view text);

// The code points of `text`, which is UTF-8: the JSON parser has seen to that.
std::u32string decode_utf8(std::string_view text);

// The reverse, of code points of 4 bytes each in the host's order. Throws Error when one of them is
// not one of Unicode, or a surrogate.
std::string encode_utf8(ByteSpan code_points);

}  // namespace zarrcore
