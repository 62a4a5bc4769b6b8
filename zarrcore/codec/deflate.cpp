// DEFLATE data (RFC 1951), bare or in a wrapper: the gzip and zlib codecs (v3 codecs, "gzip";
// numcodecs `gzip` and `zlib`), imagecodecs' `deflate` and `zopfli`, and kerchunk's `deflate`.
#include <libdeflate.h>

#include <algorithm>
#include <string>

#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/json.h"
#include "zarrcore/base/process.h"
#include "zarrcore/codec/codec.h"
#include "zarrcore/codec/decoder_codec.h"

namespace zarrcore {
namespace {

// The functions of the library for a stream with its header and trailer.
struct DeflateFormat {
  const char* name;
  decltype(&libdeflate_zlib_compress) compress;
  decltype(&libdeflate_zlib_compress_bound) compress_bound;
  decltype(&libdeflate_zlib_decompress_ex) decompress;
  bool has_members = false;  // that may follow each other
};
const DeflateFormat kGzip{"gzip", libdeflate_gzip_compress, libdeflate_gzip_compress_bound,
                          libdeflate_gzip_decompress_ex, true};  // RFC 1952
const DeflateFormat kZlib{"zlib", libdeflate_zlib_compress, libdeflate_zlib_compress_bound,
                          libdeflate_zlib_decompress_ex};  // RFC 1950
const DeflateFormat kRaw{"deflate", libdeflate_deflate_compress, libdeflate_deflate_compress_bound,
                         libdeflate_deflate_decompress_ex};

// DEFLATE cannot shrink by more than this factor.
constexpr std::uint64_t kMaxDeflateExpansion = 1032;

struct FreeDeflate {
  void operator()(libdeflate_decompressor* decompressor) const {
    libdeflate_free_decompressor(decompressor);
  }
  void operator()(libdeflate_compressor* compressor) const {
    libdeflate_free_compressor(compressor);
  }
};

libdeflate_decompressor* thread_decompressor() {
  auto& decompressor = thread_object<std::unique_ptr<libdeflate_decompressor, FreeDeflate>>();
  if (!decompressor) decompressor.reset(libdeflate_alloc_decompressor());
  if (!decompressor) throw std::bad_alloc();
  return decompressor.get();
}

// Inflates the data, or all members one after the other; `written` counts the decoded bytes. Like
// Python, ignores anything after a stream, and zeros after members. Returns success or
// LIBDEFLATE_INSUFFICIENT_SPACE.
libdeflate_result inflate(const DeflateFormat& format, ByteSpan encoded, MutableByteSpan decoded,
                          std::size_t& written) {
  libdeflate_decompressor* decompressor = thread_decompressor();
  // The library requires an address even if there is nothing to write.
  std::byte nowhere{};
  do {
    const MutableByteSpan rest = decoded.subspan(written);
    std::size_t consumed = 0;
    std::size_t produced = 0;
    const libdeflate_result result =
        format.decompress(decompressor, encoded.data(), encoded.size(),
                          rest.empty() ? &nowhere : rest.data(), rest.size(), &consumed, &produced);
    if (result == LIBDEFLATE_INSUFFICIENT_SPACE) return result;
    if (result != LIBDEFLATE_SUCCESS) {
      throw Error(std::string(format.name) + ": the data is corrupt");
    }
    encoded = encoded.subspan(consumed);
    written += produced;
  } while (format.has_members && !is_zero(encoded));
  return LIBDEFLATE_SUCCESS;
}

class DeflateCodec final : public BytesToBytesCodec {
 public:
  DeflateCodec(const DeflateFormat& format, int level) : format_(format), level_(level) {}

  std::uint64_t max_decoded_size(ByteSpan encoded) const override {
    return checked_multiply(encoded.size(), kMaxDeflateExpansion).value_or(UINT64_MAX);
  }

  Buffer encode(ByteSpan decoded) const override {
    const std::unique_ptr<libdeflate_compressor, FreeDeflate> compressor(
        libdeflate_alloc_compressor(level_));
    if (!compressor) throw std::bad_alloc();
    Buffer encoded(format_.compress_bound(compressor.get(), decoded.size()));
    const std::size_t size = format_.compress(compressor.get(), decoded.data(), decoded.size(),
                                              encoded.data(), encoded.size());
    if (size == 0) throw Error(name() + ": compression failed");
    encoded.truncate(size);
    return encoded;
  }

