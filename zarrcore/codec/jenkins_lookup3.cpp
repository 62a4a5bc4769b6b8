// The `jenkins_lookup3` codec of numcodecs: Bob Jenkins' hash function lookup3 (its `hashlittle`),
// with which HDF5 guards its metadata, after the payload. Configuration: `initval`, the initial
// value of the hash, and `prefix`, bytes that are hashed as if they preceded the payload.
#include <algorithm>
#include <bit>
#include <utility>

#include "zarrcore/base/endian.h"
#include "zarrcore/base/error.h"
#include "zarrcore/codec/checksum.h"
#include "zarrcore/codec/codec.h"
#include "zarrcore/codec/configuration.h"

namespace zarrcore {
namespace {

constexpr std::size_t kHashBlock = 12;

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
  const Json* prefix = find_member(configuration, "prefix");
  if (prefix == nullptr || prefix->is_null()) return {};
  std::vector<std::byte> bytes;
  for (const std::uint64_t byte : as_unsigned_list(*prefix, "\"prefix\"")) {
    if (byte > 0xff) throw Error("\"prefix\" is not a list of bytes");
    bytes.push_back(static_cast<std::byte>(byte));
  }
  return bytes;
}

}  // namespace

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

}  // namespace zarrcore
