// Between `zarr.json` and the model.
#include <algorithm>
#include <array>

#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/error.h"
#include "zarrcore/metadata/documents.h"
#include "zarrcore/metadata/fill_value.h"
#include "zarrcore/metadata/numpy_array.h"

namespace zarrcore {
namespace {

// Refuses members that are not in the specification, unless they state that they need not be
// understood (core specification, "extensibility").
void check_members(const Json& document, std::span<const std::string_view> known) {
  for (const auto& [key, value] : document.items()) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    const Json* must = find_member(value, "must_understand");
    if (must != nullptr && must->is_boolean() && !must->get<bool>()) continue;
    throw Error("the member \"" + key + "\" is an extension that is not supported");
  }
}

ChunkKeyEncoding parse_chunk_key_encoding(const Json& value) {
  const NamedConfiguration named = parse_named_configuration(value, "\"chunk_key_encoding\"");
  ChunkKeyEncoding encoding;
  if (named.name == "default") {
    encoding = {ChunkKeyEncoding::Kind::default_, '/'};
  } else if (named.name == "v2") {
    encoding = {ChunkKeyEncoding::Kind::v2, '.'};
  } else if (named.name == "zarrs.default_suffix") {
    const Json& suffix = required_member(named.configuration, "suffix");
    // A slash could make the key of another node.
    if (!suffix.is_string() || suffix.get<std::string>().find_first_of("/\\") != std::string::npos)
      throw Error("the suffix of chunk keys is " + excerpt(suffix));
    encoding.suffix = suffix.get<std::string>();
  } else {
    throw Error("the chunk key encoding \"" + named.name + "\" is not supported");
  }
  check_configuration(named, "the chunk key encoding",
                      {"separator", named.name == "zarrs.default_suffix" ? "suffix" : "separator"});
  encoding.separator = parse_separator(named.configuration, "separator", encoding.separator);
  return encoding;
}

// `[length, count]`, or a length alone.
ChunkRun parse_chunk_run(const Json& value) {
  if (value.is_array() && value.size() == 2) {
    return {as_unsigned(value[0], "a chunk length"), as_unsigned(value[1], "a chunk count")};
  }
  return {as_unsigned(value, "a chunk length"), 1};
}

// Runs of the same length are one.
void add_run(std::vector<ChunkRun>& runs, const ChunkRun& run) {
  if (runs.empty() || runs.back().length != run.length) {
    runs.push_back(run);
  } else {
    runs.back().count = checked_add(runs.back().count, run.count).value_or(UINT64_MAX);
  }
}

// zarr-extensions, "rectilinear": for each dimension an integer, the length of all chunks, or a
// list of lengths and runs. ZEP 3, "rectangular": the same in another member, without runs.
std::vector<std::vector<ChunkRun>> parse_rectilinear(const Json& configuration, const char* member,
                                                     const Shape& shape) {
  const Json* kind = find_member(configuration, "kind");
  if (kind != nullptr && *kind != "inline") {
    throw Error("a rectilinear chunk grid of kind " + excerpt(*kind) + " is not supported");
  }
  const Json& lengths = required_member(configuration, member);
  if (!lengths.is_array() || lengths.size() != shape.size()) {
    throw Error('"' + std::string(member) + "\" is not a list of " + std::to_string(shape.size()) +
                " dimensions");
  }
  std::vector<std::vector<ChunkRun>> runs(shape.size());
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (lengths[i].is_array()) {
      for (const Json& run : lengths[i]) add_run(runs[i], parse_chunk_run(run));
    } else {
      const std::uint64_t length = as_unsigned(lengths[i], "a chunk length");
      if (length == 0) throw Error("a chunk length of dimension " + std::to_string(i) + " is zero");
      runs[i].push_back({length, std::max<std::uint64_t>(1, ceil_divide(shape[i], length))});
    }
  }
  return runs;
}

Shape parse_chunk_shape(const Json& configuration) {
  return parse_lengths(required_member(configuration, "chunk_shape"), "\"chunk_shape\"");
}

// zarrs: a regular grid whose last chunks end with the array.
std::vector<std::vector<ChunkRun>> parse_regular_bounded(const Json& configuration,
                                                         const Shape& shape) {
  const Shape lengths = parse_chunk_shape(configuration);
  if (lengths.size() != shape.size()) {
    throw Error("\"chunk_shape\" is not a list of " + std::to_string(shape.size()) + " lengths");
  }
  std::vector<std::vector<ChunkRun>> runs(shape.size());
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (lengths[i] == 0)
      throw Error("a chunk length of dimension " + std::to_string(i) + " is zero");
    const std::uint64_t rest = shape[i] % lengths[i];
    if (shape[i] >= lengths[i]) runs[i].push_back({lengths[i], shape[i] / lengths[i]});
    if (rest != 0 || shape[i] == 0) runs[i].push_back({std::max<std::uint64_t>(1, rest), 1});
  }
  return runs;
}

void parse_chunk_grid(const Json& value, ArrayMetadata& array) {
  const NamedConfiguration grid = parse_named_configuration(value, "\"chunk_grid\"");
  if (grid.name == "regular") {
    check_configuration(grid, "the chunk grid", {"chunk_shape"});
    array.chunk_shape = parse_chunk_shape(grid.configuration);
  } else if (grid.name == "zarrs.regular_bounded") {
    check_configuration(grid, "the chunk grid", {"chunk_shape"});
    array.chunk_runs = parse_regular_bounded(grid.configuration, array.shape);
  } else if (grid.name == "rectilinear") {
    check_configuration(grid, "the chunk grid", {"kind", "chunk_shapes"});
    array.chunk_runs = parse_rectilinear(grid.configuration, "chunk_shapes", array.shape);
  } else if (grid.name == "rectangular") {
    check_configuration(grid, "the chunk grid", {"chunk_shape"});
    array.chunk_runs = parse_rectilinear(grid.configuration, "chunk_shape", array.shape);
  } else {
    throw Error("the chunk grid \"" + grid.name + "\" is not supported");
  }
}

