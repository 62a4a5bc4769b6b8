#include "zarrcore/icechunk/envelope.h"

#include <cstring>
#include <string>
#include <string_view>

#include "zarrcore/base/error.h"
#include "zarrcore/icechunk/zstd_frames.h"

namespace zarrcore::icechunk {
namespace {

constexpr unsigned kNewestVersion = 2;

constexpr std::string_view kMagic =
    "ICE\xF0\x9F\xA7\x8A"
    "CHUNK";
constexpr std::size_t kVersionPlace = 36;
constexpr std::size_t kTypePlace = 37;
constexpr std::size_t kCompressionPlace = 38;
// Far more than the largest repositories need.
constexpr std::uint64_t kMaxContentSize = std::uint64_t{1} << 30;

unsigned byte_at(ByteSpan bytes, std::size_t place) {
  return std::to_integer<unsigned>(bytes[place]);
}

bool has_magic(ByteSpan start) {
  return start.size() >= kEnvelopeSize &&
         std::memcmp(start.data(), kMagic.data(), kMagic.size()) == 0;
}

std::string_view name_of(unsigned type) {
  switch (type) {
    case 1:
      return "a snapshot";
    case 2:
      return "a manifest";
    case 3:
      return "attributes";
    case 4:
      return "a transaction log";
    case 5:
      return "a chunk";
    case 6:
      return "the repository's info";
    default:
      return "of an unknown type";
  }
}

Error unknown_version(unsigned version) {
  return Error("it has version " + std::to_string(version) +
               " of Icechunk's format, which is unknown; 1 and 2 are known");
}

}  // namespace

bool has_envelope(ByteSpan start, FileType type) {
  return has_magic(start) && byte_at(start, kTypePlace) == static_cast<unsigned>(type);
}

void check_not_newer(unsigned version) {
  if (version > kNewestVersion) throw unknown_version(version);
}

Buffer open_envelope(ByteSpan file, FileType type) {
  if (!has_magic(file)) throw Error("this is no file of Icechunk");
  const unsigned version = byte_at(file, kVersionPlace);
  if (version == 0) throw unknown_version(version);
  check_not_newer(version);
  const unsigned stored_type = byte_at(file, kTypePlace);
  if (stored_type != static_cast<unsigned>(type)) {
    throw Error("it should be " + std::string(name_of(static_cast<unsigned>(type))) + ", and is " +
                std::string(name_of(stored_type)) + " (type " + std::to_string(stored_type) + ")");
  }
  const ByteSpan content = file.subspan(kEnvelopeSize);
  switch (const unsigned compression = byte_at(file, kCompressionPlace)) {
    case 0:
      return Buffer::copy_of(content);
    case 1:
      return decompress_zstd(content, kMaxContentSize);
    default:
      throw Error("it has the unknown compression " + std::to_string(compression));
  }
}

}  // namespace zarrcore::icechunk
