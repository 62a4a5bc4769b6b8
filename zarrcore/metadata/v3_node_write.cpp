// From the model to `zarr.json`: the inverse of v3_node.cpp.
#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/error.h"
#include "zarrcore/metadata/fill_value.h"
#include "zarrcore/metadata/members.h"
#include "zarrcore/metadata/v3.h"
#include "zarrcore/metadata/v3_data_type.h"

namespace zarrcore {
namespace {

Json make_chunk_grid(const ArrayMetadata& array) {
  if (array.chunk_runs.empty())
    return format_named_configuration({"regular", {{"chunk_shape", array.chunk_shape}}});
  Json shapes = Json::array();
  for (const std::vector<ChunkRun>& runs : array.chunk_runs) {
    Json lengths = Json::array();
    for (std::size_t i = 0; i < runs.size();) {
      ChunkRun run = runs[i++];
      for (; i < runs.size() && runs[i].length == run.length; ++i) {
        run.count = checked_add(run.count, runs[i].count).value_or(UINT64_MAX);
      }
      lengths.push_back(run.count == 1 ? Json(run.length) : Json::array({run.length, run.count}));
    }
    shapes.push_back(std::move(lengths));
  }
  return format_named_configuration(
      {"rectilinear", {{"kind", "inline"}, {"chunk_shapes", std::move(shapes)}}});
}

Json make_chunk_key_encoding(const ChunkKeyEncoding& encoding) {
  const Json configuration{{"separator", std::string(1, encoding.separator)}};
  switch (encoding.kind) {
    case ChunkKeyEncoding::Kind::default_:
      return format_named_configuration({"default", configuration});
    case ChunkKeyEncoding::Kind::v2:
      return format_named_configuration({"v2", configuration});
    case ChunkKeyEncoding::Kind::draft:
      break;
  }
  throw Error("Zarr v3 cannot express the chunk keys of its draft of 2020");
}

// Codecs are written as objects, also in shards: not all readers know the short form. Nor do all
// accept a `bytes` codec for several bytes that does not state their order.
Json make_codecs(std::vector<CodecMetadata> codecs, const DataType& type) {
  Json list = Json::array();
  for (CodecMetadata& codec : codecs) {
    Json& configuration = codec.configuration;
    if (codec.name == "bytes") {
      const Json* endian = find_member(configuration, "endian");
      if (endian != nullptr && endian->is_array()) {
        throw Error("Zarr v3 cannot express several byte orders in an element");
      }
      // Numbers always state it, or have become single bytes before this codec.
      const bool is_stated = endian != nullptr && !endian->is_null();
      const bool may_be_left_out = type.is_string() || type.kind == TypeKind::structure;
      if (!is_stated && may_be_left_out && !byte_units(type).empty()) {
        configuration["endian"] = "little";
      }
    } else if (codec.name == "sharding_indexed") {
      for (const char* key : {"codecs", "index_codecs"}) {
        if (const Json* inner = find_member(configuration, key); inner != nullptr) {
          configuration[key] = make_codecs(parse_codec_list(*inner, key), type);
        }
      }
    }
    Json formatted = format_named_configuration(codec);
    // zarr-python requires one for these, even if it is empty.
    if (codec.name.starts_with("numcodecs.") && formatted.is_object()) {
      formatted.emplace("configuration", Json::object());
    }
    list.push_back(std::move(formatted));
  }
  return list;
}

Json make_fill_value(const ArrayMetadata& array) {
  const DataType& type = array.data_type;
  const std::vector<std::byte> zero(type.is_variable() ? 0 : memory_size(type.item_size));
  return format_fill_value(array.fill_value.value_or(zero), type);
}

// Adds the names to `document` if any dimension has one; null stands for the others.
void put_dimension_names(Json& document, const ArrayMetadata& array) {
  Json names = Json::array();
  bool has_names = false;
  for (const auto& name : array.dimension_names) {
    names.push_back(name ? Json(*name) : Json());
    has_names = has_names || name;
  }
  if (has_names) document["dimension_names"] = std::move(names);
}

}  // namespace

Json make_v3_array_document(const ArrayMetadata& array) {
  Json document = Json::object();
  document["zarr_format"] = 3;
  document["node_type"] = "array";
  document["shape"] = array.shape;
  document["data_type"] = make_v3_data_type(array.data_type);
  document["chunk_grid"] = make_chunk_grid(array);
  document["chunk_key_encoding"] = make_chunk_key_encoding(array.chunk_key_encoding);
  document["fill_value"] = make_fill_value(array);
  document["codecs"] = make_codecs(array.codecs, array.data_type);
  document["attributes"] = array.attributes;
  put_dimension_names(document, array);
  add_members(document, array.unknown_members);
  return document;
}

Json make_v3_group_document(const GroupMetadata& group) {
  Json document = Json::object();
  document["zarr_format"] = 3;
  document["node_type"] = "group";
  document["attributes"] = group.attributes;
  add_members(document, group.unknown_members);
  return document;
}

}  // namespace zarrcore
