#include "driver/new_array/new_array.h"

#include <utility>

#include "driver/new_array/chunk_layout.h"
#include "driver/new_array/creation_options.h"
#include "driver/new_array/given_codecs.h"
#include "driver/new_array/new_codecs.h"
#include "driver/new_array/stored_type.h"
#include "zarrcore/codec/codec_chain.h"

namespace gdal_zarr {
namespace {

zarrcore::ChunkKeyEncoding make_key_encoding(zarrcore::ChunkKeyEncoding encoding,
                                             const CreationOptions& options) {
  if (options.is_given("DIM_SEPARATOR")) encoding.separator = options.text("DIM_SEPARATOR").front();
  return encoding;
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
  metadata.chunk_key_encoding = make_key_encoding(rules.key_encoding, options);
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
  };
  has_codecs ? zarrcore::with_context("creation option CODECS", check) : check();
  return metadata;
}

}  // namespace gdal_zarr
