#include "zarrcore/codec/registry.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <string>

#include "zarrcore/base/error.h"  // IWYU pragma: keep, where a library is missing
#include "zarrcore/dtype/data_type.h"
#include "zarrcore/metadata/numpy_array.h"

// A line for each name, with the members that its configuration may have: `numcodecs.` names
// are v2 filters and compressors, also in v3 arrays that use them; `endian` is an older name of
// `bytes`. Members that a decoder may ignore: `delta` of lzma, which GDAL's built-in driver writes
// (the stream has the filter's own header); `typesize` of numcodecs.blosc, from numcodecs 0.16 on;
// `compression_kwargs` of zfpy, in which numcodecs repeats the member of the mode. Names of
// imagecodecs may have the prefix as well; of their members, only the ones that decoders need.
// clang-format off
#define ZARRCORE_CODECS(CODEC)                                                               \
  CODEC("ChunkyCodec", make_chunky, "endian")                                                \
  CODEC("HorizontalDeltaCodec", make_horizontal_delta, "")                                   \
  CODEC("bitround", make_bitround, "keepbits")                                               \
  CODEC("blosc", make_blosc, "cname clevel shuffle typesize blocksize")                      \
  CODEC("bytes", make_bytes, "endian")                                                       \
  CODEC("cast_value", make_cast_value, "data_type rounding out_of_range scalar_map")         \
  CODEC("conditional", make_conditional, "codecs header_bits")                               \
  CODEC("crc32c", make_crc32c, "")                                                           \
  CODEC("endian", make_bytes, "endian")                                                      \
  CODEC("gzip", make_gzip, "level")                                                          \
  CODEC("imagecodecs_bfloat16", make_imagecodecs_bfloat16, "byteorder")                      \
  CODEC("imagecodecs_bitorder", make_bitorder, "")                                           \
  CODEC("imagecodecs_bitshuffle", make_bitshuffle, "itemsize blocksize dtype")               \
  CODEC("imagecodecs_blosc", make_blosc, "")                                                 \
  CODEC("imagecodecs_byteshuffle", make_byteshuffle, "shape dtype axis dist delta reorder")  \
  CODEC("imagecodecs_bz2", make_bz2, "")                                                     \
  CODEC("imagecodecs_checksum", make_imagecodecs_checksum, kChecksumMembers)                 \
  CODEC("imagecodecs_deflate", make_deflate, "raw")                                          \
  CODEC("imagecodecs_delta", make_imagecodecs_delta, "shape dtype axis dist")                \
  CODEC("imagecodecs_float24", make_float24, "byteorder")                                    \
  CODEC("imagecodecs_floatpred", make_floatpred, "shape dtype axis dist")                    \
  CODEC("imagecodecs_lz4", make_imagecodecs_lz4, "header")                                   \
  CODEC("imagecodecs_lz4f", make_lz4f, "")                                                   \
  CODEC("imagecodecs_lz4h5", make_lz4h5, "")                                                 \
  CODEC("imagecodecs_lzf", make_lzf, "header")                                               \
  CODEC("imagecodecs_lzma", make_lzma, "")                                                   \
  CODEC("imagecodecs_lzw", make_lzw, "")                                                     \
  CODEC("imagecodecs_packbits", make_tiff_packbits, "")                                      \
  CODEC("imagecodecs_packints", make_packints, "dtype bitspersample bitorder runlen")        \
  CODEC("imagecodecs_quantize", make_imagecodecs_quantize, "")                               \
  CODEC("imagecodecs_snappy", make_snappy, "")                                               \
  CODEC("imagecodecs_szip", make_szip, kSzipMembers)                                         \
  CODEC("imagecodecs_xor", make_xor, "shape dtype axis")                                     \
  CODEC("imagecodecs_zlib", make_zlib, "")                                                   \
  CODEC("imagecodecs_zlibng", make_zlib, "")                                                 \
  CODEC("imagecodecs_zopfli", make_zopfli, "")                                               \
  CODEC("imagecodecs_zstd", make_zstd, "")                                                   \
  CODEC("n5.block", make_n5_block, "codecs")                                                 \
  CODEC("n5.lz4", make_n5_lz4, "blockSize")                                                  \
  CODEC("n5_default", make_n5_default, "codecs")                                             \
  CODEC("numcodecs.FITSAscii", make_fits_ascii, "indtypes outdtypes")                        \
  CODEC("numcodecs.adler32", make_adler32, "location")                                       \
  CODEC("numcodecs.astype", make_astype, "encode_dtype decode_dtype")                        \
  CODEC("numcodecs.base64", make_base64, "")                                                 \
  CODEC("numcodecs.bitround", make_bitround, "keepbits")                                     \
  CODEC("numcodecs.blosc", make_blosc, "cname clevel shuffle typesize blocksize")            \
  CODEC("numcodecs.bz2", make_bz2, "level")                                                  \
  CODEC("numcodecs.categorize", make_categorize, "labels dtype astype")                      \
  CODEC("numcodecs.crc32", make_crc32, "location")                                           \
  CODEC("numcodecs.crc32c", make_crc32c, "location")                                         \
  CODEC("numcodecs.deflate", make_zip_deflate, "")                                           \
  CODEC("numcodecs.delta", make_delta, "dtype astype")                                       \
  CODEC("numcodecs.fill_hdf_strings", make_fill_hdf_strings, "dtype id_map")                 \
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
constexpr std::string_view kSzipMembers =
    "options_mask pixels_per_block bits_per_pixel pixels_per_scanline header";
