// The `zlib` codec of numcodecs and of v1.
#include "zarrcore/codec/configuration.h"
#include "zarrcore/codec/deflate.h"
#include "zarrcore/codec/registry.h"

namespace zarrcore {

Codec make_zlib(const Json& configuration, const ChunkSpec& /*spec*/) {
  constexpr int kDefaultLevel = 1;  // numcodecs'
  const auto level = integer_option(configuration, "level", kDefaultLevel);
  return make_deflate_codec(DeflateWrapper::zlib, level);
}

}  // namespace zarrcore
