// ZARRCORE_API marks what the shared library exports: the declarations that doc/library.md calls
// stable, and what their inline functions call.
#pragma once

#include <string_view>

#if defined(_WIN32) && defined(ZARRCORE_IS_SHARED)
#ifdef ZARRCORE_IS_BUILT
#define ZARRCORE_API __declspec(dllexport)
#else
#define ZARRCORE_API __declspec(dllimport)
#endif
#elif defined(_WIN32)
#define ZARRCORE_API
#else
#define ZARRCORE_API __attribute__((visibility("default")))
#endif

namespace zarrcore {

// The version of the library that the program runs with, such as "1.0.0": semantic versioning
// (doc/library.md).
ZARRCORE_API std::string_view version();

}  // namespace zarrcore
