// The gzip and zlib codecs (v3 codecs, "gzip"; numcodecs `gzip` and `zlib`): DEFLATE data (RFC
// 1951) in one of two wrappers.
#include <libdeflate.h>

#include <algorithm>
#include <string>

#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/json.h"
#include "zarrcore/base/threads.h"
#include "zarrcore/codec/codec.h"
#include "zarrcore/codec/configuration.h"

namespace zarrcore {
namespace {

enum class DeflateWrapper : std::uint8_t {
  gzip,  // RFC 1952; members may follow each other
  zlib,  // RFC 1950
};

// DEFLATE cannot shrink by more than this factor.
constexpr std::uint64_t kMaxDeflateExpansion = 1032;

struct FreeDecompressor {
  void operator()(libdeflate_decompressor* decompressor) const {
    libdeflate_free_decompressor(decompressor);
  }
};
struct FreeCompressor {
  void operator()(libdeflate_compressor* compressor) const {
    libdeflate_free_compressor(compressor);
  }
};

libdeflate_decompressor* thread_decompressor() {
  auto& decompressor = thread_object<std::unique_ptr<libdeflate_decompressor, FreeDecompressor>>();
  if (!decompressor) decompressor.reset(libdeflate_alloc_decompressor());
  if (!decompressor) throw std::bad_alloc();
  return decompressor.get();
}

bool is_all_zero(ByteSpan bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

class DeflateCodec final : public BytesToBytesCodec {
 public:
  DeflateCodec(DeflateWrapper wrapper, int level) : wrapper_(wrapper), level_(level) {}

  std::uint64_t max_decoded_size(ByteSpan encoded) const override {
    return checked_multiply(encoded.size(), kMaxDeflateExpansion).value_or(UINT64_MAX);
  }

  Buffer encode(ByteSpan decoded) const override {
    const std::unique_ptr<libdeflate_compressor, FreeCompressor> compressor(
        libdeflate_alloc_compressor(level_));
    if (!compressor) throw std::bad_alloc();
    const bool is_gzip = wrapper_ == DeflateWrapper::gzip;
    Buffer encoded(is_gzip ? libdeflate_gzip_compress_bound(compressor.get(), decoded.size())
                           : libdeflate_zlib_compress_bound(compressor.get(), decoded.size()));
    const auto compress = is_gzip ? libdeflate_gzip_compress : libdeflate_zlib_compress;
    const std::size_t size =
        compress(compressor.get(), decoded.data(), decoded.size(), encoded.data(), encoded.size());
    if (size == 0) throw Error(name() + ": compression failed");
    encoded.truncate(size);
    return encoded;
  }

  void decode(ByteSpan encoded, MutableByteSpan decoded) const override {
    std::size_t written = 0;
    if (inflate(encoded, decoded, written) == LIBDEFLATE_INSUFFICIENT_SPACE) {
      throw Error(name() + ": more than the expected " + std::to_string(decoded.size()) + " bytes");
    }
    check_size(name() + ": ", written, decoded.size());
  }

  Buffer decode(ByteSpan encoded, std::uint64_t max_size) const override {
    const std::uint64_t limit = std::min(max_size, max_decoded_size(encoded));
    for (std::uint64_t guess = std::min<std::uint64_t>(limit, encoded.size() * 4 + 64);;) {
      Buffer decoded(guess);
      std::size_t written = 0;
      if (inflate(encoded, decoded.span(), written) == LIBDEFLATE_SUCCESS) {
        decoded.truncate(written);
        return decoded;
      }
      if (guess >= limit) {
        throw Error(name() + ": more than the " + std::to_string(limit) +
                    " bytes that can be right");
      }
      guess = std::min(limit, guess * 4);
    }
  }

 private:
  std::string name() const { return wrapper_ == DeflateWrapper::gzip ? "gzip" : "zlib"; }

  // Inflates a zlib stream, or all gzip members one after the other. Like Python, ignores anything
  // after a zlib stream, and zeros after gzip members. Returns success or
  // LIBDEFLATE_INSUFFICIENT_SPACE.
  libdeflate_result inflate(ByteSpan encoded, MutableByteSpan decoded, std::size_t& written) const {
    libdeflate_decompressor* decompressor = thread_decompressor();
    const auto decompress = wrapper_ == DeflateWrapper::gzip ? libdeflate_gzip_decompress_ex
                                                             : libdeflate_zlib_decompress_ex;
    // The library requires an address even if there is nothing to write.
    std::byte nowhere{};
    do {
      const MutableByteSpan rest = decoded.subspan(written);
      std::size_t consumed = 0;
      std::size_t produced = 0;
      const libdeflate_result result =
          decompress(decompressor, encoded.data(), encoded.size(),
                     rest.empty() ? &nowhere : rest.data(), rest.size(), &consumed, &produced);
      if (result == LIBDEFLATE_INSUFFICIENT_SPACE) return result;
      if (result != LIBDEFLATE_SUCCESS) throw Error(name() + ": the data is corrupt");
      encoded = encoded.subspan(consumed);
      written += produced;
    } while (wrapper_ == DeflateWrapper::gzip && !is_all_zero(encoded));
    return LIBDEFLATE_SUCCESS;
  }

  DeflateWrapper wrapper_;
  int level_;
};

// Configuration: `level`, 0 (stored) to 9 (smallest), -1 for zlib's default; larger levels count
// as 9. The default is 1, as in numcodecs.
Codec make_deflate_codec(DeflateWrapper wrapper, const Json& configuration) {
  constexpr std::int64_t kZlibDefault = 6;
  std::int64_t level = integer_option(configuration, "level", 1);
  level = level < 0 ? kZlibDefault : std::min<std::int64_t>(level, 9);
  return std::make_unique<DeflateCodec>(wrapper, static_cast<int>(level));
}

}  // namespace

Codec make_gzip(const Json& configuration, const ChunkSpec& /*spec*/) {
  return make_deflate_codec(DeflateWrapper::gzip, configuration);
}

Codec make_zlib(const Json& configuration, const ChunkSpec& /*spec*/) {
  return make_deflate_codec(DeflateWrapper::zlib, configuration);
}

}  // namespace zarrcore
