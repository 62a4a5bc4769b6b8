#include "zarrcore/codec/checksum.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "zarrcore/base/endian.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/text.h"
#include "zarrcore/codec/configuration.h"
#include "zarrcore/codec/registry.h"

namespace zarrcore {
namespace {

constexpr std::size_t kChecksumSize = 4;

class ChecksumCodec final : public BytesToBytesCodec {
 public:
  ChecksumCodec(std::string name, ChecksumLocation location,
                std::function<std::uint32_t(ByteSpan)> checksum)
      : name_(std::move(name)),
        framing_(location == ChecksumLocation::start ? Framing{kChecksumSize, 0}
                                                     : Framing{0, kChecksumSize}),
        checksum_(std::move(checksum)) {}

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
    store_integer(checksum_(decoded), Endian::little, checksum);
    return encoded;
  }

  void decode(ByteSpan encoded, MutableByteSpan decoded) const override {
    const ByteSpan payload = unframe(encoded);
    check_size(name_ + ": ", payload.size(), decoded.size());
    if (!payload.empty()) std::memcpy(decoded.data(), payload.data(), payload.size());
  }

  Buffer decode(ByteSpan encoded, std::uint64_t /*max_size*/) const override {
    return Buffer::copy_of(unframe(encoded));
  }

  const Framing* framing() const override { return &framing_; }

  ByteSpan unframe(ByteSpan encoded) const override {
    if (encoded.size() < kChecksumSize) {
      throw Error(name_ + ": " + std::to_string(encoded.size()) + " bytes are too few");
    }
    const ByteSpan payload = encoded.subspan(framing_.prefix, encoded.size() - kChecksumSize);
    const std::byte* checksum = encoded.data() + (framing_.prefix > 0 ? 0 : payload.size());
    if (load_integer<std::uint32_t>(checksum, Endian::little) != checksum_(payload)) {
      throw Error(name_ + ": the checksum is wrong");
    }
    return payload;
  }

 private:
  std::string name_;
  Framing framing_;
  std::function<std::uint32_t(ByteSpan)> checksum_;
};

}  // namespace

Codec make_checksum_codec(std::string name, const Json& configuration, ChecksumLocation fallback,
                          std::function<std::uint32_t(ByteSpan)> checksum) {
  const auto location =
      choice_option(configuration, "location", fallback,
                    {{"start", ChecksumLocation::start}, {"end", ChecksumLocation::end}});
  return std::make_unique<ChecksumCodec>(std::move(name), location, std::move(checksum));
}

// imagecodecs' `checksum`: one of the others by its `kind`. Configuration: `prepend`, whether it
// precedes the payload.
Codec make_imagecodecs_checksum(const Json& configuration, const ChunkSpec& spec) {
  struct Kind {
    std::string_view name;
    std::string_view codec;
    bool precedes;
    bool has_location;
  };
  static constexpr Kind kKinds[] = {{"crc32", "numcodecs.crc32", true, true},
                                    {"adler32", "numcodecs.adler32", true, true},
                                    {"fletcher32", "numcodecs.fletcher32", false, false},
                                    {"lookup3", "numcodecs.jenkins_lookup3", false, false}};
  const std::string name = lower_case(text_option(configuration, "kind").value_or(""));
  const Kind* kind = std::ranges::find(kKinds, name, &Kind::name);
  if (kind == std::end(kKinds)) throw Error("\"kind\" is \"" + name + "\", which is not supported");
  for (const char* key : {"value", "prefix"}) {
    const Json* member = find_member(configuration, key);
    if (member != nullptr && !member->is_null()) {
      throw Error('"' + std::string(key) + "\" is " + excerpt(*member) +
                  ", which is not supported");
    }
  }
  const bool precedes = boolean_option(configuration, "prepend", kind->precedes);
  if (text_option(configuration, "byteorder").value_or("<") == ">" ||
      (precedes != kind->precedes && !kind->has_location)) {
    throw Error("a checksum in this place or byte order is not supported");
  }
  Json options = Json::object();
  if (kind->has_location) options["location"] = precedes ? "start" : "end";
  return find_codec(kind->codec)(options, spec);
}

}  // namespace zarrcore
