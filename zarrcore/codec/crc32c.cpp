// The `crc32c` codec (v3 codecs, "crc32c", RFC 3720): the payload, then its checksum as a
// little-endian 32-bit integer. numcodecs can put the checksum first.
#include <isa-l/crc.h>

#include <algorithm>
#include <limits>

#include "zarrcore/base/endian.h"
#include "zarrcore/base/error.h"
#include "zarrcore/codec/codecs.h"
#include "zarrcore/codec/configuration.h"

namespace zarrcore {
namespace {

constexpr std::size_t kChecksumSize = 4;

std::uint32_t crc32c(ByteSpan bytes) {
  std::uint32_t crc = 0xffffffffu;
  while (!bytes.empty()) {
    // The library counts bytes with an int, and its parameter lacks a const.
    const auto count = std::min<std::size_t>(bytes.size(), std::numeric_limits<int>::max());
    auto* data = const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(bytes.data()));
    crc = crc32_iscsi(data, static_cast<int>(count), crc);
    bytes = bytes.subspan(count);
  }
  return ~crc;
}

class Crc32cCodec final : public BytesToBytesCodec {
 public:
  explicit Crc32cCodec(bool checksum_first)
      : framing_(checksum_first ? Framing{kChecksumSize, 0} : Framing{0, kChecksumSize}) {}

  std::optional<std::uint64_t> encoded_size(std::uint64_t decoded_size) const override {
    return decoded_size + kChecksumSize;
  }

  std::uint64_t max_decoded_size(ByteSpan encoded) const override { return encoded.size(); }

  Buffer encode(ByteSpan decoded) const override {
    Buffer encoded(decoded.size() + kChecksumSize);
    if (!decoded.empty()) {
      std::memcpy(encoded.data() + framing_.prefix, decoded.data(), decoded.size());
    }
    std::byte* checksum = encoded.data() + (framing_.prefix > 0 ? 0 : decoded.size());
    store_integer(crc32c(decoded), Endian::little, checksum);
    return encoded;
  }

  void decode(ByteSpan encoded, MutableByteSpan decoded) const override {
    const ByteSpan payload = unframe(encoded);
    if (payload.size() != decoded.size()) {
      throw Error("crc32c: " + std::to_string(payload.size()) + " bytes where " +
                  std::to_string(decoded.size()) + " are expected");
    }
    if (!payload.empty()) std::memcpy(decoded.data(), payload.data(), payload.size());
  }

  Buffer decode(ByteSpan encoded, std::uint64_t /*max_size*/) const override {
    return Buffer::copy_of(unframe(encoded));
  }

  const Framing* framing() const override { return &framing_; }

  ByteSpan unframe(ByteSpan encoded) const override {
    if (encoded.size() < kChecksumSize) {
      throw Error("crc32c: " + std::to_string(encoded.size()) + " bytes are too few");
    }
    const ByteSpan payload = encoded.subspan(framing_.prefix, encoded.size() - kChecksumSize);
    const std::byte* checksum = encoded.data() + (framing_.prefix > 0 ? 0 : payload.size());
    if (load_integer<std::uint32_t>(checksum, Endian::little) != crc32c(payload)) {
      throw Error("crc32c: the checksum is wrong");
    }
    return payload;
  }

 private:
  Framing framing_;
};

}  // namespace

Codec make_crc32c(const Json& configuration, const ChunkSpec& /*spec*/) {
  const auto location = text_option(configuration, "location");
  if (location && *location != "start" && *location != "end") {
    throw Error("\"location\" is \"" + *location + "\", neither start nor end");
  }
  return std::make_unique<Crc32cCodec>(location == "start");
}

}  // namespace zarrcore
