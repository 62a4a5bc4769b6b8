#include "driver/new_array/new_array.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "driver/codecs/gdal_codecs.h"
#include "driver/new_array/array_parts.h"
#include "zarrcore/base/error.h"
#include "zarrcore/codec/codec_chain.h"
#include "zarrcore/codec/registry.h"
#include "zarrcore/metadata/numpy_array.h"

namespace gdal_zarr {
namespace {

using zarrcore::CodecMetadata;
using zarrcore::DataType;
using zarrcore::Error;
using zarrcore::Json;

using Codecs = std::vector<CodecMetadata>;

void refuse_other_options(const CreationOptions& options) {
  for (const char* name : {"COMPRESS", "FILTER", "KEEPBITS", "CHECKSUM", "CHUNK_MEMORY_LAYOUT",
                           "SHARD_CHUNK_SHAPE", "@ENDIAN"}) {
    if (!options.is_given(name)) continue;
    throw Error("creation options CODECS and " + std::string(name) + " exclude each other");
  }
  if (options.is("SHARDING", "AUTO")) {
    throw Error("creation options CODECS and SHARDING=AUTO exclude each other");
  }
}

// A chain that a reader would run without one of its codecs must not be written.
void check_names(const Codecs& codecs) {
  for (const CodecMetadata& codec : codecs) {
    if (zarrcore::find_codec(codec.name) == nullptr) {
      throw Error("the codec \"" + codec.name + "\" is not supported");
    }
    if (is_read_only_codec(codec.name)) {
      throw Error("the codec \"" + codec.name + "\" is for reading only");
    }
    if (codec.name != "sharding_indexed") continue;
    for (const char* key : {"codecs", "index_codecs"}) {
      const Json* inner = zarrcore::find_member(codec.configuration, key);
      if (inner == nullptr)
        throw Error("sharding_indexed has no member \"" + std::string(key) + '"');
      check_names(zarrcore::parse_codec_list(*inner, key));
    }
  }
}

Codecs codecs_of_v2(const Json& json, const DataType& type) {
  if (!json.is_object()) {
    throw Error("it is not an object with the members filters and compressor, as Zarr v2 has them");
  }
  for (const auto& [key, value] : json.items()) {
    if (key != "filters" && key != "compressor") throw zarrcore::unknown_member(key);
  }
  zarrcore::NumpyCodecs numcodecs;
  numcodecs.filters = zarrcore::find_member(json, "filters");
  const Json* compressor = zarrcore::find_member(json, "compressor");
  if (compressor != nullptr && !compressor->is_null()) {
    numcodecs.compressor = zarrcore::parse_numcodec(*compressor, "the compressor");
  }
  zarrcore::NumpyDtype dtype{
      type, std::vector(zarrcore::byte_units(type).size(), zarrcore::Endian::little),
      type.is_variable()};
  Json filters = numcodecs.filters != nullptr ? *numcodecs.filters : Json();
  if (type.is_variable() && (filters.is_null() || filters.empty())) {
    filters = Json::array({Json{{"id", "vlen-utf8"}}});
  }
  numcodecs.filters = &filters;
  Codecs codecs = zarrcore::make_codecs(dtype, numcodecs, 0);
  if (dtype.type != type) throw Error("the filters are for elements of another type");
  return codecs;
}

// The codecs that CODECS gives in JSON: for v3 the member `codecs` of zarr.json, for v2 an object
// with the members `filters` and `compressor` of .zarray, which may be null or missing. Throws
// zarrcore::Error on anything else, on codecs that are not known, and when options are given that
// also determine codecs.
Codecs given_codecs(const DataType& type, const zarrcore::Format& format,
                    const CreationOptions& options) {
  refuse_other_options(options);
  return zarrcore::with_context("creation option CODECS", [&] {
    const Json json = zarrcore::parse_json(options.text("CODECS"));
    const bool is_v3 = &format == &zarrcore::v3_format();
    Codecs codecs = is_v3 ? zarrcore::parse_codec_list(json, "it") : codecs_of_v2(json, type);
    check_names(codecs);
    return codecs;
  });
}

// Makes default chunks, without the option BLOCKSIZE, a multiple of the inner chunks that the
// codecs state.
void fit_to_shards(zarrcore::Shape& chunk_shape, const Codecs& codecs,
                   const CreationOptions& options) {
  if (options.is_given("BLOCKSIZE") || codecs.empty()) return;
  const CodecMetadata& codec = codecs.front();
  const Json* shape = codec.name == "sharding_indexed"
                          ? zarrcore::find_member(codec.configuration, "chunk_shape")
                          : nullptr;
  if (shape == nullptr) return;
  const auto inner = zarrcore::as_unsigned_list(*shape, "\"chunk_shape\"");
  if (inner.size() != chunk_shape.size()) return;  // the codec reports it
  if (std::find(inner.begin(), inner.end(), 0) != inner.end()) return;
  if (auto fitted = multiples_of(inner, chunk_shape)) chunk_shape = *std::move(fitted);
}

}  // namespace

zarrcore::ArrayMetadata make_array_metadata(const NewArray& array, CSLConstList option_list) {
  const CreationOptions options(option_list, kArrayOption);
  const zarrcore::NewArrayRules& rules = *array.format->new_array_rules();
  zarrcore::ArrayMetadata metadata;
  metadata.shape = array.shape;
  metadata.data_type =
      array.stored_type ? *array.stored_type : stored_type(array.type, rules, options);
  const zarrcore::DataType& type = metadata.data_type;
  ChunkLayout layout = make_chunk_layout(array, type.item_size, options);
  const bool has_codecs = options.is_given("CODECS");
  if (has_codecs) {
    metadata.codecs = given_codecs(type, *array.format, options);
    fit_to_shards(layout.chunk_shape, metadata.codecs, options);
  } else {
    metadata.codecs = make_new_codecs(type, layout, rules, options);
  }
  metadata.chunk_shape = std::move(layout.chunk_shape);
  metadata.chunk_key_encoding = rules.key_encoding;
  if (options.is_given("DIM_SEPARATOR")) {
    metadata.chunk_key_encoding.separator = options.text("DIM_SEPARATOR").front();
  }
  if (rules.fill_value_is_mandatory) {
    metadata.fill_value.emplace(type.is_variable() ? 0 : type.item_size);
    metadata.fill_value_is_mandatory = true;
  }
  metadata.fill_value_attribute_is_base64 = rules.fill_value_attribute_is_base64;
  for (const std::string& name : array.dimension_names) {
    metadata.dimension_names.push_back(name.empty() ? std::nullopt : std::optional(name));
  }
  metadata.dimension_names.resize(array.shape.size());
  // Codecs that do not support the type or the chunks throw here.
  const std::vector<std::byte> zero(type.item_size);
  const auto check = [&] {
    const zarrcore::CodecChain chain(metadata.codecs, {metadata.chunk_shape, type, zero});
    // Other readers refuse such arrays.
    if (chain.assumes_bytes()) {
      throw Error(
          "the codecs do not include one from arrays to bytes, or its \"endian\" is missing");
    }
  };
  has_codecs ? zarrcore::with_context("creation option CODECS", check) : check();
  return metadata;
}

}  // namespace gdal_zarr
