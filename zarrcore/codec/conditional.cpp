// The `conditional` codec (zarr-extensions): bytes-to-bytes codecs that are applied to some chunks
// only: each chunk names the codecs that were applied to it. A chunk starts with `header_bits`
// bits, least significant first: bit i is set if codec i was applied. By default there are as many
// bits as codecs, in whole bytes.
#include <algorithm>

#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/error.h"
#include "zarrcore/codec/codec.h"
#include "zarrcore/codec/registry.h"
#include "zarrcore/metadata/codec_metadata.h"

namespace zarrcore {
namespace {

using BytesCodecs = std::vector<std::unique_ptr<const BytesToBytesCodec>>;

class ConditionalCodec final : public BytesToBytesCodec {
 public:
  ConditionalCodec(BytesCodecs codecs, std::size_t header_size)
      : codecs_(std::move(codecs)), header_size_(header_size) {}

  std::uint64_t max_decoded_size(ByteSpan encoded) const override {
    const auto applied = applied_to(encoded);
    encoded = encoded.subspan(header_size_);
    if (applied.empty()) return encoded.size();
    return applied.size() == 1 ? applied[0]->max_decoded_size(encoded) : UINT64_MAX;
  }

  // A codec is applied where it can be and makes a chunk smaller, or the same, and checksums
  // always.
  Buffer encode(ByteSpan decoded) const override {
    Buffer held = Buffer::copy_of(decoded);
    std::vector<std::byte> header(header_size_);
    for (std::size_t i = 0; i < codecs_.size(); ++i) {
      try {
        Buffer encoded = codecs_[i]->encode(held.span());
        if (encoded.size() > held.size() && codecs_[i]->framing() == nullptr) continue;
        held = std::move(encoded);
      } catch (const Error&) {
        continue;
      }
      header[i / 8] |= std::byte{1} << (i % 8);
    }
    Buffer encoded(header_size_ + held.size());
    std::ranges::copy(held.span(), std::ranges::copy(header, encoded.data()).out);
    return encoded;
  }

  bool can_encode() const override {
    return std::ranges::all_of(codecs_, [](const auto& codec) { return codec->can_encode(); });
  }

  void decode(ByteSpan encoded, MutableByteSpan decoded) const override {
    auto applied = applied_to(encoded);
    Buffer held;
    const ByteSpan payload =
        decode_all_but_first(encoded, applied, 2 * std::uint64_t{decoded.size()}, held);
    if (!applied.empty()) return applied.front()->decode(payload, decoded);
    check_size("conditional: ", payload.size(), decoded.size());
    std::ranges::copy(payload, decoded.begin());
  }

  Buffer decode(ByteSpan encoded, std::uint64_t max_size) const override {
    auto applied = applied_to(encoded);
    Buffer held;
    const ByteSpan payload = decode_all_but_first(encoded, applied, max_size, held);
    if (!applied.empty()) return applied.front()->decode(payload, max_size);
    check_max_size("conditional: ", payload.size(), max_size);
    return Buffer::copy_of(payload);
  }

 private:
  std::vector<const BytesToBytesCodec*> applied_to(ByteSpan encoded) const {
    if (encoded.size() < header_size_) throw Error("conditional: the chunk ends within its header");
    std::vector<const BytesToBytesCodec*> applied;
    for (std::size_t i = 0; i < 8 * header_size_; ++i) {
      if ((encoded[i / 8] >> (i % 8) & std::byte{1}) == std::byte{0}) continue;
      if (i >= codecs_.size()) {
        throw Error("conditional: the chunk has codec " + std::to_string(i) + " of " +
                    std::to_string(codecs_.size()));
      }
      applied.push_back(codecs_[i].get());
    }
    return applied;
  }

  // Decodes with all `applied` codecs except the first. No codec makes its input much larger than
  // `max_size`, which other codecs around this one may have doubled already.
  ByteSpan decode_all_but_first(ByteSpan encoded,
                                const std::vector<const BytesToBytesCodec*>& applied,
                                std::uint64_t max_size, Buffer& held) const {
    constexpr std::uint64_t kSlack = 1 << 16;
    const std::uint64_t max_between = checked_add(max_size, kSlack).value_or(UINT64_MAX);
    ByteSpan payload = encoded.subspan(header_size_);
    for (std::size_t i = applied.size(); i-- > 1;) {
      held = applied[i]->decode(payload, max_between);
      payload = held.span();
    }
    return payload;
  }

  BytesCodecs codecs_;
  std::size_t header_size_;
};

std::unique_ptr<const BytesToBytesCodec> make_bytes_codec(const CodecMetadata& metadata,
                                                          const ChunkSpec& spec) {
  return with_context(
      {"codec \"", metadata.name, "\""}, [&]() -> std::unique_ptr<const BytesToBytesCodec> {
        const CodecFactory make = find_codec(metadata.name);
        if (make == nullptr) throw Error("it is not supported");
        Codec codec = make(known_members(metadata.name, metadata.configuration), spec);
        if (auto* filter = std::get_if<std::unique_ptr<const Filter>>(&codec)) {
          return std::move(*filter);
        }
        auto* bytes_codec = std::get_if<std::unique_ptr<const BytesToBytesCodec>>(&codec);
        if (bytes_codec == nullptr) throw Error("it is not one from bytes to bytes");
        return std::move(*bytes_codec);
      });
}

}  // namespace

Codec make_conditional(const Json& configuration, const ChunkSpec& spec) {
  constexpr std::size_t kMaxCodecs = 64;
  const std::vector<CodecMetadata> list = codecs_member(configuration, "codecs");
  if (list.size() > kMaxCodecs) throw Error("\"codecs\" has more codecs than are run");
  const auto count = static_cast<std::int64_t>(list.size());
  const std::int64_t bits = integer_option(configuration, "header_bits", (count + 7) / 8 * 8);
  if (bits < count || bits % 8 != 0 || bits > INT16_MAX) {
    throw Error("\"header_bits\" is " + std::to_string(bits) + " for " + std::to_string(count) +
                " codecs");
  }
  BytesCodecs codecs;
  for (const CodecMetadata& metadata : list) codecs.push_back(make_bytes_codec(metadata, spec));
  return std::make_unique<ConditionalCodec>(std::move(codecs), static_cast<std::size_t>(bits / 8));
}

}  // namespace zarrcore
