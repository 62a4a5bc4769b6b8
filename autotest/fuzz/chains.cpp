#include "autotest/fuzz/chains.h"

#include <vector>

#include "autotest/cpp/support/stored_array.h"
#include "zarrcore/base/buffer.h"
#include "zarrcore/metadata/documents.h"

namespace zarrcore::fuzz {
namespace {

using test::bytes_codec;
using test::codec;
using test::codec_list;
using test::index_codecs;
using test::sharding_codec;
using test::transpose_codec;

const Shape kShape{7, 6};
const Shape kChunk{4, 6};

// An array-to-bytes codec and what follows it.
TestChain bytes_of(const std::string& type, const std::vector<std::string>& after) {
  std::vector<std::string> codecs{bytes_codec()};
  codecs.insert(codecs.end(), after.begin(), after.end());
  return {type, "0", codec_list(codecs)};
}

TestChain numcodecs(const std::string& type, const std::string& name,
                    const std::string& configuration = "") {
  return bytes_of(type, {codec("numcodecs." + name, configuration)});
}

// A filter where v3 puts it: before the bytes.
TestChain filtered(const std::string& type, const std::string& name,
                   const std::string& configuration, const std::string& after = codec("zstd")) {
  return {type, "0", codec_list({codec("numcodecs." + name, configuration), bytes_codec(), after})};
}

TestChain lossy(TestChain chain) {
  chain.keeps_values = false;
  return chain;
}

// A chain that does not encode, and a chunk of it in hexadecimal digits.
TestChain decoding(TestChain chain, const std::string& chunk = "") {
  chain.keeps_values = false;
  chain.chunk = chunk;
  return chain;
}

// Inner chunks of 2 × 3.
std::string shards(const std::string& codecs, const std::string& index = index_codecs(),
                   const std::string& location = "end") {
  return sharding_codec({2, 3}, codecs, index, location);
}

// A chunk of texts' ids, and one of numbers as text: 24 times "3" and what fills it up.
std::string repeated(const std::string& element) {
  std::string chunk;
  for (int i = 0; i < 24; ++i) chunk += element;
  return chunk;
}

std::vector<TestChain> make_chains() {
  const std::string i1 = R"("int8")";
  const std::string u1 = R"("uint8")";
  const std::string i2 = R"("int16")";
  const std::string i4 = R"("int32")";
  const std::string f4 = R"("float32")";
  const std::string f8 = R"("float64")";
  const std::string text = R"("string")";
  const std::string binary = R"("bytes")";
  const std::string structure =
      R"({"name": "struct", "configuration": {"fields": [{"name": "a", "data_type": "int8"},
          {"name": "b", "data_type": "float64"}]}})";
  const std::string words =
      R"({"name": "fixed_length_utf32", "configuration": {"length_bytes": 16}})";
  const std::string zstd = codec("zstd", R"("level": 1, "checksum": true)");
  const std::string crc = codec("crc32c");
  const std::string raw = codec_list({bytes_codec()});
  const auto blosc = [](const std::string& name, const std::string& shuffle) {
    return codec("blosc", R"("cname": ")" + name + R"(", "clevel": 5, "shuffle": ")" + shuffle +
                              R"(", "typesize": 4, "blocksize": 0)");
  };
  return {
      // Bytes, compressors, checksums.
      bytes_of(i4, {}),
      {i2, "7", codec_list({bytes_codec("big")})},
      {i2, "0",
       codec_list({codec("endian", R"("endian": "big")"), codec("zlib", R"("level": 1)")})},
      bytes_of(f8, {codec("gzip", R"("level": 5)")}),
      bytes_of(i4, {zstd}),
      bytes_of(i4, {crc}),
      bytes_of(i4, {zstd, crc}),
      bytes_of(i4, {crc, zstd, crc}),
      bytes_of(i4, {blosc("lz4", "shuffle")}),
      bytes_of(f8, {blosc("zstd", "bitshuffle")}),
      bytes_of(i4, {blosc("blosclz", "noshuffle")}),
      bytes_of(i4, {blosc("zlib", "shuffle"), crc}),
      bytes_of(structure, {zstd}),
      bytes_of(words, {codec("gzip", R"("level": 1)")}),
      bytes_of(R"("bool")", {zstd}),
      {R"("complex64")", "[0, 0]", raw},
      {i4, "0", codec_list({transpose_codec({1, 0}), bytes_codec(), zstd})},
      numcodecs(i4, "blosc", R"("cname": "lz4hc", "clevel": 1, "shuffle": 2)"),
      numcodecs(i4, "bz2", R"("level": 1)"),
      numcodecs(i4, "gzip", R"("level": 1)"),
      numcodecs(i4, "lz4", R"("acceleration": 1)"),
      numcodecs(i4, "lzma", R"("format": 1, "check": -1, "preset": 1)"),
      numcodecs(i4, "lzma", R"("format": 3, "filters": [{"id": 3, "dist": 4},
                                                        {"id": 33, "preset": 1}])"),
      numcodecs(i4, "zlib", R"("level": 1)"),
      numcodecs(i4, "zstd", R"("level": 1)"),
      numcodecs(i4, "adler32"),
      numcodecs(i4, "crc32", R"("location": "end")"),
      numcodecs(i4, "crc32c", R"("location": "start")"),
      numcodecs(i4, "fletcher32"),
      numcodecs(i4, "jenkins_lookup3", R"("initval": 1)"),
      // Filters of numcodecs, where v2 has them and where v3 has them.
      numcodecs(i4, "base64"),
      numcodecs(i4, "shuffle", R"("elementsize": 4)"),
      numcodecs(R"("bool")", "packbits"),
      lossy(numcodecs(i4, "delta", R"("dtype": "<i4", "astype": "<i8")")),
      lossy(numcodecs(f4, "astype", R"("encode_dtype": "<f8", "decode_dtype": "<f4")")),
      bytes_of(i2, {codec("numcodecs.delta", R"("dtype": "<i2")"),
                    codec("numcodecs.shuffle", R"("elementsize": 2)"), zstd}),
      filtered(i4, "delta", R"("dtype": "<i4")"),
      lossy(filtered(f8, "fixedscaleoffset",
                     R"("offset": 10, "scale": 4, "dtype": "<f8", "astype": "<i2")")),
      lossy(filtered(f4, "quantize", R"("digits": 2, "dtype": "<f4")")),
      lossy(filtered(f4, "bitround", R"("keepbits": 5)")),
      lossy(filtered(f8, "astype", R"("encode_dtype": "<f4", "decode_dtype": "<f8")")),
      filtered(R"("bool")", "packbits", ""),
      lossy({words, R"("")",
             codec_list({codec("numcodecs.categorize",
                               R"("labels": ["one", "two"], "dtype": "<U4", "astype": "|u1")"),
                         bytes_codec()})}),
      lossy({words, R"("")",
             codec_list({bytes_codec(),
                         codec("numcodecs.categorize",
                               R"("labels": ["one", "two"], "dtype": "<U4", "astype": "<i2")")})}),
      // Array-to-array codecs.
      lossy({f4, "0", codec_list({codec("bitround", R"("keepbits": 3)"), bytes_codec(), zstd})}),
      lossy({f8, "0",
             codec_list({codec("cast_value", R"("data_type": "uint8", "rounding": "nearest-even",
                                                "out_of_range": "clamp")"),
                         bytes_codec()})}),
      lossy({f8, "0",
             codec_list({codec("scale_offset", R"("offset": 5, "scale": 0.5)"), bytes_codec()})}),
      lossy(
          {i4, "0",
           codec_list({codec("scale_offset", R"("offset": 5, "scale": 3)"), bytes_codec(), zstd})}),
      {i4, "0", codec_list({codec("reshape", R"("shape": [[0, 1]])"), bytes_codec(), zstd})},
      // Other array-to-bytes codecs.
      {R"("int4")", "0", codec_list({codec("packbits", R"("padding_encoding": "first_byte")")})},
      {R"("bool")", "false", codec_list({codec("packbits"), zstd})},
      lossy({R"("uint16")", "0",
             codec_list({codec("packbits", R"("first_bit": 2, "last_bit": 9)")})}),
      lossy({f8, "0", codec_list({codec("zfp", R"("mode": "reversible")")})}),
      lossy({f4, "0", codec_list({codec("zfp", R"("mode": "fixed_rate", "rate": 8)"), crc})}),
      lossy({f4, "0", codec_list({codec("numcodecs.zfpy", R"("mode": 4, "tolerance": 0.01)")})}),
      {text, R"("")", codec_list({codec("vlen-utf8")})},
      {text, R"("fill")", codec_list({codec("vlen-utf8"), zstd})},
      {binary, R"("")", codec_list({codec("vlen-bytes"), zstd})},
      {text, R"("")", codec_list({codec("numcodecs.vlen-utf8")})},
      {binary, R"("")", codec_list({codec("numcodecs.vlen-bytes")})},
      {text, R"("")", codec_list({codec("numcodecs.json2", R"("encoding": "utf-8")")})},
      {text, R"("")", codec_list({codec("numcodecs.msgpack2"), zstd})},
      // Shards.
      {i4, "0", codec_list({shards(raw)})},
      {i4, "-1", codec_list({shards(raw, raw, "start")})},
      {i4, "0", codec_list({shards(codec_list({bytes_codec(), zstd}))})},
      {i4, "0",
       codec_list({shards(codec_list({bytes_codec(), crc}), index_codecs(), "start"), crc})},
      {i4, "0", codec_list({shards(codec_list({bytes_codec(), zstd})), zstd})},
      {i4, "0",
       codec_list(
           {transpose_codec({1, 0}),
            sharding_codec({3, 2}, codec_list({transpose_codec({1, 0}), bytes_codec(), zstd}),
                           index_codecs())})},
      {i4, "0", codec_list({shards(codec_list({bytes_codec(), blosc("lz4", "shuffle")}))})},
      {i4, "0",
       codec_list(
           {sharding_codec({2, 6},
                           codec_list({sharding_codec({1, 3}, codec_list({bytes_codec(), zstd}),
                                                      index_codecs(), "start")}),
                           index_codecs())})},
      {i4, "0",
       codec_list({sharding_codec({4, 3}, codec_list({sharding_codec({2, 3}, raw, raw), crc}),
                                  index_codecs(), "start")})},
      {i2, "0",
       codec_list({shards(codec_list({codec("numcodecs.delta", R"("dtype": "<i2")"), bytes_codec(),
                                      codec("gzip", R"("level": 1)")}))})},
      {text, R"("")", codec_list({shards(codec_list({codec("vlen-utf8"), zstd}))})},
      {i4, "0", codec_list({codec("zarrs.squeeze"), bytes_codec(), zstd})},
      // Of zarrs, zarr-extensions and N5.
      {R"({"name": "zarrs.optional", "configuration": {"name": "int32", "configuration": {}}})",
       "[7]",
       codec_list({codec("zarrs.optional", R"("mask_codecs": [{"name": "packbits"}],
                                              "data_codecs": )" +
                                               codec_list({bytes_codec(), crc}))})},
      {text, R"("")",
       codec_list({codec("zarrs.vlen", R"("index_data_type": "uint32", "index_codecs": )" +
                                           codec_list({bytes_codec(), zstd}) +
                                           R"(, "data_codecs": ["bytes"])")})},
      {binary, R"("")",
       codec_list({codec("zarrs.vlen",
                         R"("index_data_type": "uint64", "index_location": "end",
                            "index_codecs": )" +
                             raw + R"(, "data_codecs": ["bytes", "crc32c"])")})},
      {binary, R"("")", codec_list({codec("zarrs.vlen_v2")})},
      {binary, R"("")", codec_list({codec("vlen-array")})},
      bytes_of(i4, {codec("conditional", R"("codecs": )" + codec_list({crc, zstd}))}),
      {i4, "7",
       codec_list({codec("n5_default", R"("codecs": )" + codec_list({transpose_codec({1, 0}),
                                                                     bytes_codec("big"), zstd}))})},
      {i2, "0", codec_list({codec("numcodecs.n5_wrapper", R"("compressor_config": null)")})},
      // 24 elements: [1.5], and empty ones.
      {text, R"("")", codec_list({codec("numcodecs.vlen-array", R"("dtype": "<f4")")}), false,
       "18000000040000000000c03f" + std::string(23 * 8, '0')},
      {text, R"("")", codec_list({codec("numcodecs.json")})},
      {text, R"("")", codec_list({codec("numcodecs.msgpack")})},
      lossy({R"("uint8")", "0", codec_list({codec("zfp", R"("mode": "reversible")")})}),
      {i4, "0", codec_list({codec("zstd", R"("level": 1, "checksum": false)")})},
      // Streams of imagecodecs and kerchunk.
      decoding(bytes_of(u1, {codec("imagecodecs_lzw", R"()")}),
               "8000002020181205048340e0b0785c2a02"),
      decoding(bytes_of(u1, {codec("imagecodecs_packbits", R"("axis": null)")}),
               "05000102030400050102030400010502030400010205030400010203"),
      decoding(bytes_of(u1, {codec("imagecodecs_lzf", R"("header": true)")}),
               "05000102030400e00704010203"),
      decoding(bytes_of(u1, {codec("imagecodecs_lzf", R"()")}),
               "1800000005000102030400e00704010203"),
      decoding(bytes_of(u1, {codec("imagecodecs_snappy", R"()")}), "181000010203044a0500"),
      decoding(bytes_of(u1, {codec("imagecodecs_lz4", R"("header": false)")}),
               "5a00010203040500500400010203"),
      decoding(bytes_of(u1, {codec("imagecodecs_lz4", R"("header": true)")}),
               "180000005a00010203040500500400010203"),
      decoding(bytes_of(u1, {codec("imagecodecs_lz4f", R"()")}),
               "04224d186040820e0000005a0001020304050050040001020300000000"),
      decoding(bytes_of(u1, {codec("imagecodecs_lz4h5", R"()")}),
               "00000000000000180000001000000012f00100010203040001020304000102030400000000080102030"
               "400010203"),
      decoding(bytes_of(u1, {codec("imagecodecs_zopfli", R"()")}),
               "1f8b0800000000000203636064626661c02400ce6ab39818000000"),
      decoding(bytes_of(u1, {codec("imagecodecs_deflate", R"("raw": true)")}),
               "636064626661c02400"),
      decoding(numcodecs(u1, "deflate"),
               "504b030414000000080000000000ce6ab39809000000180000000100000061636064626661c02400"),
      bytes_of(i4, {codec("imagecodecs_zlib")}),
      bytes_of(i4, {codec("imagecodecs_zlibng")}),
      bytes_of(i4, {codec("imagecodecs_bz2")}),
      bytes_of(i4, {codec("imagecodecs_zstd")}),
      bytes_of(i4, {codec("imagecodecs_lzma")}),
      bytes_of(i4, {codec("imagecodecs_blosc")}),
      bytes_of(i4, {codec("imagecodecs_checksum", R"("kind": "crc32")")}),
      // Their filters and samples, and kerchunk's codecs of arrays.
      decoding(bytes_of(
          i2, {codec("imagecodecs_delta", R"("shape": [4, 6], "dtype": ">i2", "axis": 0)")})),
      decoding({i2, "0", codec_list({codec("imagecodecs_delta"), bytes_codec("big")})}),
      decoding({f4, "0",
                codec_list({codec("imagecodecs_floatpred", R"("axis": -2)"), bytes_codec("big")})}),
      decoding({i4, "0",
                codec_list(
                    {codec("imagecodecs_xor"), codec("imagecodecs_byteshuffle"), bytes_codec()})}),
      decoding({i2, "0",
                codec_list({codec("imagecodecs_bitshuffle", R"("blocksize": 8)"),
                            codec("imagecodecs_bitorder"), codec("imagecodecs_quantize"),
                            bytes_codec()})}),
      decoding({i2, "0", codec_list({codec("HorizontalDeltaCodec"), bytes_codec()})}),
      {i2, "0", codec_list({codec("ChunkyCodec", R"("endian": "big")"), zstd})},
      decoding(bytes_of(i2, {codec("imagecodecs_szip",
                                   R"("options_mask": 169, "pixels_per_block": 4,
                                      "bits_per_pixel": 16, "pixels_per_scanline": 6)")}),
               "3000000010000492474200015410fc30002dac5390001a3624e0"),
      decoding(bytes_of(i4, {codec("imagecodecs_szip",
                                   R"("options_mask": 141, "pixels_per_block": 8,
                                      "bits_per_pixel": 32, "pixels_per_scanline": 24,
                                      "header": false)")}),
               "34886949d4e5154eb4a04081"),
      decoding(bytes_of(R"("uint16")",
                        {codec("imagecodecs_packints", R"("bitspersample": 11, "runlen": 6)")}),
               std::string(72, '5')),
      decoding({f4, "0", codec_list({codec("imagecodecs_float24", R"("byteorder": ">")")})},
               std::string(144, '3')),
      decoding({f4, "0", codec_list({codec("imagecodecs_bfloat16")})}, std::string(96, '4')),
      decoding({text, R"("")",
                codec_list({codec("numcodecs.fill_hdf_strings", R"("id_map": {"3": "one"})")})},
               repeated("33" + std::string(30, '0'))),
      decoding(bytes_of(i2, {codec("numcodecs.FITSAscii",
                                   R"("indtypes": [["a", "S3"]], "outdtypes": [["a", "<i2"]])")}),
               repeated("203320")),
      {i4, "0",
       codec_list({codec("n5.block", R"("codecs": )" + codec_list({bytes_codec(), zstd}))})},
      bytes_of(i4, {codec("n5.lz4")}),
  };
}

}  // namespace

std::span<const TestChain> test_chains() {
  static const std::vector<TestChain> chains = [] {
    std::vector<TestChain> all = make_chains();
    for (TestChain& chain : all) {
      if (!kHasZfp && chain.codecs.find("zfp") != std::string::npos) chain = all.front();
    }
    return all;
  }();
  return chains;
}

ChainArray::ChainArray(const TestChain& test_chain)
    : document_(test::array_document(kShape, kChunk, test_chain.data_type, test_chain.codecs,
                                     test_chain.fill_value)) {
  const auto metadata = std::get<ArrayMetadata>(parse_v3_node(document_, ""));
  fill_value_ = *metadata.fill_value;
  std::vector<std::byte> fill_element = fill_value_;
  if (metadata.data_type.is_variable()) {
    const VariableElement element{reinterpret_cast<const char*>(fill_value_.data()),
                                  fill_value_.size()};
    const ByteSpan bytes = std::as_bytes(std::span(&element, 1));
    fill_element.assign(bytes.begin(), bytes.end());
  }
  chain_ = std::make_unique<CodecChain>(
      metadata.codecs, ChunkSpec{metadata.chunk_shape, metadata.data_type, fill_element});
  keeps_values_ = test_chain.keeps_values;
}

}  // namespace zarrcore::fuzz
