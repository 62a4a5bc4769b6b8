#include "zarrcore/icechunk/zstd_frames.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <string>

#include "zarrcore/base/error.h"
#include "zarrcore/base/threads.h"

namespace zarrcore::icechunk {
namespace {

constexpr std::uint64_t kFirstSize = 16 << 10;
// Documents and references compress about this well.
constexpr std::uint64_t kUsualRatio = 8;

struct FreeDecoder {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

std::size_t checked(std::size_t result) {
  if (ZSTD_isError(result) != 0) throw Error(std::string("zstd: ") + ZSTD_getErrorName(result));
  return result;
}

void grow(Buffer& buffer, std::uint64_t max_size) {
  if (buffer.size() >= max_size) {
    throw Error("zstd: there are more than " + std::to_string(max_size) + " bytes");
  }
  Buffer larger(std::min<std::uint64_t>(max_size, std::uint64_t{2} * buffer.size()));
  std::memcpy(larger.data(), buffer.data(), buffer.size());
  buffer = std::move(larger);
}

}  // namespace

ZstdDictionary make_zstd_dictionary(ByteSpan bytes) {
  ZstdDictionary dictionary(ZSTD_createDDict(bytes.data(), bytes.size()));
  if (!dictionary) throw Error("zstd: the dictionary is damaged");
  return dictionary;
}

Buffer decompress_zstd(ByteSpan frames, std::uint64_t max_size, const ZSTD_DDict* dictionary) {
  auto& context = thread_object<std::unique_ptr<ZSTD_DCtx, FreeDecoder>>();
  if (!context) context.reset(ZSTD_createDCtx());
  if (!context) throw std::bad_alloc();
  checked(ZSTD_DCtx_reset(context.get(), ZSTD_reset_session_and_parameters));
  checked(ZSTD_DCtx_refDDict(context.get(), dictionary));
  Buffer content(std::min(max_size, std::max(kFirstSize, frames.size() * kUsualRatio)));
  ZSTD_inBuffer in{frames.data(), frames.size(), 0};
  ZSTD_outBuffer out{content.data(), content.size(), 0};
  std::size_t wanted = 1;  // zero between frames
  while (in.pos < in.size || wanted != 0) {
    if (out.pos == out.size) {
      grow(content, max_size);
      out.dst = content.data();
      out.size = content.size();
    }
    const std::size_t before = in.pos + out.pos;
    wanted = checked(ZSTD_decompressStream(context.get(), &out, &in));
    if (wanted != 0 && in.pos == in.size && out.pos < out.size && in.pos + out.pos == before) {
      throw Error("zstd: the data ends too soon");
    }
  }
  content.truncate(out.pos);
  content.shrink_to_fit();
  return content;
}

}  // namespace zarrcore::icechunk
