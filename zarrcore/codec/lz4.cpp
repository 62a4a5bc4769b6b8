// The `lz4` codec of numcodecs: the decoded size as a little-endian int32, then one LZ4 block.
// Configuration: `acceleration`; higher values encode faster and compress less. And the LZ4 formats
// of imagecodecs: bare blocks (`lz4`), frames of the lz4 program (`lz4f`), and chunks of HDF5's
// filter 32004 (`lz4h5`). And the compression `lz4` of N5: the blocks of lz4-java's
// LZ4BlockOutputStream.
#include <lz4.h>
#include <lz4frame.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <string_view>

#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/endian.h"
#include "zarrcore/base/error.h"
#include "zarrcore/codec/codec.h"
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

// --- N5 ------------------------------------------------------------------------------------------

// XXH32 of the xxHash specification, with lz4-java's seed, of which it keeps 28 bits.
std::uint32_t xxh32(ByteSpan bytes) {
  constexpr std::uint32_t kSeed = 0x9747b28c;
  constexpr std::array<std::uint32_t, 5> kPrime{0x9e3779b1, 0x85ebca77, 0xc2b2ae3d, 0x27d4eb2f,
                                                0x165667b1};
  const std::size_t size = bytes.size();
  const auto take = [&bytes] {
    const auto word = load_integer<std::uint32_t>(bytes.data(), Endian::little);
    bytes = bytes.subspan(4);
    return word;
  };
  std::uint32_t hash = kSeed + kPrime[4];
  if (size >= 16) {
    std::array<std::uint32_t, 4> lanes{kSeed + kPrime[0] + kPrime[1], kSeed + kPrime[1], kSeed,
                                       kSeed - kPrime[0]};
    while (bytes.size() >= 16) {
      for (std::uint32_t& lane : lanes) {
        lane = std::rotl(lane + take() * kPrime[1], 13) * kPrime[0];
      }
    }
    hash = std::rotl(lanes[0], 1) + std::rotl(lanes[1], 7) + std::rotl(lanes[2], 12) +
           std::rotl(lanes[3], 18);
  }
  hash += static_cast<std::uint32_t>(size);
  while (bytes.size() >= 4) hash = std::rotl(hash + take() * kPrime[2], 17) * kPrime[3];
  for (const std::byte byte : bytes) {
    hash = std::rotl(hash + std::to_integer<std::uint32_t>(byte) * kPrime[4], 11) * kPrime[0];
  }
  hash = (hash ^ hash >> 15) * kPrime[1];
  hash = (hash ^ hash >> 13) * kPrime[2];
  return (hash ^ hash >> 16) & 0x0fffffff;
}

// A block of lz4-java, whose header has 21 bytes:
//
//   "LZ4Block"
//   uint8     method in the upper four bits: 1 stored, 2 LZ4; in the lower ones, the logarithm of
//             the block size less 10
//   uint32    the size of the data, in bytes
//   uint32    their size without compression
//   uint32    the lower 28 bits of the XXH32 of the uncompressed bytes
//   data
//
// Integers are little-endian. A block of no bytes ends a stream; another may follow.
struct N5Block {
  ByteSpan data;
  std::uint64_t size = 0;  // without compression
  bool is_stored = false;
  std::uint64_t checksum = 0;
};
constexpr std::string_view kBlockMagic = "LZ4Block";
constexpr unsigned kStoredBlock = 0x10;
constexpr unsigned kCompressedBlock = 0x20;

// Checks that the size of the block is possible.
N5Block take_block(EncodedInput& input) {
  if (!std::ranges::equal(input.take(kBlockMagic.size()), std::as_bytes(std::span(kBlockMagic)))) {
    throw Error("the data is corrupt");
  }
  const unsigned method = input.take_byte() & 0xf0;
  const std::uint64_t data_size = input.take_number(4);
  N5Block block;
  block.size = input.take_number(4);
  block.is_stored = method == kStoredBlock;
  block.checksum = input.take_number(4) & 0x0fffffff;
  block.data = input.take(data_size);
  const bool is_possible =
      block.is_stored ? block.size == data_size
                      : method == kCompressedBlock && block.size <= data_size * kMaxLz4Expansion;
  if (!is_possible || data_size > INT32_MAX || block.size > INT32_MAX) {
    throw Error("the data is corrupt");
  }
  return block;
}

