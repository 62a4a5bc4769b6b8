#include "zarrcore/codec/decoder_codec.h"

#include <utility>

#include "zarrcore/base/checked_math.h"
#include "zarrcore/codec/codec.h"

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

void unshuffle_bytes(ByteSpan planes, std::size_t item_size, MutableByteSpan elements,
                     bool is_reversed) {
  const std::size_t count = planes.size() / item_size;
  for (std::size_t k = 0; k < item_size; ++k) {
    const std::byte* plane = planes.data() + k * count;
    std::byte* byte = elements.data() + (is_reversed ? item_size - 1 - k : k);
    for (std::size_t i = 0; i < count; ++i) byte[i * item_size] = plane[i];
  }
}

// Reads all streams as if they were one.
class StreamCodec::Reader {
 public:
  Reader(const StreamCodec& codec, ByteSpan encoded, std::uint64_t size)
      : codec_(codec), encoded_(encoded), size_(size), decoder_(codec.make_decoder(size)) {}

  // Fills `decoded` and returns its size, or less at the end of the data.
  std::size_t read(MutableByteSpan decoded) {
    MutableByteSpan rest = decoded;
    while (!rest.empty() && decoder_) {
      if (!advance(rest)) {
        if (rest.empty() || !encoded_.empty()) continue;
        throw Error(codec_.name_ + ": the data ends too early");
      }
      decoder_ = is_zero(encoded_) ? nullptr : codec_.make_decoder(size_);
      is_first_ = false;
      is_untouched_ = true;
    }
    return decoded.size() - rest.size();
  }

  // Returns true if all streams have been read.
  bool is_at_end() {
    std::byte spare{};
    return read({&spare, 1}) == 0;
  }

 private:
  bool advance(MutableByteSpan& rest) {
    const std::size_t before = rest.size();
    try {
      const bool has_ended = decoder_->advance(encoded_, rest);
      is_untouched_ = is_untouched_ && rest.size() == before;
      return has_ended;
    } catch (const Error&) {
      if (is_first_ || !is_untouched_ || rest.size() != before) throw;
      encoded_ = {};  // no stream at all
      return true;
    }
  }

  const StreamCodec& codec_;
  ByteSpan encoded_;
  std::uint64_t size_;
  std::unique_ptr<StreamDecoder> decoder_;  // null at the end
  bool is_first_ = true;
  bool is_untouched_ = true;  // the current stream has given no bytes yet
};

StreamCodec::StreamCodec(std::string name, std::uint64_t max_expansion)
    : name_(std::move(name)), max_expansion_(max_expansion) {}

std::uint64_t StreamCodec::max_decoded_size(ByteSpan encoded) const {
  return checked_multiply(encoded.size(), max_expansion_).value_or(UINT64_MAX);
}

void StreamCodec::decode(ByteSpan encoded, MutableByteSpan decoded) const {
  Reader reader(*this, encoded, decoded.size());
  const std::size_t size = reader.read(decoded);
  check_size(name_ + ": ", size, decoded.size());
  if (!reader.is_at_end()) {
    throw Error(name_ + ": more than the expected " + std::to_string(size) + " bytes");
  }
}

Buffer StreamCodec::decode(ByteSpan encoded, std::uint64_t max_size) const {
  const std::uint64_t limit = std::min(max_size, max_decoded_size(encoded));
  Reader reader(*this, encoded, limit);
  Buffer decoded(std::min<std::uint64_t>(limit, encoded.size() * 4 + 64));
  std::size_t size = 0;
  for (;;) {
    size += reader.read(decoded.span().subspan(size));
    if (size < decoded.size()) break;
    if (size == limit) {
      if (reader.is_at_end()) break;
      throw Error(name_ + ": more than the " + std::to_string(limit) + " bytes that can be right");
    }
    Buffer larger(std::min<std::uint64_t>(limit, size * 4));
    std::memcpy(larger.data(), decoded.data(), size);
    decoded = std::move(larger);
  }
  decoded.truncate(size);
  return decoded;
}

}  // namespace zarrcore