  void decode(ByteSpan encoded, MutableByteSpan decoded) const override {
    std::size_t written = 0;
    if (inflate(format_, encoded, decoded, written) == LIBDEFLATE_INSUFFICIENT_SPACE) {
      throw Error(name() + ": more than the expected " + std::to_string(decoded.size()) + " bytes");
    }
    check_size(name() + ": ", written, decoded.size());
  }

  Buffer decode(ByteSpan encoded, std::uint64_t max_size) const override {
    return decode_growing(
        name() + ": ", encoded.size() * 4 + 64, std::min(max_size, max_decoded_size(encoded)),
        [&](MutableByteSpan decoded) -> std::optional<std::size_t> {
          std::size_t size = 0;
          const bool fits = inflate(format_, encoded, decoded, size) == LIBDEFLATE_SUCCESS;
          return fits ? std::optional(size) : std::nullopt;
        });
  }

 private:
  std::string name() const override { return format_.name; }

  const DeflateFormat& format_;
  int level_;
};

// Configuration: `level`, 0 (stored) to 9 (smallest), -1 for zlib's default; larger levels count
// as 9. The default is 1, as in numcodecs.
Codec make_deflate_codec(const DeflateFormat& format, const Json& configuration) {
  constexpr std::int64_t kZlibDefault = 6;
  std::int64_t level = integer_option(configuration, "level", 1);
  level = level < 0 ? kZlibDefault : std::min<std::int64_t>(level, 9);
  return std::make_unique<DeflateCodec>(format, static_cast<int>(level));
}

// The format and the data in `encoded`, if these are not the same for all chunks.
using FindFormat = const DeflateFormat& (*)(ByteSpan& encoded);

Codec make_inflating_codec(std::string name, FindFormat find_format) {
  return make_decoder_codec(
      {std::move(name), kMaxDeflateExpansion, [=](ByteSpan encoded, MutableByteSpan decoded) {
         const DeflateFormat& format = find_format(encoded);
         std::size_t written = 0;
         if (inflate(format, encoded, decoded, written) != LIBDEFLATE_SUCCESS) {
           throw Error("more than the expected " + std::to_string(decoded.size()) + " bytes");
         }
         return written;
       }});
}

const DeflateFormat& find_zopfli_format(ByteSpan& encoded) {
  const bool is_gzip =
      encoded.size() > 1 && encoded[0] == std::byte{0x1f} && encoded[1] == std::byte{0x8b};
  return is_gzip ? kGzip : kZlib;
}

// A member of a zip archive (APPNOTE.TXT, section 4.3.7) begins with a header; chunks of other
// sources are bare.
const DeflateFormat& find_zip_format(ByteSpan& encoded) {
  static constexpr std::string_view kSignature = "PK\3\4";
  const std::string_view text(reinterpret_cast<const char*>(encoded.data()), encoded.size());
  if (!text.starts_with(kSignature)) return kRaw;
  EncodedInput input(encoded);
  input.take(8);
  constexpr std::uint64_t kDeflated = 8;
  if (const std::uint64_t method = input.take_number(2); method != kDeflated) {
    throw Error("the zip member is stored by method " + std::to_string(method) +
                ", which is not deflate");
  }
  input.take(16);
  const std::uint64_t name_size = input.take_number(2);
  const std::uint64_t extra_size = input.take_number(2);
  input.take(name_size + extra_size);
  encoded = input.rest();
  return kRaw;
}

}  // namespace

Codec make_gzip(const Json& configuration, const ChunkSpec& /*spec*/) {
  return make_deflate_codec(kGzip, configuration);
}

Codec make_zlib(const Json& configuration, const ChunkSpec& /*spec*/) {
  return make_deflate_codec(kZlib, configuration);
}

// Configuration: `raw`, for data without the wrapper of zlib.
Codec make_deflate(const Json& configuration, const ChunkSpec& /*spec*/) {
  return make_deflate_codec(boolean_option(configuration, "raw", false) ? kRaw : kZlib,
                            configuration);
}

Codec make_zopfli(const Json& /*configuration*/, const ChunkSpec& /*spec*/) {
  return make_inflating_codec("zopfli", find_zopfli_format);
}

Codec make_zip_deflate(const Json& /*configuration*/, const ChunkSpec& /*spec*/) {
  return make_inflating_codec("deflate", find_zip_format);
}

}  // namespace zarrcore
