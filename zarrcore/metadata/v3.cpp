#include "zarrcore/metadata/v3.h"

#include <algorithm>
#include <array>

#include "zarrcore/base/checked_math.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/json_members.h"
#include "zarrcore/base/path.h"
#include "zarrcore/metadata/document_names.h"
#include "zarrcore/metadata/draft.h"
#include "zarrcore/metadata/fill_value.h"
#include "zarrcore/metadata/members.h"
#include "zarrcore/metadata/numpy_array.h"

namespace zarrcore {
namespace {

// Members that a node may have beside those of the specification are refused unless they say that
// they need not be understood (core specification, "extensibility").
void check_members(const Json& document, std::span<const std::string_view> known) {
  for (const auto& [key, value] : document.items()) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    const Json* must = find_member(value, "must_understand");
    if (must != nullptr && must->is_boolean() && !must->get<bool>()) continue;
    throw Error("the member \"" + key + "\" is an extension that is not supported");
  }
}

std::uint64_t length_bytes(const NamedConfiguration& type) {
  const Json* length = find_member(type.configuration, "length_bytes");
  if (length == nullptr) {
    throw Error("the data type " + type.name + " has no \"length_bytes\"");
  }
  const std::uint64_t bytes = as_unsigned(*length, "\"length_bytes\"");
  if (bytes == 0 || bytes > kMaxItemSize) {
    throw Error("the data type " + type.name + " has elements of " + std::to_string(bytes) +
                " bytes");
  }
  return bytes;
}

DataType parse_time(TypeKind kind, const NamedConfiguration& named) {
  DataType type{kind, 8};
  const Json& unit = required_member(named.configuration, "unit");
  const auto name =
      unit.is_string() ? find_time_unit(unit.get_ref<const std::string&>()) : std::nullopt;
  if (!name) throw Error("the data type " + named.name + " has the unit " + excerpt(unit));
  type.time_unit.name = *name;
  if (const Json* scale = find_member(named.configuration, "scale_factor")) {
    const std::uint64_t count = as_unsigned(*scale, "\"scale_factor\"");
    if (count == 0 || count > INT32_MAX) {
      throw Error("the data type " + named.name + " has the scale factor " + excerpt(*scale));
    }
    type.time_unit.count = static_cast<std::int64_t>(count);
  }
  return type;
}

// Fields are objects, in the older `structured` pairs of name and type.
DataType parse_struct(const NamedConfiguration& named) {
  const Json& list = required_member(named.configuration, "fields");
  if (!list.is_array()) throw Error("\"fields\" is not a list");
  std::vector<Field> fields;
  for (const Json& item : list) {
    const bool is_pair = item.is_array() && item.size() == 2;
    const Json& name = is_pair ? item[0] : required_member(item, "name");
    if (!name.is_string()) throw Error("the name of a field is no string");
    fields.push_back({name.get<std::string>(),
                      parse_v3_data_type(is_pair ? item[1] : required_member(item, "data_type"))});
  }
  return make_structure(std::move(fields));
}

ChunkKeyEncoding parse_chunk_key_encoding(const Json& value) {
  const NamedConfiguration named = parse_named_configuration(value, "\"chunk_key_encoding\"");
  ChunkKeyEncoding encoding;
  if (named.name == "default") {
    encoding = {ChunkKeyEncoding::Kind::default_, '/'};
  } else if (named.name == "v2") {
    encoding = {ChunkKeyEncoding::Kind::v2, '.'};
  } else {
    throw Error("the chunk key encoding \"" + named.name + "\" is not supported");
  }
  check_configuration(named, "the chunk key encoding", {"separator"});
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

// zarr-extensions, "rectilinear": for each dimension an integer, the length of all chunks, or a
// list of lengths and runs.
std::vector<std::vector<ChunkRun>> parse_rectilinear(const Json& configuration,
                                                     const Shape& shape) {
  const Json* kind = find_member(configuration, "kind");
  if (kind != nullptr && *kind != "inline") {
    throw Error("a rectilinear chunk grid of kind " + excerpt(*kind) + " is not supported");
  }
  const Json& lengths = required_member(configuration, "chunk_shapes");
  if (!lengths.is_array() || lengths.size() != shape.size()) {
    throw Error("\"chunk_shapes\" is not a list of " + std::to_string(shape.size()) +
                " dimensions");
  }
  std::vector<std::vector<ChunkRun>> runs(shape.size());
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (lengths[i].is_array()) {
      for (const Json& run : lengths[i]) runs[i].push_back(parse_chunk_run(run));
    } else {
      const std::uint64_t length = as_unsigned(lengths[i], "a chunk length");
      if (length == 0) throw Error("a chunk length of dimension " + std::to_string(i) + " is zero");
      runs[i].push_back({length, std::max<std::uint64_t>(1, ceil_divide(shape[i], length))});
    }
  }
  return runs;
}

void parse_chunk_grid(const Json& value, ArrayMetadata& array) {
  const NamedConfiguration grid = parse_named_configuration(value, "\"chunk_grid\"");
  if (grid.name == "regular") {
    check_configuration(grid, "the chunk grid", {"chunk_shape"});
    array.chunk_shape =
        as_unsigned_list(required_member(grid.configuration, "chunk_shape"), "\"chunk_shape\"");
  } else if (grid.name == "rectilinear") {
    check_configuration(grid, "the chunk grid", {"kind", "chunk_shapes"});
    array.chunk_runs = parse_rectilinear(grid.configuration, array.shape);
  } else {
    throw Error("the chunk grid \"" + grid.name + "\" is not supported");
  }
}

std::vector<std::optional<std::string>> parse_dimension_names(const Json& document,
                                                              std::size_t rank) {
  std::vector<std::optional<std::string>> names(rank);
  const Json* member = find_member(document, "dimension_names");
  if (member == nullptr || member->is_null()) return names;
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

// The axes of a transpose as a list: GDAL 3.8 to 3.10, as the draft of the specification then,
// wrote "F" or "C".
void settle_transpose(CodecMetadata& codec, std::size_t rank) {
  const auto order = codec.configuration.find("order");
  if (order == codec.configuration.end() || (*order != "F" && *order != "C")) return;
  const bool is_reversed = *order == "F";
  Json axes = Json::array();
  for (std::size_t i = 0; i < rank; ++i) axes.push_back(is_reversed ? rank - 1 - i : i);
  *order = std::move(axes);
}

// GDAL 3.8 to 3.10 left out `bytes`, which it had no other than little-endian: uncompressed arrays
// have no `codecs` at all, others those that it knew. Nobody else's lists are completed.
std::vector<CodecMetadata> parse_codecs(const Json& document, const ArrayMetadata& array) {
  static constexpr std::array<std::string_view, 3> kWithoutBytes{"transpose", "blosc", "gzip"};
  const Json* list = find_member(document, "codecs");
  // There are no such bytes of elements of variable length.
  if (list == nullptr && array.data_type.is_variable()) required_member(document, "codecs");
  std::vector<CodecMetadata> codecs;
  if (list != nullptr) codecs = parse_codec_list(*list, "\"codecs\"");
  const bool is_complete =
      (list != nullptr && codecs.empty()) || array.data_type.is_variable() ||
      std::any_of(codecs.begin(), codecs.end(), [](const CodecMetadata& codec) {
        return std::find(kWithoutBytes.begin(), kWithoutBytes.end(), codec.name) ==
               kWithoutBytes.end();
      });
  for (CodecMetadata& codec : codecs) {
    if (codec.name == "transpose") settle_transpose(codec, array.shape.size());
  }
  if (is_complete) return codecs;
  CodecMetadata bytes{"bytes"};
  if (!byte_units(array.data_type).empty()) bytes.configuration["endian"] = "little";
  const auto behind_transposes =
      std::find_if(codecs.begin(), codecs.end(),
                   [](const CodecMetadata& codec) { return codec.name != "transpose"; });
  codecs.insert(behind_transposes, std::move(bytes));
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
  // The specification wants a value here; GDAL's driver writes null all the same.
  if (const Json& fill = required_member(document, "fill_value"); !fill.is_null()) {
    array.fill_value = parse_fill_value(fill, array.data_type);
  }
  array.fill_value_is_mandatory = true;
  array.codecs = parse_codecs(document, array);
  const Json* transformers = find_member(document, "storage_transformers");
  if (transformers != nullptr && !transformers->is_null()) {
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

class V3Format final : public Format {
 public:
  std::string_view name() const override { return "Zarr v3"; }

  std::optional<NodeMetadata> read_node(const DocumentSource& documents, const std::string& path,
                                        std::optional<NodeKind> /*wanted*/) const override {
    const std::string key = join_path(path, kNodeDocument);
    const auto document = documents.document(key);
    if (!document || is_draft_entry_point(*document)) return std::nullopt;
    return with_context(key, [&] { return parse_v3_node(*document, path); });
  }

  std::optional<ConsolidatedDocuments> read_consolidated(const DocumentSource& documents,
                                                         const std::string& path) const override {
    const std::string key = join_path(path, kNodeDocument);
    const auto text = documents.text(key);
    if (text == nullptr || !JsonMembers::is_object(text->text())) return std::nullopt;
    return with_context(
        key,
        [&]() -> std::optional<ConsolidatedDocuments> {
          std::string_view inline_text;
          Json document = Json::object();  // without the consolidated metadata
          for (JsonMembers members(text->text()); members.next();) {
            if (members.raw_key() == "consolidated_metadata") {
              inline_text = members.value();
            } else {
              document[unescape_json(members.raw_key())] = parse_json(members.value());
            }
          }
          if (inline_text.empty() || inline_text == "null") return std::nullopt;
          ConsolidatedDocuments consolidated;
          std::optional<Json> kind;
          bool has_metadata = false;
          for (JsonMembers members(inline_text); members.next();) {
            if (members.raw_key() == "kind") kind = parse_json(members.value());
            if (members.raw_key() != "metadata") continue;
            has_metadata = true;
            const std::string_view metadata = members.value();
            if (!metadata.starts_with('{')) throw Error("\"metadata\" is not an object");
            for (JsonMembers nodes(metadata); nodes.next();) {
              add_consolidated(consolidated, path, unescape_json(nodes.raw_key()), kNodeDocument,
                               {text, nodes.value()});
            }
          }
          if (!kind) throw Error("the member \"kind\" is missing");
          if (*kind != "inline") {
            throw Error("consolidated metadata of kind " + excerpt(*kind) + " is not supported");
          }
          if (!has_metadata) throw Error("the member \"metadata\" is missing");
          consolidated.documents.insert_or_assign(key, std::move(document));
          return consolidated;
        });
  }

  bool is_document(std::string_view file_name) const override { return file_name == kNodeDocument; }

  std::vector<Document> array_documents(const ArrayMetadata& array,
                                        const std::string& path) const override {
    const std::string key = join_path(path, kNodeDocument);
    return {
        {key, with_context(key, [&] { return make_v3_array_document(array); })}};
  }

  std::vector<Document> group_documents(const GroupMetadata& group,
                                        const std::string& path) const override {
    return {{join_path(path, kNodeDocument), make_v3_group_document(group)}};
  }

  const NewArrayRules* new_array_rules() const override {
    static constexpr NewArrayRules kRules{.key_encoding = {},
                                          .has_shards = true,
                                          .has_to_have_fill_value = true,
                                          .filters_take_arrays = true};
    return &kRules;
  }

  std::vector<std::string> node_keys(const std::string& path) const override {
    return {join_path(path, kNodeDocument)};
  }

  std::optional<std::string> consolidated_key(const std::string& path) const override {
    return join_path(path, kNodeDocument);
  }

  std::optional<Json> without_consolidated(const Json& document) const override {
    Json rest = document;
    rest.erase("consolidated_metadata");
    return std::make_optional(std::move(rest));
  }

  Document consolidated_document(const DocumentMap& documents,
                                 const std::string& path) const override {
    const std::string group_key = join_path(path, kNodeDocument);
    const auto group = documents.find(group_key);
    if (group == documents.end()) throw Error(group_key + ": there is no group to consolidate");
    Json content = group->second;
    Json metadata = Json::object();
    with_context(group_key,
                 [&] {
                   for (const auto& [key, document] : documents) {
                     const auto name = key_below(path, key);
                     if (!name || last_segment(key) != kNodeDocument || key == group_key) continue;
                     // Nested groups need not repeat what this one holds.
                     Json& copy = metadata[std::string(parent_path(*name))] = document;
                     copy.erase("consolidated_metadata");
                   }
                   content["consolidated_metadata"] = {{"kind", "inline"},
                                                       {"must_understand", false},
                                                       {"metadata", std::move(metadata)}};
                 });
    return {group_key, std::move(content)};
  }
};

}  // namespace

const Format& v3_format() {
  static const V3Format format;
  return format;
}

DataType parse_v3_data_type(const Json& value) {
  const NamedConfiguration type = parse_named_configuration(value, "\"data_type\"");
  const auto may_have = [&](std::initializer_list<std::string_view> members) {
    check_configuration(type, "the data type", members);
  };
  if (type.name == "fixed_length_utf32") {
    may_have({"length_bytes"});
    const std::uint64_t bytes = length_bytes(type);
    if (bytes % 4 != 0) {
      throw Error("the data type fixed_length_utf32 has elements of " + std::to_string(bytes) +
                  " bytes, which is not a multiple of 4");
    }
    return {TypeKind::fixed_utf32, bytes};
  }
  if (type.name == "null_terminated_bytes" || type.name == "raw_bytes") {
    may_have({"length_bytes"});
    const bool is_raw = type.name == "raw_bytes";
    return {is_raw ? TypeKind::raw : TypeKind::fixed_bytes, length_bytes(type)};
  }
  if (type.name == "numpy.datetime64" || type.name == "numpy.timedelta64") {
    may_have({"unit", "scale_factor"});
    const bool is_point = type.name == "numpy.datetime64";
    return parse_time(is_point ? TypeKind::datetime : TypeKind::timedelta, type);
  }
  if (type.name == "struct" || type.name == "structured") {
    may_have({"fields"});
    return parse_struct(type);
  }
  if (const auto core = parse_type_name(type.name)) {
    may_have({});
    return *core;
  }
  throw Error("the data type \"" + type.name + "\" is not supported");
}

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

}  // namespace zarrcore
