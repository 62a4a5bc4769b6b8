// ZARRCORE_API marks what the shared library exports: the declarations that doc/library.md calls
// stable, and what their inline functions call.
#pragma once

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
