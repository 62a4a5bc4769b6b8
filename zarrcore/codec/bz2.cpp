// The `bz2` codec of numcodecs and of v1: bzip2 streams. Configuration: `level`, 1 to 9.
#include <bzlib.h>

#include <algorithm>
#include <limits>

#include "zarrcore/base/error.h"
#include "zarrcore/codec/codec.h"
#include "zarrcore/codec/decoder_codec.h"

namespace zarrcore {
namespace {

// A block has at least 20 bytes and holds at most 900,000, five of which may decode to 259.
constexpr std::uint64_t kMaxBz2Expansion = 900'000 / 5 * 259 / 20;

// Points `stream` at as much of the two spans as its counters can hold; afterwards consume()
// removes from them what the library has used.
void point_at(bz_stream& stream, ByteSpan input, MutableByteSpan output) {
  constexpr std::size_t kMax = std::numeric_limits<unsigned>::max();
  // The library's parameter lacks a const.
  stream.next_in = const_cast<char*>(reinterpret_cast<const char*>(input.data()));
  stream.avail_in = static_cast<unsigned>(std::min(input.size(), kMax));
  stream.next_out = reinterpret_cast<char*>(output.data());
  stream.avail_out = static_cast<unsigned>(std::min(output.size(), kMax));
}
void consume(const bz_stream& stream, ByteSpan& input, MutableByteSpan& output) {
  const char* input_start = reinterpret_cast<const char*>(input.data());
  const char* output_start = reinterpret_cast<const char*>(output.data());
  input = input.subspan(static_cast<std::size_t>(stream.next_in - input_start));
  output = output.subspan(static_cast<std::size_t>(stream.next_out - output_start));
}

class Bz2Decoder final : public StreamDecoder {
 public:
  Bz2Decoder() {
    if (BZ2_bzDecompressInit(&stream_, 0, 0) != BZ_OK) throw std::bad_alloc();
  }
  ~Bz2Decoder() override { BZ2_bzDecompressEnd(&stream_); }
  Bz2Decoder(const Bz2Decoder&) = delete;
  Bz2Decoder& operator=(const Bz2Decoder&) = delete;

  bool advance(ByteSpan& encoded, MutableByteSpan& decoded) override {
    point_at(stream_, encoded, decoded);
    const int result = BZ2_bzDecompress(&stream_);
    consume(stream_, encoded, decoded);
    if (result == BZ_MEM_ERROR) throw std::bad_alloc();
    if (result != BZ_OK && result != BZ_STREAM_END) throw Error("bz2: the data is corrupt");
    return result == BZ_STREAM_END;
  }

 private:
  bz_stream stream_{};
};

class Bz2Encoder {
 public:
  explicit Bz2Encoder(int level) {
    if (BZ2_bzCompressInit(&stream_, level, 0, 0) != BZ_OK) throw std::bad_alloc();
  }
  ~Bz2Encoder() { BZ2_bzCompressEnd(&stream_); }
  Bz2Encoder(const Bz2Encoder&) = delete;
  Bz2Encoder& operator=(const Bz2Encoder&) = delete;

  Buffer encode(ByteSpan decoded) {
    // According to the library's manual this is always enough.
    Buffer encoded(decoded.size() + decoded.size() / 100 + 1 + 600);
    MutableByteSpan rest = encoded.span();
    for (int result = BZ_RUN_OK; result != BZ_STREAM_END;) {
      point_at(stream_, decoded, rest);
      const bool is_last = stream_.avail_in == decoded.size();
      result = BZ2_bzCompress(&stream_, is_last ? BZ_FINISH : BZ_RUN);
      consume(stream_, decoded, rest);
      if (result < 0 || (rest.empty() && result != BZ_STREAM_END)) {
        throw Error("bz2: compression failed");
      }
    }
    encoded.truncate(encoded.size() - rest.size());
    return encoded;
  }

 private:
  bz_stream stream_{};
};

class Bz2Codec final : public StreamCodec {
 public:
  explicit Bz2Codec(int level) : StreamCodec("bz2", kMaxBz2Expansion), level_(level) {}

  Buffer encode(ByteSpan decoded) const override { return Bz2Encoder(level_).encode(decoded); }

 private:
  std::unique_ptr<StreamDecoder> make_decoder(std::uint64_t /*size*/) const override {
    return std::make_unique<Bz2Decoder>();
  }

  int level_;
};

}  // namespace

Codec make_bz2(const Json& configuration, const ChunkSpec& /*spec*/) {
  constexpr int kDefaultLevel = 1;  // numcodecs' default
  const auto level = integer_option(configuration, "level", kDefaultLevel);
  return std::make_unique<Bz2Codec>(static_cast<int>(std::clamp<std::int64_t>(level, 1, 9)));
}

}  // namespace zarrcore
