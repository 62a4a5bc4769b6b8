// Checksum codecs: the unchanged payload, preceded or followed by 4 bytes of checksum,
// little-endian.
//
// numcodecs' `crc32` and `adler32` precede the payload, unless `location` is "end"; `crc32c` (v3
// codecs, "crc32c"), `fletcher32` and `jenkins_lookup3` follow it, `crc32c` of numcodecs unless
// `location` is "start". imagecodecs' `checksum` is one of them by its `kind`.
#include "zarrcore/codec/checksum.h"

#include <libdeflate.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <string>
#include <utility>

#include "zarrcore/base/endian.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/json.h"
#include "zarrcore/base/text.h"
#include "zarrcore/codec/codec.h"
#include "zarrcore/codec/registry.h"

namespace zarrcore {
namespace {

enum class ChecksumLocation : bool { start, end };

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

// Messages start with `name`. The place of the checksum is the member `location` that some of them
// have in numcodecs; `fallback` when it is missing or null, and for the others, which have no
// configuration.
Codec make_checksum_codec(std::string name, const Json& configuration, ChecksumLocation fallback,
                          std::function<std::uint32_t(ByteSpan)> checksum) {
  const auto location =
      choice_option(configuration, "location", fallback,
                    {{"start", ChecksumLocation::start}, {"end", ChecksumLocation::end}});
  return std::make_unique<ChecksumCodec>(std::move(name), location, std::move(checksum));
}

// --- Fletcher's checksum in HDF5's variant -------------------------------------------------------

// The ones' complement sum of the 16-bit digits of `sum`: zero only for zero.
std::uint64_t fold(std::uint64_t sum) {
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  return sum;
}

// Sums big-endian 16-bit words, the last one padded with a zero byte, by ones' complement.
std::uint32_t fletcher32(ByteSpan bytes) {
  std::uint64_t sum = 0;
  std::uint64_t sum_of_sums = 0;
  const auto add = [&](std::uint64_t word) {
    sum += word;
    sum_of_sums += sum;
  };
  // The number of bytes that can be added before the sums must be folded.
  constexpr std::size_t kBlock = 2 << 20;
  for (; bytes.size() > 1;
       bytes = bytes.subspan(std::min(bytes.size() & ~std::size_t{1}, kBlock))) {
    const std::size_t size = std::min(bytes.size() & ~std::size_t{1}, kBlock);
    for (std::size_t i = 0; i < size; i += 2) {
      add(load_integer<std::uint16_t>(bytes.data() + i, Endian::big));
    }
    sum = fold(sum);
    sum_of_sums = fold(sum_of_sums);
  }
  if (!bytes.empty()) add(std::to_integer<std::uint64_t>(bytes.front()) << 8);
  return static_cast<std::uint32_t>(fold(sum_of_sums) << 16 | fold(sum));
}

// --- Bob Jenkins' hash function lookup3, with which HDF5 guards its metadata ---------------------

constexpr std::size_t kHashBlock = 12;

// Its `hashlittle`.
std::uint32_t jenkins_lookup3(ByteSpan bytes, std::uint32_t initval) {
  std::uint32_t a = 0xdeadbeefu + static_cast<std::uint32_t>(bytes.size()) + initval;
  std::uint32_t b = a;
  std::uint32_t c = a;
  const auto add = [&](const std::byte* block) {
    a += load_integer<std::uint32_t>(block, Endian::little);
    b += load_integer<std::uint32_t>(block + 4, Endian::little);
    c += load_integer<std::uint32_t>(block + 8, Endian::little);
  };
  const auto mix = [](std::uint32_t& x, std::uint32_t y, std::uint32_t& z, int bits) {
    x = (x - z) ^ std::rotl(z, bits);
    z += y;
  };
  const auto finish = [](std::uint32_t& x, std::uint32_t y, int bits) {
    x = (x ^ y) - std::rotl(y, bits);
  };

  for (; bytes.size() > kHashBlock; bytes = bytes.subspan(kHashBlock)) {
    add(bytes.data());
    mix(a, b, c, 4);
    mix(b, c, a, 6);
    mix(c, a, b, 8);
    mix(a, b, c, 16);
    mix(b, c, a, 19);
    mix(c, a, b, 4);
  }
  if (bytes.empty()) return c;
  std::byte last[kHashBlock]{};
  std::copy(bytes.begin(), bytes.end(), last);
  add(last);
  finish(c, b, 14);
  finish(a, c, 11);
  finish(b, a, 25);
  finish(c, b, 16);
  finish(a, c, 4);
  finish(b, a, 14);
  finish(c, b, 24);
  return c;
}

// In numcodecs the prefix is a Python bytes object, in JSON a list of numbers.
std::vector<std::byte> parse_prefix(const Json& configuration) {
  const Json* prefix = find_value(configuration, "prefix");
  if (prefix == nullptr) return {};
  std::vector<std::byte> bytes;
  for (const std::uint64_t byte : as_unsigned_list(*prefix, "\"prefix\"")) {
    if (byte > 0xff) throw Error("\"prefix\" is not a list of bytes");
    bytes.push_back(static_cast<std::byte>(byte));
  }
  return bytes;
}

}  // namespace

std::uint32_t crc32(ByteSpan bytes) {
  return libdeflate_crc32(0, bytes.data(), bytes.size());
}

// CRC-32, and below Adler-32 (RFC 1950, section 9) and CRC-32C (RFC 3720).
Codec make_crc32(const Json& configuration, const ChunkSpec& /*spec*/) {
  return make_checksum_codec("crc32", configuration, ChecksumLocation::start, crc32);
}

Codec make_adler32(const Json& configuration, const ChunkSpec& /*spec*/) {
  return make_checksum_codec("adler32", configuration, ChecksumLocation::start, [](ByteSpan bytes) {
    return libdeflate_adler32(1, bytes.data(), bytes.size());
  });
}

Codec make_crc32c(const Json& configuration, const ChunkSpec& /*spec*/) {
  return make_checksum_codec("crc32c", configuration, ChecksumLocation::end, crc32c);
}

Codec make_fletcher32(const Json& /*configuration*/, const ChunkSpec& /*spec*/) {
  return make_checksum_codec("fletcher32", {}, ChecksumLocation::end, fletcher32);
}

// Configuration: `initval`, the initial value of the hash, and `prefix`, bytes that are hashed as
// if they preceded the payload.
Codec make_jenkins_lookup3(const Json& configuration, const ChunkSpec& /*spec*/) {
  const std::int64_t initval = integer_option(configuration, "initval", 0);
  if (!std::in_range<std::uint32_t>(initval)) {
    throw Error("\"initval\" is " + std::to_string(initval) + ", not a number of 32 bits");
  }
  return make_checksum_codec("jenkins_lookup3", {}, ChecksumLocation::end,
                             [prefix = parse_prefix(configuration),
                              start = static_cast<std::uint32_t>(initval)](ByteSpan bytes) {
                               if (prefix.empty()) return jenkins_lookup3(bytes, start);
                               std::vector<std::byte> all = prefix;
                               all.insert(all.end(), bytes.begin(), bytes.end());
                               return jenkins_lookup3(all, start);
                             });
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
    const Json* member = find_value(configuration, key);
    if (member != nullptr) {
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
