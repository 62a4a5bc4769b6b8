// The `gzip` codec (v3 codecs, "gzip"; numcodecs `gzip`).
#include "zarrcore/codec/codec.h"
#include "zarrcore/codec/deflate.h"

namespace zarrcore {

Codec make_gzip(const Json& configuration, const ChunkSpec& /*spec*/) {
  return make_deflate_codec(DeflateWrapper::gzip, configuration);
}

}  // namespace zarrcore
