// The `zstd` codec (zarr-extensions, "zstd"; numcodecs `zstd`): Zstandard frames (RFC 8878).
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>

#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/process.h"
#include "zarrcore/codec/codec.h"

namespace zarrcore {
namespace {

// RFC 8878, section 3.1.1.2: a block has a header of 3 bytes and at most 128 KiB of content.
constexpr std::uint64_t kMinBlockSize = 3;
constexpr std::uint64_t kMaxBlockContent = 128 << 10;
// Bytes of a compression context that a thread retains for the next chunk.
constexpr std::size_t kMaxRetainedContext = 8 << 20;
// The same for decoding the first bytes of a frame, as a power of two.
constexpr int kMaxWindowLog = 23;

struct FreeContext {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
};

std::size_t check(std::size_t result) {
  if (ZSTD_isError(result) != 0) throw Error(std::string("zstd: ") + ZSTD_getErrorName(result));
  return result;
}

class ZstdCodec final : public BytesToBytesCodec {
 public:
  ZstdCodec(int level, bool checksum) : level_(level), checksum_(checksum) {}

  std::uint64_t max_decoded_size(ByteSpan encoded) const override {
    return content_size(encoded).first;
  }

  Buffer encode(ByteSpan decoded) const override {
    // One context per thread: creating it can cost as much as compressing a small chunk.
    auto& context = thread_object<std::unique_ptr<ZSTD_CCtx, FreeContext>>();
    if (!context) context.reset(ZSTD_createCCtx());
    if (!context) throw std::bad_alloc();
    check(ZSTD_CCtx_reset(context.get(), ZSTD_reset_session_and_parameters));
    check(ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, level_));
    check(ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, checksum_ ? 1 : 0));
    Buffer encoded(ZSTD_compressBound(decoded.size()));
    const std::size_t size = ZSTD_compress2(context.get(), encoded.data(), encoded.size(),
                                            decoded.data(), decoded.size());
    // High levels take hundreds of megabytes.
    if (ZSTD_sizeof_CCtx(context.get()) > kMaxRetainedContext) context.reset();
    encoded.truncate(check(size));
    return encoded;
  }

  void decode(ByteSpan encoded, MutableByteSpan decoded) const override {
    const std::size_t size = check(try_to_decompress(encoded, decoded));
    check_size("zstd: ", size, decoded.size());
  }

  Buffer decode(ByteSpan encoded, std::uint64_t max_size) const override {
    const auto [max_content, is_exact] = content_size(encoded);
    const std::uint64_t guess = is_exact ? max_content : 4 * std::uint64_t{encoded.size()};
    return decode_growing("zstd: ", guess, std::min(max_size, max_content),
                          [&](MutableByteSpan decoded) -> std::optional<std::size_t> {
                            const std::size_t size = try_to_decompress(encoded, decoded);
                            if (ZSTD_getErrorCode(size) == ZSTD_error_dstSize_tooSmall) {
                              return std::nullopt;
                            }
                            return check(size);
                          });
  }

  std::optional<std::uint64_t> prefix_step() const override { return kMaxBlockContent; }

  bool decode_prefix(ByteSpan encoded, std::uint64_t decoded_size,
                     MutableByteSpan prefix) const override {
    if (!is_single_frame(encoded, decoded_size)) return false;
    ZSTD_DCtx* context = thread_context();
    check(ZSTD_DCtx_reset(context, ZSTD_reset_session_and_parameters));
    check(ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, kMaxWindowLog));
    ZSTD_inBuffer in{encoded.data(), encoded.size(), 0};
    ZSTD_outBuffer out{prefix.data(), prefix.size(), 0};
    while (out.pos < out.size) {
      const std::size_t before = in.pos + out.pos;
      const std::size_t result = ZSTD_decompressStream(context, &out, &in);
      // A frame of which the decoder would have to keep more than that.
      if (ZSTD_getErrorCode(result) == ZSTD_error_frameParameter_windowTooLarge) return false;
      check(result);
      if (in.pos + out.pos == before) throw Error("zstd: the data is corrupt");
    }
    return true;
  }

 private:
  // The most bytes that the frames decode to, and whether that is exact: writers that stream do not
  // state it.
  static std::pair<std::uint64_t, bool> content_size(ByteSpan encoded) {
    std::pair<std::uint64_t, bool> total{0, true};
    while (!encoded.empty()) {
      const std::size_t size = check(ZSTD_findFrameCompressedSize(encoded.data(), encoded.size()));
      std::uint64_t content = ZSTD_getFrameContentSize(encoded.data(), encoded.size());
      if (content == ZSTD_CONTENTSIZE_ERROR) throw Error("zstd: the data is corrupt");
      if (content == ZSTD_CONTENTSIZE_UNKNOWN) {
        content = (size / kMinBlockSize + 1) * kMaxBlockContent;
        total.second = false;
      }
      total.first = checked_add(total.first, content).value_or(UINT64_MAX);
      encoded = encoded.subspan(size);
    }
    return total;
  }

  // Returns true if one frame without a checksum, which a part of it could not be compared with,
  // makes all decoded bytes.
  static bool is_single_frame(ByteSpan encoded, std::uint64_t decoded_size) {
    // RFC 8878, section 3.1.1.1.1: the descriptor follows the magic number.
    constexpr std::size_t kDescriptor = 4;
    constexpr std::byte kHasChecksum{0x04};
    return encoded.size() > kDescriptor &&
           ZSTD_getFrameContentSize(encoded.data(), encoded.size()) == decoded_size &&
           ZSTD_findFrameCompressedSize(encoded.data(), encoded.size()) == encoded.size() &&
           (encoded[kDescriptor] & kHasChecksum) == std::byte{0};
  }

  // One context per thread.
  static ZSTD_DCtx* thread_context() {
    auto& context = thread_object<std::unique_ptr<ZSTD_DCtx, FreeContext>>();
    if (!context) context.reset(ZSTD_createDCtx());
    if (!context) throw std::bad_alloc();
    return context.get();
  }

  // The size, or an error code of the library.
  static std::size_t try_to_decompress(ByteSpan encoded, MutableByteSpan decoded) {
    return ZSTD_decompressDCtx(thread_context(), decoded.data(), decoded.size(), encoded.data(),
                               encoded.size());
  }

  int level_;
  bool checksum_;
};

}  // namespace

Codec make_zstd(const Json& configuration, const ChunkSpec& /*spec*/) {
  const auto level = std::clamp<std::int64_t>(integer_option(configuration, "level", 0),
                                              ZSTD_minCLevel(), ZSTD_maxCLevel());
  return std::make_unique<ZstdCodec>(static_cast<int>(level),
                                     boolean_option(configuration, "checksum", false));
}

}  // namespace zarrcore
