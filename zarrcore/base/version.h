// The version of the library, which follows semantic versioning (doc/library.md).
#pragma once

#include <string_view>

#include "zarrcore/base/api.h"

namespace zarrcore {

// The version of the library that the program runs with, such as "1.0.0".
ZARRCORE_API std::string_view version();

}  // namespace zarrcore
