#include "driver/new_array/new_array.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "driver/types/type_mapping.h"
#include "zarrcore/base/buffer.h"
#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/error.h"
#include "zarrcore/codec/codec_chain.h"
#include "zarrcore/metadata/numpy_array.h"

namespace gdal_zarr {
namespace {

using zarrcore::CodecMetadata;
using zarrcore::DataType;
using zarrcore::Error;
using zarrcore::Json;
using zarrcore::TypeKind;

using Codecs = std::vector<CodecMetadata>;

DataType new_number_type(GDALDataType type) {
  if (const auto stored = stored_number_type(type)) return *stored;
  throw Error("Zarr has no data type for elements of type " +
              std::string(GDALGetDataTypeName(type)) + "; supported are " + creation_data_types());
}

// Rules for the data types of strings in new arrays.
class StringRules {
 public:
  StringRules(const zarrcore::NewArrayRules& rules, const CreationOptions& options)
      : prefers_variable_(rules.prefers_variable_strings), format_(options.text("STRING_FORMAT")) {}

  // The type for strings of at most `length` bytes; 0 if that is unknown.
  DataType type(std::size_t length) const {
    const bool is_asked = format_ == "ASCII" || format_ == "UNICODE";
    const bool is_fixed = prefers_variable_ ? is_asked : format_ != "VARIABLE";
    if (length != 0 && is_fixed) return padded_type(length);
    return {TypeKind::variable_string, sizeof(zarrcore::VariableElement)};
  }

  // Padded with zeros.
  DataType padded_type(std::size_t length) const {
    const bool is_unicode = format_ == "UNICODE" || (prefers_variable_ && format_ != "ASCII");
    const auto size = zarrcore::checked_multiply(length, is_unicode ? 4 : 1);
    if (!size || *size > zarrcore::kMaxItemSize) {
      throw Error("strings of " + std::to_string(length) + " bytes are too long to be padded");
    }
    return {is_unicode ? TypeKind::fixed_utf32 : TypeKind::fixed_bytes, *size};
  }

