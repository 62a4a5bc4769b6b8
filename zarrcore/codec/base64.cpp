// The `base64` codec of numcodecs: bytes as text (RFC 4648, section 4, with padding).
#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/json.h"
#include "zarrcore/base/text.h"
#include "zarrcore/codec/codec.h"

namespace zarrcore {
namespace {

class Base64Codec final : public BytesToBytesCodec {
 public:
  std::optional<std::uint64_t> encoded_size(std::uint64_t decoded_size) const override {
    return checked_multiply(ceil_divide(decoded_size, 3), 4);
  }

  std::uint64_t max_decoded_size(ByteSpan encoded) const override { return encoded.size() / 4 * 3; }

  Buffer encode(ByteSpan decoded) const override { return Buffer::copy_of(encode_base64(decoded)); }

  void decode(ByteSpan encoded, MutableByteSpan decoded) const override {
    const std::vector<std::byte> bytes = decode_text(encoded);
    check_size("base64: ", bytes.size(), decoded.size());
    if (!bytes.empty()) std::memcpy(decoded.data(), bytes.data(), bytes.size());
  }

  Buffer decode(ByteSpan encoded, std::uint64_t max_size) const override {
    const std::vector<std::byte> bytes = decode_text(encoded);
    check_max_size("base64: ", bytes.size(), max_size);
    return Buffer::copy_of(ByteSpan(bytes));
  }

 private:
  static std::vector<std::byte> decode_text(ByteSpan encoded) {
    const std::string_view text(reinterpret_cast<const char*>(encoded.data()), encoded.size());
    auto bytes = decode_base64(text);
    // Unlike in metadata, padding is required: data without it may have been cut off.
    if (!bytes || ceil_divide(bytes->size(), 3) * 4 != text.size()) {
      throw Error("base64: the data is corrupt");
    }
    return *std::move(bytes);
  }
};

}  // namespace

Codec make_base64(const Json& /*configuration*/, const ChunkSpec& /*spec*/) {
  return std::make_unique<Base64Codec>();
}

}  // namespace zarrcore
