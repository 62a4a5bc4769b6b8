// Checking bytes that a chunk holds as text, which may be anything, to be UTF-8 (RFC 3629).
#pragma once

#include <string_view>

namespace zarrcore {

// Whether `text` is UTF-8: no overlong forms, no surrogates, nothing past U+10FFFF.
bool is_utf8(std::string_view text);

}  // namespace zarrcore
