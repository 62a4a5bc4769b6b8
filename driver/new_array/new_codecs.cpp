// The codecs of a new array, by creation options.
#include <cpl_conv.h>
#include <cpl_error.h>
#include <cpl_string.h>

#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "driver/gdal/messages.h"
#include "driver/new_array/new_array.h"
#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/text.h"
#include "zarrcore/codec/sharding.h"
#include "zarrcore/dtype/data_type.h"
#include "zarrcore/dtype/small_float.h"

namespace gdal_zarr {
namespace {

using zarrcore::CodecMetadata;
using zarrcore::DataType;
using zarrcore::Endian;
using zarrcore::Error;
using zarrcore::Json;
using zarrcore::NewArrayRules;
using zarrcore::TypeKind;

using Codecs = std::vector<CodecMetadata>;

Error not_for_type(const std::string& option, const DataType& type, const std::string& reason) {
  return Error("creation option " + option + " does not support arrays of the type " +
               zarrcore::type_name(type) + ": " + reason);
}

CodecMetadata reversed_axes(std::size_t rank) {
  Json axes = Json::array();
  for (std::size_t i = rank; i-- > 0;) axes.push_back(i);
  return {"transpose", {{"order", std::move(axes)}}};
}

Endian stored_endian(const CreationOptions& options) {
  return options.is("@ENDIAN", "big") ? Endian::big : Endian::little;
}

CodecMetadata make_bitround(const DataType& type, const CreationOptions& options) {
  if (type.kind != TypeKind::floating) {
    throw not_for_type("KEEPBITS", type, "it rounds floating point numbers");
  }
  const std::int64_t mantissa_bits = zarrcore::float_limits(type).precision - 1;
  const std::int64_t bits = options.integer("KEEPBITS");
  if (bits > mantissa_bits) {
    throw not_for_type("KEEPBITS=" + std::to_string(bits), type,
                       "its mantissa has " + std::to_string(mantissa_bits) + " bits");
  }
  return {"numcodecs.bitround", {{"keepbits", bits}}};
}

constexpr const char* kInexact = "sums of floating point numbers are not exact";

// The type of DELTA_DTYPE, as which the bits of the elements are interpreted.
zarrcore::NumpyType given_delta_type(const DataType& type, const NewArrayRules& rules,
                                     const std::string& text) {
  const std::string option = "DELTA_DTYPE=" + text;
  const auto given = zarrcore::parse_numpy_type(text);
  if (!given || given->type.item_size != type.item_size ||
      (!given->type.is_integer() && given->type.kind != TypeKind::floating)) {
    throw not_for_type(option, type, "it must be a number of the same size, such as <i2");
  }
  if (rules.filters_take_arrays && given->type != type) {
    throw not_for_type(option, type,
                       "it must be the same type: readers would convert from one to the other");
  }
  if (!given->type.is_integer()) {
    report(CE_Warning, CPLE_AppDefined, "creation option %s: %s", option.c_str(), kInexact);
  }
  return *given;
}

// The type in which differences are computed.
zarrcore::NumpyType delta_type(const DataType& type, const NewArrayRules& rules,
                               const CreationOptions& options) {
  constexpr const char* kOption = "FILTER=DELTA";
  const bool is_float = type.kind == TypeKind::floating;
  if (!type.is_integer() && !is_float)
    throw not_for_type(kOption, type, "its elements are not integers");
  if (options.is_given("DELTA_DTYPE")) {
    return given_delta_type(type, rules, std::string(options.text("DELTA_DTYPE")));
  }
  if (is_float && rules.filters_take_arrays) throw not_for_type(kOption, type, kInexact);
  if (is_float) {
    // Not the default: some readers do not interpret the bits as floats again.
    throw not_for_type(kOption, type,
                       std::string(kInexact) + "; DELTA_DTYPE can treat their bits as integers");
  }
  // In v3 it views elements as they are in memory.
  return {type, rules.filters_take_arrays ? Endian::little : stored_endian(options)};
}

CodecMetadata make_delta(const DataType& type, const NewArrayRules& rules,
                         const CreationOptions& options) {
  const zarrcore::NumpyType delta = delta_type(type, rules, options);
  return {"numcodecs.delta", {{"dtype", *zarrcore::format_numpy_type(delta.type, delta.endian)}}};
}

CodecMetadata make_blosc(std::uint64_t item_size, const CreationOptions& options) {
  // Blosc shuffles items of up to 255 bytes.
  if (item_size > 255) item_size = 1;
  const std::string_view shuffle = options.text("BLOSC_SHUFFLE");
  Json configuration = Json::object();
  configuration["typesize"] = item_size;
  configuration["cname"] = options.text("BLOSC_CNAME");
  configuration["clevel"] = options.integer("BLOSC_CLEVEL");
  configuration["shuffle"] = shuffle == "BIT"    ? "bitshuffle"
                             : shuffle == "BYTE" ? "shuffle"
                                                 : "noshuffle";
  configuration["blocksize"] = options.integer("BLOSC_BLOCKSIZE");
  return {"blosc", std::move(configuration)};
}

CodecMetadata make_lzma(const CreationOptions& options) {
  // The numbers of liblzma for its formats and filters. numcodecs decodes with filters in the raw
  // format only.
  constexpr int kXz = 1;
  constexpr int kRaw = 3;
  constexpr int kDelta = 3;
  constexpr int kLzma2 = 0x21;
  const std::int64_t preset = options.integer("LZMA_PRESET");
  Json configuration{{"format", kXz}, {"check", -1}, {"preset", preset}, {"filters", nullptr}};
  if (options.is_given("LZMA_DELTA")) {
    configuration["format"] = kRaw;
    configuration["preset"] = nullptr;
    Json& filters = configuration["filters"] = Json::array();
    filters.push_back({{"id", kDelta}, {"dist", options.integer("LZMA_DELTA")}});
    filters.push_back({{"id", kLzma2}, {"preset", preset}});
  }
  return {"numcodecs.lzma", std::move(configuration)};
}

Json registered_value(const CompressorOption& option, const std::string& text) {
  if (EQUAL(option.type.c_str(), "int")) {
    if (const auto number = zarrcore::parse_number<std::int64_t>(text)) return *number;
  }
  if (EQUAL(option.type.c_str(), "float") || EQUAL(option.type.c_str(), "real")) {
    if (const auto number = zarrcore::parse_number<double>(text)) return *number;
  }
  if (EQUAL(option.type.c_str(), "boolean")) return CPLTestBool(text.c_str());
  return text;
}

// A compressor that is registered at run time, with the options that are given or have a default.
CodecMetadata make_registered(const RegisteredCompressor& compressor,
                              const CreationOptions& options) {
  CodecMetadata codec{"numcodecs." + compressor.id};
  for (const CompressorOption& option : compressor.options) {
    const std::string given(options.text(creation_option_name(compressor, option)));
    const std::string& value = given.empty() ? option.default_value : given;
    if (!value.empty()) {
      codec.configuration[zarrcore::lower_case(option.name)] = registered_value(option, value);
    }
  }
  return codec;
}

// The compressor for items of `item_size` bytes.
std::optional<CodecMetadata> make_compressor(std::uint64_t item_size,
                                             const CreationOptions& options) {
  struct WithLevel {
    const char* name;
    const char* codec;
    const char* key;
    const char* option;
  };
  constexpr WithLevel kWithLevel[] = {
      {"BZ2", "numcodecs.bz2", "level", "BZ2_LEVEL"},
      {"GZIP", "gzip", "level", "GZIP_LEVEL"},
      {"LZ4", "numcodecs.lz4", "acceleration", "LZ4_ACCELERATION"},
      {"ZLIB", "numcodecs.zlib", "level", "ZLIB_LEVEL"},
      {"ZSTD", "zstd", "level", "ZSTD_LEVEL"},
  };
  const std::string_view name = options.text("COMPRESS");
  if (name == "BLOSC") return make_blosc(item_size, options);
  if (name == "LZMA") return make_lzma(options);
  for (const WithLevel& compressor : kWithLevel) {
    if (name != compressor.name) continue;
    CodecMetadata codec{compressor.codec, {{compressor.key, options.integer(compressor.option)}}};
    if (name == "ZSTD") codec.configuration["checksum"] = options.boolean("ZSTD_CHECKSUM");
    return codec;
  }
  if (options.registered()) return make_registered(*options.registered(), options);
  return std::nullopt;
}

// The modes have numcodecs' numbers. Without an option, compression is lossless.
CodecMetadata make_zfp(const DataType& type, const CreationOptions& options) {
  struct Mode {
    const char* option;
    const char* key;
    int number;
  };
  constexpr Mode kModes[] = {{"ZFP_TOLERANCE", "tolerance", 4},
                             {"ZFP_RATE", "rate", 2},
                             {"ZFP_PRECISION", "precision", 3}};
  Json configuration{{"mode", 4}, {"tolerance", -1}, {"rate", -1}, {"precision", -1}};
  if (options.is_given("ZFP_TOLERANCE") && type.kind != TypeKind::floating) {
    throw not_for_type("ZFP_TOLERANCE", type, "zfp honours it for floating point numbers only");
  }
  const char* given = nullptr;
  for (const Mode& mode : kModes) {
    if (!options.is_given(mode.option)) continue;
    if (given != nullptr) {
      throw Error("creation options " + std::string(given) + " and " + mode.option +
                  " exclude each other");
    }
    given = mode.option;
    configuration["mode"] = mode.number;
    configuration[mode.key] =
        mode.number == 3 ? Json(options.integer(mode.option)) : Json(options.real(mode.option));
  }
  return {"numcodecs.zfpy", std::move(configuration)};
}

std::optional<CodecMetadata> make_checksum(const CreationOptions& options) {
  const std::string name(options.text("CHECKSUM"));
  if (name == "NONE") return std::nullopt;
  return CodecMetadata{name == "CRC32C" ? "crc32c" : "numcodecs." + zarrcore::lower_case(name)};
}

// Compressors have limits, and so do other readers: numcodecs refuses 2^31 bytes.
void check_chunk_size(const DataType& type, const zarrcore::Shape& chunk_shape,
                      const CreationOptions& options) {
  const std::string_view name = options.text("COMPRESS");
  if (name == "NONE" || type.is_variable()) return;
  const std::uint64_t limit = name == "LZ4"     ? 0x7e000000
                              : name == "BLOSC" ? 0x7fffffef
                                                : 0x7fffffff;
  const auto elements = zarrcore::checked_product(chunk_shape);
  const auto bytes =
      elements ? zarrcore::checked_multiply(*elements, type.item_size) : std::nullopt;
  if (!bytes || *bytes > limit) {
    throw Error("chunks of " + (bytes ? std::to_string(*bytes) : "2^64 or more") +
                " bytes are too large for creation option COMPRESS=" + std::string(name) +
                ": its limit is " + std::to_string(limit));
  }
}

// The codecs of a chunk, or of the inner chunks of a shard.
Codecs make_chunk_codecs(const DataType& type, std::size_t rank, const NewArrayRules& rules,
                         const CreationOptions& options) {
  const bool is_zfp = options.is("COMPRESS", "ZFP");
  const bool is_shuffled = options.is("FILTER", "SHUFFLE");
  if (is_shuffled && type.is_variable()) {
    throw not_for_type("FILTER=SHUFFLE", type, "the length of its elements varies");
  }
  Codecs filters;
  if (options.is_given("KEEPBITS") && rank > 1) filters.push_back(make_bitround(type, options));
  if (options.is("FILTER", "DELTA")) filters.push_back(make_delta(type, rules, options));
  if (is_zfp && (is_shuffled || !filters.empty())) {
    throw Error("creation option COMPRESS=ZFP excludes FILTER and KEEPBITS");
  }
  Codecs codecs;
  const auto append = [&](Codecs more) {
    codecs.insert(codecs.end(), std::make_move_iterator(more.begin()),
                  std::make_move_iterator(more.end()));
  };
  if (options.is("CHUNK_MEMORY_LAYOUT", "F") && rank > 1) codecs.push_back(reversed_axes(rank));
  if (rules.filters_take_arrays) append(std::exchange(filters, {}));
  // GDAL's built-in driver needs `endian` also for elements of one byte.
  const CodecMetadata bytes{"bytes", {{"endian", options.text("@ENDIAN")}}};
  codecs.push_back(type.is_variable() ? CodecMetadata{"vlen-utf8"}
                   : is_zfp           ? make_zfp(type, options)
                                      : bytes);
  append(std::move(filters));
  if (is_shuffled) {
    codecs.push_back({"numcodecs.shuffle", {{"elementsize", type.item_size}}});
  }
  const bool has_items = !type.is_variable() && !is_shuffled;
  const auto compressor = make_compressor(has_items ? type.item_size : 1, options);
  const auto checksum = make_checksum(options);
  if (checksum && rules.compressor_comes_last) codecs.push_back(*checksum);
  if (compressor) codecs.push_back(*compressor);
  if (checksum && !rules.compressor_comes_last) codecs.push_back(*checksum);
  return codecs;
}

}  // namespace

std::vector<CodecMetadata> make_new_codecs(const DataType& type, const ChunkLayout& layout,
                                           const NewArrayRules& rules,
                                           const CreationOptions& options) {
  check_chunk_size(type, layout.compressed_shape(), options);
  Codecs codecs = make_chunk_codecs(type, layout.chunk_shape.size(), rules, options);
  if (!layout.inner_shape) return codecs;
  return {zarrcore::make_sharding_metadata(*layout.inner_shape, codecs)};
}

}  // namespace gdal_zarr
