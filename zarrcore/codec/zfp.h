// The parts of the zfp codec (zfp.cpp): the functions of the zfp library that it calls
// (zfp_library.cpp), and the types that zfp stores as another one (zfp_carrier.cpp).
//
// The functions are not called by their names where the dynamic linker has one name space for all
// libraries: like zfp, cfitsio, with which GDAL can be linked, exports stream_open, stream_close,
// stream_flush and stream_size, and in a program linked with GDAL, zfp itself would call cfitsio's
// functions.
#pragma once

#include <zfp.h>

#include <optional>

#include "zarrcore/codec/codec.h"

namespace zarrcore {

// clang-format off
#define ZARRCORE_ZFP_FUNCTIONS(FUNCTION) \
  FUNCTION(stream_alignment)             \
  FUNCTION(stream_open)                  \
  FUNCTION(stream_close)                 \
  FUNCTION(zfp_compress)                 \
  FUNCTION(zfp_decompress)               \
  FUNCTION(zfp_field_alloc)              \
  FUNCTION(zfp_field_free)               \
  FUNCTION(zfp_field_set_pointer)        \
  FUNCTION(zfp_field_set_type)           \
  FUNCTION(zfp_read_header)              \
  FUNCTION(zfp_stream_close)             \
  FUNCTION(zfp_stream_maximum_size)      \
  FUNCTION(zfp_stream_open)              \
  FUNCTION(zfp_stream_params)            \
  FUNCTION(zfp_stream_set_accuracy)      \
  FUNCTION(zfp_stream_set_params)        \
  FUNCTION(zfp_stream_set_precision)     \
  FUNCTION(zfp_stream_set_rate)          \
  FUNCTION(zfp_stream_set_reversible)    \
  FUNCTION(zfp_write_header)
// clang-format on

// Pointers to them, under their own names.
struct ZfpLibrary {
// NOLINTNEXTLINE(bugprone-macro-parentheses): a declaration
#define ZARRCORE_ZFP_MEMBER(name) decltype(&::name) name = nullptr;
  ZARRCORE_ZFP_FUNCTIONS(ZARRCORE_ZFP_MEMBER)
#undef ZARRCORE_ZFP_MEMBER
};

// Loads the library on the first call; it stays loaded. Throws Error when it cannot be loaded.
const ZfpLibrary& zfp_library();

// The type as which zfp stores elements of `type`; nullopt for itself, and for types that it cannot
// store.
std::optional<DataType> zfp_carrier(const DataType& type);

// Makes an array-to-bytes codec for chunks of `spec` from one for the same chunks of the carrier.
Codec make_zfp_carrier(const ChunkSpec& spec, const DataType& carrier, Codec zfp);

}  // namespace zarrcore