constexpr std::string_view kChecksumMembers = "kind value prefix prepend byteorder";

struct Entry {
  std::string_view name;
  Codec (*make)(const Json& configuration, const ChunkSpec& spec);
  std::string_view members;  // of the configuration, separated by spaces
};

#define ZARRCORE_ENTRY(name, make, members) Entry{name, make, members},
constexpr Entry kCodecs[] = {ZARRCORE_CODECS(ZARRCORE_ENTRY)};
#undef ZARRCORE_ENTRY

constexpr std::string_view kImagecodecs = "imagecodecs_";

// The name without a prefix that means nothing.
std::string_view plain_name(std::string_view name) {
  const std::string_view id = name.substr(std::min(name.size(), kNumcodecs.size()));
  return name.starts_with(kNumcodecs) && id.starts_with(kImagecodecs) ? id : name;
}

// Codecs that are not supported, and why.
struct Refusal {
  std::string_view name;
  std::string_view reason;
};
constexpr Refusal kRefusals[] = {
    {"imagecodecs_aec", "it needs the library libaec, which this build does not have"},
    {"imagecodecs_brotli", "it needs the library brotli, which this build does not have"},
    {"imagecodecs_tiff", "its chunks are TIFF files, which the core does not read"},
    {"numcodecs.FITSVarBintable", "elements that are arrays of different lengths cannot be read"},
    {"numcodecs.record_member", "fields of packed records are not read"},
    {"numcodecs.pcodec",
     "its library, pco, exists in Rust only; copy the array with zarr-python to one that is "
     "compressed with zstd"},
    {"numcodecs.pickle", "decoding it could run any code"},
    {"zarrs.gdeflate",
     "no library of GDeflate is at hand; copy the array with zarrs to one that is compressed with "
     "zstd"},
};

// Finds an item of a list by its name. zarrs also writes its codecs as URLs that end with the name,
// and codecs of other projects under its own prefix.
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
  return find_item(kCodecs, plain_name(name));
}

bool has_member(const Entry& entry, std::string_view key) {
  const std::string members = " " + std::string(entry.members) + " ";
  return key.find(' ') == std::string::npos &&
         members.find(" " + std::string(key) + " ") != std::string::npos;
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

Json known_members(std::string_view name, const Json& configuration) {
  const Entry* entry = find_entry(name);
  if (entry == nullptr) return configuration;
  Json known = Json::object();
  for (const auto& [key, value] : configuration.items()) {
    if (has_member(*entry, key)) {
      known[key] = value;
    } else if (!is_imagecodecs(name)) {
      throw unknown_member(key);
    }
  }
  return known;
}

bool is_imagecodecs(std::string_view name) {
  return plain_name(name).starts_with(kImagecodecs);
}

Json with_array_members(std::string_view name, Json configuration, const ChunkSpec& spec,
                        Endian endian) {
  const Entry* entry = find_entry(name);
  if (entry == nullptr) return configuration;
  if (has_member(*entry, "shape")) configuration["shape"] = spec.shape;
  if (has_member(*entry, "dtype")) {
    const auto dtype = format_numpy_type(spec.data_type, endian);
    if (!dtype) throw Error("NumPy has no data type " + type_name(spec.data_type));
    configuration["dtype"] = *dtype;
  }
  if (has_member(*entry, "itemsize")) configuration["itemsize"] = spec.data_type.item_size;
  return configuration;
}

Endian stored_endian(std::span<const CodecMetadata> codecs) {
  const auto bytes = std::ranges::find_if(codecs, [](const CodecMetadata& codec) {
    const Entry* entry = find_entry(codec.name);
    return entry != nullptr && entry->make == make_bytes;
  });
  const Json* endian =
      bytes == codecs.end() ? nullptr : find_member(bytes->configuration, "endian");
  return endian != nullptr && *endian == "big" ? Endian::big : Endian::little;
}

Json in_stored_order(Json configuration, const DataType& type, Endian endian) {
  const std::string* dtype = find_string(configuration, "dtype");
  const auto stated = dtype == nullptr ? std::nullopt : parse_numpy_type(*dtype);
  if (stated && stated->type == type) configuration["dtype"] = *format_numpy_type(type, endian);
  return configuration;
}

void set_codec_provider(CodecProvider provider) {
  additional_codecs = provider;
}

std::string_view refusal_reason(std::string_view name) {
  if (const Refusal* refusal = find_item(kRefusals, plain_name(name))) return refusal->reason;
  return is_imagecodecs(name) ? "this build does not have it" : "";
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
ZARRCORE_NO_CODEC(make_imagecodecs_lz4, "lz4")
ZARRCORE_NO_CODEC(make_lz4, "lz4")
ZARRCORE_NO_CODEC(make_lz4f, "lz4")
ZARRCORE_NO_CODEC(make_lz4h5, "lz4")
ZARRCORE_NO_CODEC(make_n5_lz4, "lz4")
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
