// The `blosc` codec (v3 codecs, "blosc"; numcodecs `blosc`): a Blosc 1 buffer, whose header has all
// that decoding needs.
#include <blosc.h>

#include <algorithm>
#include <array>
#include <climits>

#include "zarrcore/base/error.h"
#include "zarrcore/codec/codec.h"
#include "zarrcore/metadata/codec_metadata.h"

namespace zarrcore {
namespace {

struct BloscOptions {
  std::string compressor = BLOSC_LZ4_COMPNAME;
  int level = 5;
  int shuffle = BLOSC_SHUFFLE;
  std::size_t type_size = 1;
  std::size_t block_size = 0;  // bytes; 0 lets Blosc choose
};

// Reads the sizes in a buffer's header and checks that they are possible.
struct BloscSizes {
  std::size_t encoded;
  std::size_t decoded;
  std::size_t block;
};
BloscSizes read_header(ByteSpan encoded) {
  BloscSizes sizes{};
  if (encoded.size() < BLOSC_MIN_HEADER_LENGTH) {
    throw Error("blosc: " + std::to_string(encoded.size()) + " bytes are too few");
  }
  blosc_cbuffer_sizes(encoded.data(), &sizes.decoded, &sizes.encoded, &sizes.block);
  if (sizes.encoded > encoded.size()) {
    throw Error("blosc: " + std::to_string(encoded.size()) + " bytes where the header states " +
                std::to_string(sizes.encoded));
  }
  if (blosc_cbuffer_validate(encoded.data(), sizes.encoded, &sizes.decoded) != 0) {
    throw Error("blosc: the header is corrupt");
  }
  return sizes;
}

class BloscCodec final : public BytesToBytesCodec {
 public:
  explicit BloscCodec(BloscOptions options) : options_(std::move(options)) {}

  std::uint64_t max_decoded_size(ByteSpan encoded) const override {
    return read_header(encoded).decoded;
  }

  Buffer encode(ByteSpan decoded) const override {
    if (decoded.size() > BLOSC_MAX_BUFFERSIZE) {
      throw Error("blosc: a chunk of " + std::to_string(decoded.size()) +
                  " bytes is larger than Blosc can hold");
    }
    Buffer encoded(decoded.size() + BLOSC_MAX_OVERHEAD);
    const int size = blosc_compress_ctx(
        options_.level, options_.shuffle, options_.type_size, decoded.size(), decoded.data(),
        encoded.data(), encoded.size(), options_.compressor.c_str(), options_.block_size, 1);
    if (size <= 0) throw Error("blosc: compression failed");
    encoded.truncate(static_cast<std::size_t>(size));
    return encoded;
  }

  std::string name() const override { return "blosc"; }
  void decode(ByteSpan encoded, MutableByteSpan decoded) const override {
    check_size("blosc: ", read_header(encoded).decoded, decoded.size());
    if (decoded.empty()) return;
    const int size = blosc_decompress_ctx(encoded.data(), decoded.data(), decoded.size(), 1);
    if (size < 0 || static_cast<std::size_t>(size) != decoded.size()) fail_corrupt();
  }

  std::optional<std::uint64_t> block_size(ByteSpan encoded) const override {
    const BloscSizes sizes = read_header(encoded);
    const std::size_t item = item_size(encoded);
    // A hostile header could demand any number of smaller ones, which are not worth it.
    constexpr std::size_t kMinBlock = 128;
    // Blocks are decoded by the items in them.
    if (item == 0 || sizes.block < kMinBlock || sizes.block % item != 0 ||
        sizes.decoded % item != 0) {
      return std::nullopt;
    }
    return sizes.block;
  }

  void decode_block(ByteSpan encoded, std::uint64_t decoded_size, std::uint64_t offset,
                    MutableByteSpan block) const override {
    check_size("blosc: ", read_header(encoded).decoded, decoded_size);
    const std::size_t item = item_size(encoded);
    const int size = blosc_getitem(encoded.data(), static_cast<int>(offset / item),
                                   static_cast<int>(block.size() / item), block.data());
    if (size < 0 || static_cast<std::size_t>(size) != block.size()) fail_corrupt();
  }

 private:
  static std::size_t item_size(ByteSpan encoded) {
    std::size_t size = 0;
    int flags = 0;
    blosc_cbuffer_metainfo(encoded.data(), &size, &flags);
    return size;
  }

  [[noreturn]] static void fail_corrupt() {
    throw Error(
        "blosc: the data is corrupt, or was compressed in a way that this build of Blosc "
        "does not know");
  }

  BloscOptions options_;
};

// A name (v3) or a number (numcodecs; -1 chooses by the item size).
int parse_shuffle(const Json& value, std::size_t type_size) {
  if (value.is_boolean()) return value.get<bool>() ? BLOSC_SHUFFLE : BLOSC_NOSHUFFLE;
  for (int i = BLOSC_NOSHUFFLE; i <= BLOSC_BITSHUFFLE; ++i) {
    if (value == i || value == kBloscShuffles[static_cast<std::size_t>(i)]) return i;
  }
  if (value == -1) return type_size == 1 ? BLOSC_BITSHUFFLE : BLOSC_SHUFFLE;
  throw Error("\"shuffle\" is " + excerpt(value) +
              " where noshuffle, shuffle or bitshuffle is expected");
}

}  // namespace

Codec make_blosc(const Json& configuration, const ChunkSpec& spec) {
  BloscOptions options;
  if (const auto name = text_option(configuration, "cname")) {
    static constexpr std::array<std::string_view, 6> kCompressors{
        BLOSC_BLOSCLZ_COMPNAME, BLOSC_LZ4_COMPNAME,  BLOSC_LZ4HC_COMPNAME,
        BLOSC_SNAPPY_COMPNAME,  BLOSC_ZLIB_COMPNAME, BLOSC_ZSTD_COMPNAME};
    if (std::find(kCompressors.begin(), kCompressors.end(), *name) == kCompressors.end()) {
      throw Error("\"cname\" is \"" + *name + "\", which Blosc does not know");
    }
    options.compressor = *name;
  }
  const auto size_option = [&](const char* key, std::int64_t fallback) {
    return static_cast<std::size_t>(
        std::clamp<std::int64_t>(integer_option(configuration, key, fallback), 0, INT_MAX));
  };
  options.level =
      static_cast<int>(std::clamp<std::int64_t>(integer_option(configuration, "clevel", 5), 0, 9));
  options.block_size = size_option("blocksize", 0);
  options.type_size = size_option("typesize", 0);
  if (options.type_size == 0) {
    // Elements of variable length have become bytes before this codec.
    options.type_size = memory_size(spec.data_type.is_variable() ? 1 : spec.data_type.item_size);
  }
  // Blosc cannot shuffle larger items; other writers do the same.
  if (options.type_size > BLOSC_MAX_TYPESIZE) options.type_size = 1;
  if (const Json* shuffle = find_value(configuration, "shuffle")) {
    options.shuffle = parse_shuffle(*shuffle, options.type_size);
  }
  return std::make_unique<BloscCodec>(std::move(options));
}

}  // namespace zarrcore
