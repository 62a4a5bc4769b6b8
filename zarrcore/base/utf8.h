// UTF-8 (RFC 3629), in which texts stand in documents and chunks: checked, and from and to code
// points.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace zarrcore {

// Whether `text`, which may be anything, is UTF-8: no overlong forms, no surrogates, nothing past
// U+10FFFF.
bool is_utf8(std::string_view text);

// The code points of `text`, which is UTF-8: the JSON parser has seen to that.
std::u32string decode_utf8(std::string_view text);

// Appends `code_point`, which is one of Unicode and no surrogate.
void append_utf8(std::string& text, std::uint32_t code_point);

}  // namespace zarrcore
