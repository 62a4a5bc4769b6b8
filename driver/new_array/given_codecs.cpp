#include "driver/new_array/given_codecs.h"

#include <string>

#include "driver/new_array/creation_options.h"
#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/error.h"
#include "zarrcore/codec/registry.h"
#include "zarrcore/metadata/format.h"
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

}  // namespace

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
  for (std::size_t i = 0; i < inner.size(); ++i) {
    if (inner[i] == 0) return;
    const auto length =
        zarrcore::checked_multiply(zarrcore::ceil_divide(chunk_shape[i], inner[i]), inner[i]);
    if (!length) return;
    chunk_shape[i] = *length;
  }
}

}  // namespace gdal_zarr
