#include "zarrcore/icechunk/object_file.h"

#ifdef _WIN32
#include <random>
#else
#ifdef __APPLE__
#include <sys/random.h>
#endif
#include <unistd.h>
#endif

#include <algorithm>
#include <cstring>
#include <iterator>
#include <new>

#include "zarrcore/base/error.h"
#include "zarrcore/base/process.h"

namespace zarrcore::icechunk {
namespace {

constexpr std::string_view kIdAlphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
constexpr std::size_t kObjectIdLetters = 20;
constexpr unsigned kNewestVersion = 2;
constexpr std::string_view kMagic =
    "ICE\xF0\x9F\xA7\x8A"
    "CHUNK";
// This program, padded with spaces.
constexpr std::string_view kWriter = "gdal-zarr               ";
constexpr std::size_t kVersionPlace = 36;
static_assert(kMagic.size() + kWriter.size() == kVersionPlace);
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

std::string name_of(unsigned type) {
  constexpr const char* kNames[] = {"a snapshot",        "a manifest", "attributes",
                                    "a transaction log", "a chunk",    "the repository's info"};
  return type >= 1 && type <= std::size(kNames) ? kNames[type - 1] : "of an unknown type";
}

Error unknown_version(unsigned version) {
  return Error("it has version " + std::to_string(version) +
               " of Icechunk's format, which is unknown; 1 and 2 are known");
}

constexpr std::uint64_t kFirstSize = 16 << 10;
// Documents and references compress about this well.
constexpr std::uint64_t kUsualRatio = 8;

struct FreeDecoder {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

std::size_t checked(std::size_t result) {
  if (ZSTD_isError(result) != 0) throw Error(std::string("zstd: ") + ZSTD_getErrorName(result));
  return result;
}

void grow(Buffer& buffer, std::uint64_t max_size) {
  if (buffer.size() >= max_size) {
    throw Error("zstd: there are more than " + std::to_string(max_size) + " bytes");
  }
  Buffer larger(std::min<std::uint64_t>(max_size, std::uint64_t{2} * buffer.size()));
  std::memcpy(larger.data(), buffer.data(), buffer.size());
  buffer = std::move(larger);
}

}  // namespace

std::string id_text(ByteSpan id) {
  std::string text;
  std::uint32_t bits = 0;
  int count = 0;
  for (const std::byte byte : id) {
    bits = bits << 8 | std::to_integer<std::uint32_t>(byte);
    for (count += 8; count >= 5; count -= 5) text += kIdAlphabet[bits >> (count - 5) & 31];
  }
  if (count > 0) text += kIdAlphabet[bits << (5 - count) & 31];
  return text;
}

void parse_id(std::string_view text, MutableByteSpan id) {
  std::uint32_t bits = 0;
  int count = 0;
  std::size_t size = 0;
  for (const char letter : text) {
    const auto digit = kIdAlphabet.find(letter);
    if (digit == std::string_view::npos) break;
    bits = bits << 5 | static_cast<std::uint32_t>(digit);
    count += 5;
    if (count < 8 || size == id.size()) continue;
    count -= 8;
    id[size++] = static_cast<std::byte>(bits >> count & 255);
  }
  if (size != id.size() || id_text(id) != text) {
    throw Error("\"" + std::string(text.substr(0, kObjectIdLetters)) + "\" is not an id");
  }
}

// std::random_device takes thirty times as long here, and each chunk has an id.
void fill_randomly(MutableByteSpan id) {
#ifdef _WIN32
  std::random_device random;
  for (std::size_t i = 0; i < id.size(); i += sizeof(std::uint32_t)) {
    store_integer(static_cast<std::uint32_t>(random()), Endian::little, id.data() + i);
  }
#else
  if (::getentropy(id.data(), id.size()) != 0) throw Error("the system has no random numbers");
#endif
}

bool is_object_id(std::string_view text) {
  return text.size() == kObjectIdLetters && std::ranges::all_of(text, [](char c) {
           return kIdAlphabet.find(c) != std::string_view::npos;
         });
}

bool has_envelope(ByteSpan start, FileType type) {
  return has_magic(start) && byte_at(start, kTypePlace) == static_cast<unsigned>(type);
}

void check_not_newer(unsigned version) {
  if (version > kNewestVersion) throw unknown_version(version);
}

int format_of(ByteSpan file) {
  return file.size() < kEnvelopeSize ? 0 : static_cast<int>(byte_at(file, kVersionPlace));
}

Buffer open_envelope(ByteSpan file, FileType type) {
  if (!has_magic(file)) throw Error("this is no file of Icechunk");
  const unsigned version = byte_at(file, kVersionPlace);
  if (version == 0) throw unknown_version(version);
  check_not_newer(version);
  const unsigned stored_type = byte_at(file, kTypePlace);
  if (stored_type != static_cast<unsigned>(type)) {
    throw Error("it should be " + name_of(static_cast<unsigned>(type)) + ", and is " +
                name_of(stored_type) + " (type " + std::to_string(stored_type) + ")");
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

Buffer make_envelope(ByteSpan content, FileType type, int format) {
  constexpr int kLevel = 3;
  Buffer file(kEnvelopeSize + ZSTD_compressBound(content.size()));
  std::byte* const start = file.data();
  std::memcpy(start, kMagic.data(), kMagic.size());
  std::memcpy(start + kMagic.size(), kWriter.data(), kWriter.size());
  start[kVersionPlace] = static_cast<std::byte>(format);
  start[kTypePlace] = static_cast<std::byte>(type);
  start[kCompressionPlace] = std::byte{1};
  const std::size_t size = checked(ZSTD_compress(start + kEnvelopeSize, file.size() - kEnvelopeSize,
                                                 content.data(), content.size(), kLevel));
  file.truncate(kEnvelopeSize + size);
  return file;
}

ZstdDictionary make_zstd_dictionary(ByteSpan bytes) {
  ZstdDictionary dictionary(ZSTD_createDDict(bytes.data(), bytes.size()));
  if (!dictionary) throw Error("zstd: the dictionary is damaged");
  return dictionary;
}

Buffer decompress_zstd(ByteSpan frames, std::uint64_t max_size, const ZSTD_DDict* dictionary) {
  auto& context = thread_object<std::unique_ptr<ZSTD_DCtx, FreeDecoder>>();
  if (!context) context.reset(ZSTD_createDCtx());
  if (!context) throw std::bad_alloc();
  checked(ZSTD_DCtx_reset(context.get(), ZSTD_reset_session_and_parameters));
  checked(ZSTD_DCtx_refDDict(context.get(), dictionary));
  Buffer content(std::min(max_size, std::max(kFirstSize, frames.size() * kUsualRatio)));
  ZSTD_inBuffer in{frames.data(), frames.size(), 0};
  ZSTD_outBuffer out{content.data(), content.size(), 0};
  std::size_t wanted = 1;  // zero between frames
  while (in.pos < in.size || wanted != 0) {
    if (out.pos == out.size) {
      grow(content, max_size);
      out.dst = content.data();
      out.size = content.size();
    }
    const std::size_t before = in.pos + out.pos;
    wanted = checked(ZSTD_decompressStream(context.get(), &out, &in));
    if (wanted != 0 && in.pos == in.size && out.pos < out.size && in.pos + out.pos == before) {
      throw Error("zstd: the data ends too soon");
    }
  }
  content.truncate(out.pos);
  content.shrink_to_fit();
  return content;
}

}  // namespace zarrcore::icechunk
