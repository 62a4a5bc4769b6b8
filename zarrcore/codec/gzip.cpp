// The `gzip` codec (v3 codecs, "gzip"; numcodecs `gzip`).
#include "zarrcore/codec/configuration.h"
#include "zarrcore/codec/deflate.h"
#include "zarrcore/codec/registry.h"

namespace zarrcore {

Codec make_gzip(const Json& configuration, const ChunkSpec& /*spec*/) {
  constexpr int kDefaultLevel = 1;  // numcodecs'
  const auto level = integer_option(configuration, "level", kDefaultLevel);
  return make_deflate_codec(DeflateWrapper::gzip, level);
}

}  // namespace zarrcore
