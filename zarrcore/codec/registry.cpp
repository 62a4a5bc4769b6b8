#include "zarrcore/codec/registry.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <string>

#include "zarrcore/base/error.h"  // IWYU pragma: keep, where a library is missing

// A line for each name, with the members that its configuration may have: `numcodecs.` names are
// those of v2 filters and compressors, and of v3 arrays that use them; `endian` is an older name of
// `bytes`. Members that a decoder may ignore: `delta` of lzma, which GDAL's built-in driver writes
// (the stream has the filter's own header); `typesize` of numcodecs.blosc, from numcodecs 0.16 on;
// `compression_kwargs` of zfpy, in which numcodecs repeats the member of the mode.
// clang-format off
#define ZARRCORE_CODECS(CODEC)                                                               \
  CODEC("bitround", make_bitround, "keepbits")                                               \
  CODEC("blosc", make_blosc, "cname clevel shuffle typesize blocksize")                      \
  CODEC("bytes", make_bytes, "endian")                                                       \
  CODEC("cast_value", make_cast_value, "data_type rounding out_of_range scalar_map")         \
  CODEC("conditional", make_conditional, "codecs header_bits")                               \
  CODEC("crc32c", make_crc32c, "")                                                           \
  CODEC("endian", make_bytes, "endian")                                                      \
  CODEC("gzip", make_gzip, "level")                                                          \
  CODEC("n5_default", make_n5_default, "codecs")                                             \
  CODEC("numcodecs.adler32", make_adler32, "location")                                       \
  CODEC("numcodecs.astype", make_astype, "encode_dtype decode_dtype")                        \
  CODEC("numcodecs.base64", make_base64, "")                                                 \
  CODEC("numcodecs.bitround", make_bitround, "keepbits")                                     \
  CODEC("numcodecs.blosc", make_blosc, "cname clevel shuffle typesize blocksize")            \
  CODEC("numcodecs.bz2", make_bz2, "level")                                                  \
  CODEC("numcodecs.categorize", make_categorize, "labels dtype astype")                      \
  CODEC("numcodecs.crc32", make_crc32, "location")                                           \
  CODEC("numcodecs.crc32c", make_crc32c, "location")                                         \
  CODEC("numcodecs.delta", make_delta, "dtype astype")                                       \
  CODEC("numcodecs.fixedscaleoffset", make_fixedscaleoffset, "offset scale dtype astype")    \
  CODEC("numcodecs.fletcher32", make_fletcher32, "")                                         \
  CODEC("numcodecs.gzip", make_gzip, "level")                                                \
  CODEC("numcodecs.jenkins_lookup3", make_jenkins_lookup3, "initval prefix")                 \
  CODEC("numcodecs.json", make_json, kJson2Members)                                          \
  CODEC("numcodecs.json2", make_json2, kJson2Members)                                        \
  CODEC("numcodecs.lz4", make_lz4, "acceleration")                                           \
  CODEC("numcodecs.lzma", make_lzma, "format check preset filters delta")                    \
  CODEC("numcodecs.msgpack", make_msgpack, "encoding raw use_single_float use_bin_type")     \
  CODEC("numcodecs.msgpack2", make_msgpack2, "raw use_single_float use_bin_type")            \
  CODEC("numcodecs.n5_wrapper", make_n5_wrapper,                                             \
        "compressor_config compressor dtype chunk_shape")                                    \
  CODEC("numcodecs.packbits", make_numcodecs_packbits, "")                                   \
  CODEC("numcodecs.quantize", make_quantize, "digits dtype astype")                          \
  CODEC("numcodecs.shuffle", make_shuffle, "elementsize")                                    \
  CODEC("numcodecs.vlen-array", make_vlen_array, "dtype")                                    \
  CODEC("numcodecs.vlen-bytes", make_vlen_bytes, "")                                         \
  CODEC("numcodecs.vlen-utf8", make_vlen_utf8, "")                                           \
  CODEC("numcodecs.zfpy", make_zfpy, "mode tolerance rate precision compression_kwargs")     \
  CODEC("numcodecs.zlib", make_zlib, "level")                                                \
  CODEC("numcodecs.zstd", make_zstd, "level checksum")                                       \
  CODEC("packbits", make_packbits, "padding_encoding first_bit last_bit")                    \
  CODEC("reshape", make_reshape, "shape")                                                    \
  CODEC("scale_offset", make_scale_offset, "offset scale")                                   \
  CODEC("sharding_indexed", make_sharding, "chunk_shape codecs index_codecs index_location") \
  CODEC("transpose", make_transpose, "order")                                                \
  CODEC("vlen-array", make_vlen_array, "dtype")                                              \
  CODEC("vlen-bytes", make_vlen_bytes, "")                                                   \
  CODEC("vlen-utf8", make_vlen_utf8, "")                                                     \
  CODEC("zarrs.optional", make_optional_codec, "mask_codecs data_codecs")                    \
  CODEC("zarrs.squeeze", make_squeeze, "")                                                   \
  CODEC("zarrs.vlen", make_zarrs_vlen,                                                       \
        "index_codecs data_codecs index_data_type index_location")                           \
  CODEC("zarrs.vlen_v2", make_vlen_v2, "")                                                   \
  CODEC("zfp", make_zfp, "mode rate precision tolerance minbits maxbits maxprec minexp")     \
  CODEC("zlib", make_zlib, "level")                                                          \
  CODEC("zstd", make_zstd, "level checksum")
