// In place of zfp.cpp, in builds without the zfp library.
#include "zarrcore/base/error.h"
#include "zarrcore/codec/codec.h"

namespace zarrcore {
namespace {

[[noreturn]] void refuse_zfp() {
  throw Error("zarrcore was built without the zfp library");
}

}  // namespace

Codec make_zfp(const Json& /*configuration*/, const ChunkSpec& /*spec*/) {
  refuse_zfp();
}

Codec make_zfpy(const Json& /*configuration*/, const ChunkSpec& /*spec*/) {
  refuse_zfp();
}

}  // namespace zarrcore
