// The `lz4` codec of numcodecs: the decoded size as a little-endian int32, then one LZ4 block.
// Configuration: `acceleration`; higher values encode faster and compress less.
#include <lz4.h>

#include <algorithm>
#include <limits>

#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/endian.h"
#include "zarrcore/base/error.h"
#include "zarrcore/codec/codec.h"
#include "zarrcore/codec/configuration.h"

namespace zarrcore {
namespace {

constexpr std::size_t kHeaderSize = 4;
// The most bytes that a byte of a block can stand for.
constexpr std::uint64_t kMaxLz4Expansion = 255;

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

  void decode(ByteSpan encoded, MutableByteSpan decoded) const override {
    const std::uint64_t size = stated_size(encoded);
    check_size("lz4: ", size, decoded.size());
    const ByteSpan block = encoded.subspan(kHeaderSize);
    if (block.size() > std::numeric_limits<int>::max()) throw Error("lz4: the data is corrupt");
    const int written = LZ4_decompress_safe(
        reinterpret_cast<const char*>(block.data()), reinterpret_cast<char*>(decoded.data()),
        static_cast<int>(block.size()), static_cast<int>(decoded.size()));
    if (written < 0 || static_cast<std::uint64_t>(written) != size) {
      throw Error("lz4: the data is corrupt");
    }
  }

  Buffer decode(ByteSpan encoded, std::uint64_t max_size) const override {
    const std::uint64_t size = stated_size(encoded);
    if (size > std::min(max_size, max_decoded_size(encoded))) {
      throw Error("lz4: " + std::to_string(size) + " bytes, more than can be right");
    }
    Buffer decoded(size);
    decode(encoded, decoded.span());
    return decoded;
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

}  // namespace zarrcore
