// The compression `lz4` of N5: the blocks of lz4-java's LZ4BlockOutputStream, each with a header of
// 21 bytes:
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
#include <lz4.h>

#include <algorithm>
#include <array>
#include <bit>
#include <string_view>

#include "zarrcore/base/endian.h"
#include "zarrcore/base/error.h"
#include "zarrcore/codec/codec.h"
#include "zarrcore/codec/configuration.h"

namespace zarrcore {
namespace {

constexpr std::string_view kBlockMagic = "LZ4Block";
constexpr std::size_t kBlockHeaderSize = 21;
constexpr unsigned kStoredBlock = 0x10;
constexpr unsigned kCompressedBlock = 0x20;
// The most bytes that a byte of a block can stand for.
constexpr std::uint64_t kMaxBlockExpansion = 255;

Error corrupt_block() {
  return Error("lz4: the data is corrupt");
}

const char* block_chars(ByteSpan bytes) {
  return reinterpret_cast<const char*>(bytes.data());
}

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

class N5Lz4Codec final : public BytesToBytesCodec {
 public:
  explicit N5Lz4Codec(std::size_t block_size) : block_size_(block_size) {}

  std::uint64_t max_decoded_size(ByteSpan encoded) const override {
    std::uint64_t size = 0;
    bool has_end = false;
    while (!encoded.empty()) {
      const Block block = take_block(encoded);
      size += block.size;
      has_end = block.size == 0;
    }
    if (!has_end) throw corrupt_block();
    return size;
  }

  Buffer encode(ByteSpan decoded) const override {
    std::vector<std::byte> encoded;
    const auto append = [&](ByteSpan data, unsigned method, ByteSpan bytes) {
      std::array<std::byte, kBlockHeaderSize> header;
      std::memcpy(header.data(), kBlockMagic.data(), kBlockMagic.size());
      const auto level = static_cast<unsigned>(std::bit_width((block_size_ - 1) >> 10));
      header[8] = static_cast<std::byte>(method | level);
      const std::uint32_t check = bytes.empty() ? 0 : xxh32(bytes);
      const std::array<std::uint32_t, 3> words{static_cast<std::uint32_t>(data.size()),
                                               static_cast<std::uint32_t>(bytes.size()), check};
      for (std::size_t i = 0; i < words.size(); ++i) {
        store_integer(words[i], Endian::little, header.data() + 9 + 4 * i);
      }
      encoded.insert(encoded.end(), header.begin(), header.end());
      encoded.insert(encoded.end(), data.begin(), data.end());
    };
    while (!decoded.empty()) {
      const ByteSpan bytes = decoded.first(std::min(block_size_, decoded.size()));
      decoded = decoded.subspan(bytes.size());
      // Without room for as many bytes, 0 is written.
      Buffer data(bytes.size() - 1);
      const int written =
          LZ4_compress_default(block_chars(bytes), reinterpret_cast<char*>(data.data()),
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
    while (!encoded.empty()) {
      const Block block = take_block(encoded);
      const MutableByteSpan target = decoded.first(block.size);
      decoded = decoded.subspan(block.size);
      if (block.is_stored) {
        std::ranges::copy(block.data, target.begin());
      } else {
        const int written =
            LZ4_decompress_safe(block_chars(block.data), reinterpret_cast<char*>(target.data()),
                                static_cast<int>(block.data.size()), static_cast<int>(block.size));
        if (written < 0 || static_cast<std::uint64_t>(written) != block.size) throw corrupt_block();
      }
      if (block.size > 0 && xxh32(target) != block.checksum) {
        throw Error("lz4: the checksum does not fit the data");
      }
    }
  }

 private:
  struct Block {
    ByteSpan data;
    std::uint64_t size = 0;  // without compression
    bool is_stored = false;
    std::uint32_t checksum = 0;
  };

  // Takes a block from the front of `encoded`, and checks that its size is possible.
  static Block take_block(ByteSpan& encoded) {
    const auto check = [](bool is_right) {
      if (!is_right) throw corrupt_block();
    };
    check(encoded.size() >= kBlockHeaderSize &&
          std::memcmp(encoded.data(), kBlockMagic.data(), kBlockMagic.size()) == 0);
    const auto word = [&encoded](std::size_t offset) {
      return load_integer<std::uint32_t>(encoded.data() + offset, Endian::little);
    };
    const auto method = std::to_integer<unsigned>(encoded[8]) & 0xf0;
    const std::uint32_t data_size = word(9);
    Block block{{}, word(13), method == kStoredBlock, word(17) & 0x0fffffff};
    encoded = encoded.subspan(kBlockHeaderSize);
    check(data_size <= encoded.size() && data_size <= INT32_MAX && block.size <= INT32_MAX);
    block.data = encoded.first(data_size);
    encoded = encoded.subspan(data_size);
    check(block.is_stored
              ? block.size == data_size
              : method == kCompressedBlock && block.size <= data_size * kMaxBlockExpansion);
    return block;
  }

  std::size_t block_size_;
};

}  // namespace

// Configuration: `blockSize`, in bytes, of new chunks.
Codec make_n5_lz4(const Json& configuration, const ChunkSpec& /*spec*/) {
  const auto block_size = integer_option(configuration, "blockSize", 1 << 16);
  return std::make_unique<N5Lz4Codec>(
      static_cast<std::size_t>(std::clamp<std::int64_t>(block_size, 64, 1 << 25)));
}

}  // namespace zarrcore