class N5Lz4Codec final : public BytesToBytesCodec {
 public:
  explicit N5Lz4Codec(std::size_t block_size) : block_size_(block_size) {}

  std::uint64_t max_decoded_size(ByteSpan encoded) const override {
    return with_context("lz4", [&] {
      std::uint64_t size = 0;
      bool has_end = false;
      for (EncodedInput input(encoded); !input.is_empty();) {
        const N5Block block = take_block(input);
        size += block.size;
        has_end = block.size == 0;
      }
      if (!has_end) throw Error("the data is corrupt");
      return size;
    });
  }

  Buffer encode(ByteSpan decoded) const override {
    std::vector<std::byte> encoded;
    const auto append = [&](ByteSpan data, unsigned method, ByteSpan bytes) {
      const auto magic = std::as_bytes(std::span(kBlockMagic));
      encoded.insert(encoded.end(), magic.begin(), magic.end());
      const auto level = static_cast<unsigned>(std::bit_width((block_size_ - 1) >> 10));
      encoded.push_back(static_cast<std::byte>(method | level));
      append_integer(encoded, static_cast<std::uint32_t>(data.size()), Endian::little);
      append_integer(encoded, static_cast<std::uint32_t>(bytes.size()), Endian::little);
      append_integer(encoded, bytes.empty() ? std::uint32_t{0} : xxh32(bytes), Endian::little);
      encoded.insert(encoded.end(), data.begin(), data.end());
    };
    while (!decoded.empty()) {
      const ByteSpan bytes = decoded.first(std::min(block_size_, decoded.size()));
      decoded = decoded.subspan(bytes.size());
      // Without room for as many bytes, 0 is written.
      Buffer data(bytes.size() - 1);
      const int written = LZ4_compress_default(
          reinterpret_cast<const char*>(bytes.data()), reinterpret_cast<char*>(data.data()),
          static_cast<int>(bytes.size()), static_cast<int>(data.size()));
      data.truncate(static_cast<std::size_t>(written));
      append(written > 0 ? data.span() : bytes, written > 0 ? kCompressedBlock : kStoredBlock,
             bytes);
    }
    append({}, kStoredBlock, {});
    return Buffer::copy_of(ByteSpan(encoded));
  }

  std::string name() const override { return "lz4"; }
  void decode(ByteSpan encoded, MutableByteSpan decoded) const override {
    check_size("lz4: ", max_decoded_size(encoded), decoded.size());
    with_context("lz4", [&] {
      DecodedOutput output(decoded);
      for (EncodedInput input(encoded); !input.is_empty();) {
        const N5Block block = take_block(input);
        const MutableByteSpan target = output.extend(block.size);
        if (block.is_stored) {
          std::ranges::copy(block.data, target.begin());
        } else if (decompress_block(block.data, target) != block.size) {
          throw Error("the data is corrupt");
        }
        if (block.size > 0 && xxh32(target) != block.checksum) {
          throw Error("the checksum does not fit the data");
        }
      }
    });
  }

 private:
  std::size_t block_size_;
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

// Configuration: `blockSize`, in bytes, of new chunks.
Codec make_n5_lz4(const Json& configuration, const ChunkSpec& /*spec*/) {
  const auto block_size = integer_option(configuration, "blockSize", 1 << 16);
  return std::make_unique<N5Lz4Codec>(
      static_cast<std::size_t>(std::clamp<std::int64_t>(block_size, 64, 1 << 25)));
}

}  // namespace zarrcore
