// The `zlib` codec of numcodecs and of v1.
#include "zarrcore/codec/codec.h"
#include "zarrcore/codec/deflate.h"

namespace zarrcore {

Codec make_zlib(const Json& configuration, const ChunkSpec& /*spec*/) {
  return make_deflate_codec(DeflateWrapper::zlib, configuration);
}

}  // namespace zarrcore
