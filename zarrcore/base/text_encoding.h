// Encodings of texts and bytes in documents and chunks: UTF-8 (RFC 3629) and Base64 (RFC 4648,
// section 4).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "zarrcore/base/buffer.h"

namespace zarrcore {

// Appends a code point of Unicode.
void append_utf8(std::string& text, std::uint32_t code_point);

// Returns true if the bytes are UTF-8: no overlong forms, no surrogates, nothing past U+10FFFF.
bool is_utf8(std::string_view text);

// The code points of `text`, which must be UTF-8; the JSON parser has checked that.
std::u32string decode_utf8(std::string_view text);

// The inverse, for code points of 4 bytes each in the host's order. Throws Error when one of them
// is a surrogate or not in Unicode.
std::string encode_utf8(ByteSpan code_points);

// Returns nullopt when `text` is not base64; missing padding at the end is accepted.
std::optional<std::vector<std::byte>> decode_base64(std::string_view text);

std::string encode_base64(ByteSpan bytes);

}  // namespace zarrcore
