// Codecs whose library this build was configured without: their names are known, and using them is
// an error that names the library.
// IWYU pragma: begin_keep, unused where no library is missing
#include "zarrcore/base/error.h"
#include "zarrcore/base/json.h"
#include "zarrcore/codec/codec.h"
// IWYU pragma: end_keep

namespace zarrcore {

// NOLINTNEXTLINE(bugprone-macro-parentheses): a declaration
#define ZARRCORE_NO_CODEC(make, library)                                 \
  Codec make(const Json& configuration, const ChunkSpec& spec);          \
  Codec make(const Json& /*configuration*/, const ChunkSpec& /*spec*/) { \
    throw Error("zarrcore was built without the library " library);      \
  }

#ifdef ZARRCORE_WITHOUT_BLOSC
ZARRCORE_NO_CODEC(make_blosc, "blosc")
#endif
#ifdef ZARRCORE_WITHOUT_BZ2
ZARRCORE_NO_CODEC(make_bz2, "bz2")
#endif
#ifdef ZARRCORE_WITHOUT_LZ4
ZARRCORE_NO_CODEC(make_lz4, "lz4")
#endif
#ifdef ZARRCORE_WITHOUT_LZMA
ZARRCORE_NO_CODEC(make_lzma, "lzma")
#endif
#ifdef ZARRCORE_WITHOUT_ZFP
ZARRCORE_NO_CODEC(make_zfp, "zfp")
ZARRCORE_NO_CODEC(make_zfpy, "zfp")
#endif

#undef ZARRCORE_NO_CODEC

}  // namespace zarrcore