 private:
  bool prefers_variable_;
  std::string_view format_;
};

DataType stored_type(const GDALExtendedDataType& type, const StringRules& strings, bool is_field) {
  switch (type.GetClass()) {
    case GEDTC_NUMERIC:
      return new_number_type(type.GetNumericDataType());
    case GEDTC_COMPOUND:
      break;
    default:
      if (!is_field) return strings.type(type.GetMaxStringLength());
      if (type.GetMaxStringLength() == 0) {
        throw Error("a string in a compound needs a maximum length");
      }
      return strings.padded_type(type.GetMaxStringLength());
  }
  std::vector<zarrcore::Field> fields;
  std::set<std::string> names;
  for (const auto& component : type.GetComponents()) {
    const std::string& name = component->GetName();
    if (name.empty()) throw Error("a component of a compound has no name");
    if (!names.insert(name).second) {
      throw Error("two components of a compound are called \"" + name + "\"");
    }
    fields.push_back({name, stored_type(component->GetType(), strings, true)});
  }
  return zarrcore::make_structure(std::move(fields));
}

void refuse_other_options(const CreationOptions& options) {
  for (const char* name :
       {"COMPRESS", "FILTER", "KEEPBITS", "CHECKSUM", "CHUNK_MEMORY_LAYOUT", "@ENDIAN"}) {
    if (!options.is_given(name)) continue;
    throw Error("creation options CODECS and " + std::string(name) + " exclude each other");
  }
}

// Id or configuration of a codec of numcodecs.
Json numcodec(const Json& value) {
  return value.is_string() ? Json{{"id", value}} : value;
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
  if (const Json* compressor = zarrcore::find_value(json, "compressor")) {
    numcodecs.compressor = zarrcore::parse_numcodec(numcodec(*compressor), "the compressor");
  }
  zarrcore::NumpyDtype dtype{
      type, std::vector(zarrcore::byte_units(type).size(), zarrcore::Endian::little),
      type.is_variable()};
  Json filters = numcodecs.filters != nullptr ? *numcodecs.filters : Json();
  if (filters.is_string() || filters.is_object()) filters = Json::array({filters});
  for (Json& filter : filters) filter = numcodec(filter);
  if (type.is_variable() && (filters.is_null() || filters.empty())) {
    filters = Json::array({Json{{"id", "vlen-utf8"}}});
  }
  numcodecs.filters = &filters;
  Codecs codecs = zarrcore::make_codecs(dtype, numcodecs, 0);
  if (dtype.type != type) throw Error("the filters are for elements of another type");
  return codecs;
}

// The codecs that CODECS gives in JSON, which may lack what has a default: for v3 the member
// `codecs` of zarr.json, for v2 an object with the members `filters` and `compressor` of .zarray,
// which may be null or missing. Throws zarrcore::Error on anything else, and when options are given
// that also determine codecs.
Codecs given_codecs(const DataType& type, const zarrcore::Format& format,
                    const CreationOptions& options) {
  refuse_other_options(options);
  return zarrcore::with_context("creation option CODECS", [&] {
    const Json json = zarrcore::parse_json(options.text("CODECS"));
    const bool is_v3 = &format == &zarrcore::v3_format();
    return is_v3 ? zarrcore::parse_codecs_or_one(json, "it") : codecs_of_v2(json, type);
  });
}

// Makes the chunks consistent with the first codec, if it makes shards: the inner chunks are the
// codec's, or else the options'. Default chunks, without the option BLOCKSIZE, become a multiple of
// the inner chunks.
void fit_to_shards(ChunkLayout& layout, Codecs& codecs, const CreationOptions& options) {
  const bool has_shards = !codecs.empty() && codecs.front().name == "sharding_indexed";
  Json none = Json::object();
  Json& configuration = has_shards ? codecs.front().configuration : none;
  const Json* shape = zarrcore::find_member(configuration, "chunk_shape");
  const char* option = options.is_given("SHARD_CHUNK_SHAPE") ? "SHARD_CHUNK_SHAPE"
                       : options.is("SHARDING", "AUTO")      ? "SHARDING=AUTO"
                                                             : nullptr;
  if (option != nullptr && (!has_shards || shape != nullptr)) {
    throw Error("creation options CODECS and " + std::string(option) +
                " exclude each other, unless the first codec is sharding_indexed without "
                "\"chunk_shape\"");
  }
  if (option != nullptr) {
    configuration["chunk_shape"] = layout.compressed_shape();
    return;
  }
  if (options.is_given("BLOCKSIZE") || shape == nullptr) return;
  const auto inner = zarrcore::as_unsigned_list(*shape, "\"chunk_shape\"");
  if (inner.size() != layout.chunk_shape.size()) return;  // the codec reports it
  if (std::find(inner.begin(), inner.end(), 0) != inner.end()) return;
  if (auto fitted = multiples_of(inner, layout.chunk_shape)) {
    layout.chunk_shape = *std::move(fitted);
  }
}

}  // namespace

DataType stored_type(const GDALExtendedDataType& type, const zarrcore::NewArrayRules& rules,
                     const CreationOptions& options) {
  return stored_type(type, StringRules(rules, options), false);
}

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
    fit_to_shards(layout, metadata.codecs, options);
  } else {
    metadata.codecs = make_new_codecs(type, layout, rules, options);
  }
  metadata.chunk_shape = std::move(layout.chunk_shape);
  metadata.chunk_key_encoding = {rules.key_kind, rules.key_separator};
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
    const zarrcore::ChunkSpec spec{metadata.chunk_shape, type, zero};
    if (has_codecs) metadata.codecs = zarrcore::complete_codecs(metadata.codecs, spec);
    const zarrcore::CodecChain chain(metadata.codecs, spec);
    if (!chain.can_encode()) {
      throw Error("the codec \"" + chain.decode_only() + "\" is for reading only");
    }
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
