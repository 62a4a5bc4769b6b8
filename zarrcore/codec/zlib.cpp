// The `zlib` codec of numcodecs and of v1.
#include "zarrcore/codec/codecs.h"
#include "zarrcore/codec/configuration.h"
#include "zarrcore/codec/deflate.h"

namespace zarrcore {

Codec make_zlib(const Json& configuration, const ChunkSpec& /*spec*/) {
  constexpr int kDefaultLevel = 1;  // numcodecs'
  // -1 is zlib's word for its own default, 6.
  const auto level = integer_option(configuration, "level", kDefaultLevel, -1, 9);
  return make_deflate_codec(DeflateWrapper::zlib, level < 0 ? 6 : static_cast<int>(level));
}

}  // namespace zarrcore