// clang-format on

namespace zarrcore {

#define ZARRCORE_DECLARE(name, make, members) \
  Codec make(const Json& configuration, const ChunkSpec& spec);
ZARRCORE_CODECS(ZARRCORE_DECLARE)
#undef ZARRCORE_DECLARE

namespace {

// How numcodecs writes JSON; it writes all of these.
constexpr std::string_view kJson2Members =
    "encoding skipkeys ensure_ascii check_circular allow_nan sort_keys indent separators strict";

struct Entry {
  std::string_view name;
  Codec (*make)(const Json& configuration, const ChunkSpec& spec);
  std::string_view members;  // of the configuration, separated by spaces
};

#define ZARRCORE_ENTRY(name, make, members) Entry{name, make, members},
constexpr Entry kCodecs[] = {ZARRCORE_CODECS(ZARRCORE_ENTRY)};
#undef ZARRCORE_ENTRY

// Codecs of numcodecs that are not supported, and why.
struct Refusal {
  std::string_view name;
  std::string_view reason;
};
constexpr Refusal kRefusals[] = {
    {"numcodecs.imagecodecs_tiff", "its chunks are TIFF files, which the core does not read"},
    {"numcodecs.pcodec",
     "its library, pco, exists in Rust only; copy the array with zarr-python to one that is "
     "compressed with zstd"},
    {"numcodecs.pickle", "decoding it could run any code"},
    {"zarrs.gdeflate",
     "no library of GDeflate is at hand; copy the array with zarrs to one that is compressed with "
     "zstd"},
};

// An item of a list by its name. zarrs also knows its codecs by URLs that end with the name, and
// those of others as its own.
template <typename Items>
const auto* find_item(const Items& items, std::string_view name) {
  const auto find = [&](const std::string& wanted) {
    const auto* item = std::ranges::find(items, wanted, &std::ranges::range_value_t<Items>::name);
    return item == std::end(items) ? nullptr : item;
  };
  if (const auto* item = find(std::string(name))) return item;
  const bool is_url = name.starts_with("https://codec.zarrs.dev/");
  if (!is_url && !name.starts_with("zarrs.")) return find("");
  const std::string own(name.substr(name.find_last_of(is_url ? '/' : '.') + 1));
  for (const char* prefix : {"zarrs.", "", "numcodecs."}) {
    if (const auto* item = find(prefix + own)) return item;
  }
  return find("");
}

const Entry* find_entry(std::string_view name) {
  return find_item(kCodecs, name);
}

std::atomic<CodecProvider> additional_codecs{nullptr};

}  // namespace

CodecFactory find_codec(std::string_view name) {
  if (const Entry* entry = find_entry(name)) return entry->make;
  const CodecProvider provider = additional_codecs;
  return provider != nullptr ? provider(name) : nullptr;
}

bool is_core_codec(std::string_view name) {
  return find_entry(name) != nullptr;
}

std::vector<CodecName> codec_names() {
  std::vector<CodecName> names;
  for (const Entry& entry : kCodecs) names.push_back({entry.name, entry.members});
  return names;
}

void check_configuration(std::string_view name, const Json& configuration) {
  const Entry* entry = find_entry(name);
  if (entry == nullptr) return;
  const std::string members = " " + std::string(entry->members) + " ";
  for (const auto& [key, value] : configuration.items()) {
    const bool is_known =
        key.find(' ') == std::string::npos && members.find(" " + key + " ") != std::string::npos;
    if (!is_known) throw unknown_member(key);
  }
}

void set_codec_provider(CodecProvider provider) {
  additional_codecs = provider;
}

std::string_view refusal_reason(std::string_view name) {
  const Refusal* refusal = find_item(kRefusals, name);
  return refusal == nullptr ? std::string_view() : refusal->reason;
}

// Codecs whose library this build was configured without: their names are known, and using them is
// an error that names the library.

// NOLINTNEXTLINE(bugprone-macro-parentheses): a declaration
#define ZARRCORE_NO_CODEC(make, library)                                 \
  Codec make(const Json& configuration, const ChunkSpec& spec);          \
  Codec make(const Json& /*configuration*/, const ChunkSpec& /*spec*/) { \
    throw Error("zarrcore was built without the library " library);      \
  }

#ifdef ZARRCORE_WITHOUT_BLOSC
ZARRCORE_NO_CODEC(make_blosc, "blosc")
#endif
#ifdef ZARRCORE_WITHOUT_BZ2
ZARRCORE_NO_CODEC(make_bz2, "bz2")
#endif
#ifdef ZARRCORE_WITHOUT_LZ4
ZARRCORE_NO_CODEC(make_lz4, "lz4")
#endif
#ifdef ZARRCORE_WITHOUT_LZMA
ZARRCORE_NO_CODEC(make_lzma, "lzma")
#endif
#ifdef ZARRCORE_WITHOUT_ZFP
ZARRCORE_NO_CODEC(make_zfp, "zfp")
ZARRCORE_NO_CODEC(make_zfpy, "zfp")
#endif

#undef ZARRCORE_NO_CODEC

}  // namespace zarrcore
