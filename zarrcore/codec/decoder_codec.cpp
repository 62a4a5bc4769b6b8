#include "zarrcore/codec/decoder_codec.h"

#include <utility>

#include "zarrcore/base/checked_math.h"
#include "zarrcore/codec/configuration.h"

namespace zarrcore {
namespace {

class DecoderCodec final : public BytesToBytesCodec {
 public:
  explicit DecoderCodec(Decoder decoder) : decoder_(std::move(decoder)) {}

  std::optional<std::uint64_t> encoded_size(std::uint64_t decoded_size) const override {
    return decoder_.encoded_size ? decoder_.encoded_size(decoded_size) : std::nullopt;
  }

  std::uint64_t max_decoded_size(ByteSpan encoded) const override {
    return checked_multiply(encoded.size(), decoder_.max_expansion).value_or(UINT64_MAX);
  }

  Buffer encode(ByteSpan /*decoded*/) const override { throw only_decodes(decoder_.name); }
  bool can_encode() const override { return false; }

  void decode(ByteSpan encoded, MutableByteSpan decoded) const override {
    check_size(decoder_.name + ": ", run(encoded, decoded), decoded.size());
  }

  Buffer decode(ByteSpan encoded, std::uint64_t max_size) const override {
    Buffer decoded(std::min(max_size, max_decoded_size(encoded)));
    decoded.truncate(run(encoded, decoded.span()));
    return decoded;
  }

 private:
  std::size_t run(ByteSpan encoded, MutableByteSpan decoded) const {
    return with_context(decoder_.name, [&] { return decoder_.decode(encoded, decoded); });
  }

  Decoder decoder_;
};

}  // namespace

Codec make_decoder_codec(Decoder decoder) {
  return std::make_unique<DecoderCodec>(std::move(decoder));
}

Error only_decodes(std::string_view name) {
  return Error(std::string(name) + ": chunks of this codec can be read, not written");
}

}  // namespace zarrcore