std::vector<std::optional<std::string>> parse_dimension_names(const Json& document,
                                                              std::size_t rank) {
  std::vector<std::optional<std::string>> names(rank);
  const Json* member = find_value(document, "dimension_names");
  if (member == nullptr) return names;
  if (!member->is_array() || member->size() != rank) {
    throw Error("\"dimension_names\" is not a list of " + std::to_string(rank) + " names");
  }
  for (std::size_t i = 0; i < rank; ++i) {
    const Json& name = (*member)[i];
    if (name.is_null()) continue;
    if (!name.is_string()) {
      throw Error("\"dimension_names\" holds " + std::string(describe_kind(name)));
    }
    if (auto text = name.get<std::string>(); !text.empty()) names[i] = std::move(text);
  }
  return names;
}

// GDAL 3.8 to 3.10 left out `bytes`, and for uncompressed arrays all codecs; the chain adds it
// (codec/codec_chain.h).
std::vector<CodecMetadata> parse_codecs(const Json& document, const ArrayMetadata& array) {
  const Json* list = find_member(document, "codecs");
  if (list == nullptr && !array.data_type.is_variable()) return {};
  std::vector<CodecMetadata> codecs = codecs_member(document, "codecs");
  for (CodecMetadata& codec : codecs) {
    if (codec.name == "transpose") state_axes(codec, array.shape.size());
  }
  return codecs;
}

ArrayMetadata parse_array(const Json& document, const std::string& path) {
  static constexpr std::array<std::string_view, 12> kMembers{"zarr_format",
                                                             "node_type",
                                                             "shape",
                                                             "data_type",
                                                             "chunk_grid",
                                                             "chunk_key_encoding",
                                                             "fill_value",
                                                             "codecs",
                                                             "attributes",
                                                             "dimension_names",
                                                             "storage_transformers",
                                                             "consolidated_metadata"};
  check_members(document, kMembers);
  ArrayMetadata array;
  array.shape = parse_shape(document);
  array.data_type = parse_v3_data_type(required_member(document, "data_type"));
  parse_chunk_grid(required_member(document, "chunk_grid"), array);
  array.chunk_key_encoding =
      parse_chunk_key_encoding(required_member(document, "chunk_key_encoding"));
  // The specification requires a value; GDAL's built-in driver writes null all the same.
  if (const Json& fill = required_member(document, "fill_value"); !fill.is_null()) {
    array.fill_value = parse_fill_value(fill, array.data_type);
  }
  array.fill_value_is_mandatory = true;
  array.fill_value_attribute_is_base64 = true;
  array.codecs = parse_codecs(document, array);
  const Json* transformers = find_value(document, "storage_transformers");
  if (transformers != nullptr) {
    for (const CodecMetadata& transformer :
         parse_codec_list(*transformers, "\"storage_transformers\"")) {
      if (transformer.must_understand) {
        throw Error("the storage transformer \"" + transformer.name + "\" is not supported");
      }
    }
  }
  array.unknown_members = other_members(document, kMembers);
  if (transformers != nullptr && !transformers->empty()) {
    array.unknown_members["storage_transformers"] = *transformers;
  }
  array.attributes = object_member(document, "attributes");
  array.dimension_names = parse_dimension_names(document, array.shape.size());
  array.chunk_prefix = path;
  return array;
}

Json make_chunk_grid(const ArrayMetadata& array) {
  if (array.chunk_runs.empty())
    return format_named_configuration({"regular", {{"chunk_shape", array.chunk_shape}}});
  Json shapes = Json::array();
  for (const std::vector<ChunkRun>& runs : array.chunk_runs) {
    Json lengths = Json::array();
    for (const ChunkRun& run : runs) {
      lengths.push_back(run.count == 1 ? Json(run.length) : Json::array({run.length, run.count}));
    }
    shapes.push_back(std::move(lengths));
  }
  return format_named_configuration(
      {"rectilinear", {{"kind", "inline"}, {"chunk_shapes", std::move(shapes)}}});
}

Json make_chunk_key_encoding(const ChunkKeyEncoding& encoding) {
  Json configuration{{"separator", std::string(1, encoding.separator)}};
  switch (encoding.kind) {
    case ChunkKeyEncoding::Kind::default_:
      if (!encoding.suffix.empty()) configuration["suffix"] = encoding.suffix;
      if (!encoding.suffix.empty())
        return format_named_configuration({"zarrs.default_suffix", configuration});
      return format_named_configuration({"default", configuration});
    case ChunkKeyEncoding::Kind::v2:
      return format_named_configuration({"v2", configuration});
    case ChunkKeyEncoding::Kind::draft:
    case ChunkKeyEncoding::Kind::n5:
      break;
  }
  throw Error("Zarr v3 cannot express the chunk keys of its draft of 2020 and of N5");
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

// Adds the names to `document` if any dimension has one; unnamed dimensions get null.
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

NodeMetadata parse_v3_node(const Json& document, const std::string& path) {
  check_zarr_format(document, 3);
  const Json& type = required_member(document, "node_type");
  if (type == "array") return parse_array(document, path);
  if (type != "group") {
    throw Error("\"node_type\" is " + excerpt(type) + " where array or group is expected");
  }
  static constexpr std::array<std::string_view, 4> kMembers{"zarr_format", "node_type",
                                                            "attributes", "consolidated_metadata"};
  check_members(document, kMembers);
  return GroupMetadata{object_member(document, "attributes"), other_members(document, kMembers)};
}

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
