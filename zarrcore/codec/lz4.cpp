// The `lz4` codec of numcodecs: the decoded size as a little-endian int32, then one LZ4 block.
// Configuration: `acceleration`; higher values encode faster and compress less. And the LZ4 formats
// of imagecodecs: bare blocks (`lz4`), frames of the lz4 program (`lz4f`), and chunks of HDF5's
// filter 32004 (`lz4h5`).
#include <lz4.h>
#include <lz4frame.h>

#include <algorithm>
#include <limits>

#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/endian.h"
#include "zarrcore/base/error.h"
#include "zarrcore/codec/codec.h"
#include "zarrcore/codec/configuration.h"
#include "zarrcore/codec/decoder_codec.h"

namespace zarrcore {
namespace {

constexpr std::size_t kHeaderSize = 4;
// The most bytes that a byte of a block can stand for.
constexpr std::uint64_t kMaxLz4Expansion = 255;

// Decodes a block to the front of `decoded`, and returns the number of bytes.
std::size_t decompress_block(ByteSpan block, MutableByteSpan decoded) {
  constexpr std::size_t kMax = std::numeric_limits<int>::max();
  const int written = block.size() > kMax
                          ? -1
                          : LZ4_decompress_safe(reinterpret_cast<const char*>(block.data()),
                                                reinterpret_cast<char*>(decoded.data()),
                                                static_cast<int>(block.size()),
                                                static_cast<int>(std::min(decoded.size(), kMax)));
  if (written < 0) {
    throw Error("the data is corrupt, or more than the expected " + std::to_string(decoded.size()) +
                " bytes");
  }
  return static_cast<std::size_t>(written);
}

struct FreeFrameContext {
  void operator()(LZ4F_dctx* context) const { LZ4F_freeDecompressionContext(context); }
};

std::size_t decode_frame(ByteSpan encoded, MutableByteSpan decoded) {
  LZ4F_dctx* created = nullptr;
  if (LZ4F_isError(LZ4F_createDecompressionContext(&created, LZ4F_VERSION)) != 0) {
    throw std::bad_alloc();
  }
  const std::unique_ptr<LZ4F_dctx, FreeFrameContext> context(created);
  std::size_t size = 0;
  for (;;) {
    std::size_t consumed = encoded.size();
    std::size_t produced = decoded.size() - size;
    const std::size_t result = LZ4F_decompress(context.get(), decoded.data() + size, &produced,
                                               encoded.data(), &consumed, nullptr);
    if (LZ4F_isError(result) != 0) throw Error(LZ4F_getErrorName(result));
    encoded = encoded.subspan(consumed);
    size += produced;
    if (result == 0) return size;
    if (consumed != 0 || produced != 0) continue;
    if (encoded.empty()) throw Error("the data ends too early");
    throw Error("more than the expected " + std::to_string(decoded.size()) + " bytes");
  }
}

// The decoded size (u64) and the block size (u32), then the blocks, each after its encoded size
// (u32), all big-endian. A block that would not become smaller is stored uncompressed.
std::size_t decode_hdf5_blocks(ByteSpan encoded, MutableByteSpan decoded) {
  EncodedInput input(encoded);
  const auto total = load_integer<std::uint64_t>(input.take(8).data(), Endian::big);
  const auto block_size = load_integer<std::uint32_t>(input.take(4).data(), Endian::big);
  DecodedOutput output(decoded);
  if (total > decoded.size()) {
    throw Error("more than the expected " + std::to_string(decoded.size()) + " bytes");
  }
  if (block_size == 0 && total != 0) throw Error("the data is corrupt");
  while (output.size() < total) {
    const MutableByteSpan target =
        output.extend(std::min<std::uint64_t>(block_size, total - output.size()));
    const auto size = load_integer<std::uint32_t>(input.take(4).data(), Endian::big);
    const ByteSpan block = input.take(size);
    if (size == target.size()) {
      std::copy(block.begin(), block.end(), target.begin());
    } else {
      check_size("a block has ", decompress_block(block, target), target.size());
    }
  }
  return output.size();
}

class Lz4Codec final : public BytesToBytesCodec {
 public:
  explicit Lz4Codec(int acceleration) : acceleration_(acceleration) {}

  std::uint64_t max_decoded_size(ByteSpan encoded) const override {
    const std::uint64_t size = stated_size(encoded);
    return std::min(size, checked_multiply(encoded.size(), kMaxLz4Expansion).value_or(UINT64_MAX));
  }

  Buffer encode(ByteSpan decoded) const override {
    if (decoded.size() > LZ4_MAX_INPUT_SIZE) {
      throw Error("lz4: " + std::to_string(decoded.size()) + " bytes are more than a block holds");
    }
    const int size = static_cast<int>(decoded.size());
    const int bound = LZ4_compressBound(size);
    Buffer encoded(kHeaderSize + static_cast<std::size_t>(bound));
    store_integer(static_cast<std::uint32_t>(size), Endian::little, encoded.data());
    const int written = LZ4_compress_fast(reinterpret_cast<const char*>(decoded.data()),
                                          reinterpret_cast<char*>(encoded.data()) + kHeaderSize,
                                          size, bound, acceleration_);
    if (written <= 0) throw Error("lz4: compression failed");
    encoded.truncate(kHeaderSize + static_cast<std::size_t>(written));
    return encoded;
  }

  std::string name() const override { return "lz4"; }
  void decode(ByteSpan encoded, MutableByteSpan decoded) const override {
    const std::uint64_t size = stated_size(encoded);
    check_size("lz4: ", size, decoded.size());
    const std::size_t written = with_context(
        "lz4", [&] { return decompress_block(encoded.subspan(kHeaderSize), decoded); });
    if (written != size) throw Error("lz4: the data is corrupt");
  }

 private:
  static std::uint64_t stated_size(ByteSpan encoded) {
    if (encoded.size() < kHeaderSize) {
      throw Error("lz4: " + std::to_string(encoded.size()) + " bytes are too few");
    }
    const auto size = load_integer<std::uint32_t>(encoded.data(), Endian::little);
    if (size > std::numeric_limits<std::int32_t>::max()) throw Error("lz4: the data is corrupt");
    return size;
  }

  int acceleration_;
};

}  // namespace

Codec make_lz4(const Json& configuration, const ChunkSpec& /*spec*/) {
  // The library clamps this further.
  const auto acceleration = std::clamp<std::int64_t>(
      integer_option(configuration, "acceleration", 1), 1, std::numeric_limits<int>::max());
  return std::make_unique<Lz4Codec>(static_cast<int>(acceleration));
}

// Configuration: `header`, for the block of numcodecs, with its size.
Codec make_imagecodecs_lz4(const Json& configuration, const ChunkSpec& spec) {
  if (boolean_option(configuration, "header", false)) return make_lz4(Json::object(), spec);
  return make_decoder_codec({"lz4", kMaxLz4Expansion, decompress_block});
}

Codec make_lz4f(const Json& /*configuration*/, const ChunkSpec& /*spec*/) {
  return make_decoder_codec({"lz4f", kMaxLz4Expansion, decode_frame});
}

Codec make_lz4h5(const Json& /*configuration*/, const ChunkSpec& /*spec*/) {
  return make_decoder_codec({"lz4h5", kMaxLz4Expansion, decode_hdf5_blocks});
}

}  // namespace zarrcore
