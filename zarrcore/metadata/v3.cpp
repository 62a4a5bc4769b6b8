#include <initializer_list>
#include <set>
#include <utility>

#include "zarrcore/base/error.h"
#include "zarrcore/base/json.h"
#include "zarrcore/base/path.h"
#include "zarrcore/metadata/codec_metadata.h"
#include "zarrcore/metadata/document_names.h"
#include "zarrcore/metadata/documents.h"
#include "zarrcore/metadata/format.h"

namespace zarrcore {
namespace {

class V3Format final : public Format {
 public:
  std::string_view name() const override { return "Zarr v3"; }

  // v3 core specification, "Node names".
  std::string_view name_problem(std::string_view name) const override {
    // xarray gives it to an array without a name, in v3 as well.
    constexpr std::string_view kNameOfXarray = "__xarray_dataarray_variable__";
    if (name.find_first_not_of('.') == std::string_view::npos) return "it consists of periods only";
    if (name.starts_with("__") && name != kNameOfXarray) return "Zarr v3 reserves the prefix __";
    return {};
  }

  std::optional<NodeMetadata> read_node(const DocumentSource& documents, const std::string& path,
                                        std::optional<NodeKind> /*wanted*/) const override {
    const std::string key = join_path(path, kNodeDocument);
    const auto document = documents.document(key);
    if (!document || is_draft_entry_point(*document)) return std::nullopt;
    return with_context(key, [&] { return parse_v3_node(*document, path); });
  }

  std::vector<std::string> keys_to_read(const std::string& path,
                                        std::optional<NodeKind> /*wanted*/) const override {
    return {join_path(path, kNodeDocument)};
  }

  std::optional<ConsolidatedDocuments> read_consolidated(const DocumentSource& documents,
                                                         const std::string& path) const override {
    const std::string key = join_path(path, kNodeDocument);
    const auto text = documents.text(key);
    if (text == nullptr || !JsonMembers::is_object(text->text())) return std::nullopt;
    return with_context(key, [&]() -> std::optional<ConsolidatedDocuments> {
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
        add_consolidated(consolidated, path, text, members.value(), kNodeDocument);
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
    return {{key, with_context(key, [&] { return make_v3_array_document(array); })}};
  }

  std::vector<Document> group_documents(const GroupMetadata& group,
                                        const std::string& path) const override {
    return {{join_path(path, kNodeDocument), make_v3_group_document(group)}};
  }

  const NewArrayRules* new_array_rules() const override {
    static constexpr NewArrayRules kRules{.has_shards = true,
                                          .fill_value_is_mandatory = true,
                                          .fill_value_attribute_is_base64 = true,
                                          .filters_take_arrays = true,
                                          .prefers_variable_strings = true};
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
    if (group == documents.end()) throw Error(group_key + ": no such group to consolidate");
    Json content = group->second;
    Json metadata = Json::object();
    with_context(group_key, [&] {
      for (const auto& [key, document] : documents) {
        const auto name = key_below(path, key);
        if (!name || last_segment(key) != kNodeDocument || key == group_key) continue;
        // Nested groups need not repeat what this one holds.
        Json& copy = metadata[std::string(parent_path(*name))] = document;
        copy.erase("consolidated_metadata");
      }
      content["consolidated_metadata"] = {
          {"kind", "inline"}, {"must_understand", false}, {"metadata", std::move(metadata)}};
    });
    return {group_key, std::move(content)};
  }
};

}  // namespace

const Format& v3_format() {
  static const auto& format = *new V3Format;
  return format;
}

namespace {

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
  if (!name) throw Error("the data type " + named.name + " has the unknown unit " + excerpt(unit));
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
    if (!name.is_string()) throw Error("the name of a field is not a string");
    fields.push_back({name.get<std::string>(),
                      parse_v3_data_type(is_pair ? item[1] : required_member(item, "data_type"))});
  }
  return make_structure(std::move(fields));
}

Json make_struct(const DataType& type) {
  if (type.is_optional) {
    const Json inner = make_v3_data_type((*type.fields)[1].type);
    NamedConfiguration named{type_name(type), inner.is_string() ? Json{{"name", inner}} : inner};
    named.configuration.emplace("configuration", Json::object());
    return format_named_configuration(named);
  }
  Json fields = Json::array();
  std::set<std::string_view> names;
  for (const Field& field : *type.fields) {
    if (field.count != 1 || !field.shape.empty()) {
      throw Error("Zarr v3 cannot express the field \"" + field.name + "\" of several elements");
    }
    if (!names.insert(field.name).second) {
      throw Error("Zarr v3 cannot express two fields \"" + field.name + "\"");
    }
    fields.push_back({{"name", field.name}, {"data_type", make_v3_data_type(field.type)}});
  }
  return format_named_configuration({"struct", {{"fields", std::move(fields)}}});
}

}  // namespace

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
  if (type.name == "null_terminated_bytes" || type.name == "raw_bytes" || type.name == "raw_bits") {
    may_have({"length_bytes"});
    const bool is_raw = type.name != "null_terminated_bytes";
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
  if (type.name == "zarrs.optional") {
    may_have({"name", "configuration"});
    return make_optional(parse_v3_data_type(type.configuration));
  }
  if (const auto core = parse_type_name(type.name)) {
    may_have({});
    return *core;
  }
  throw Error("the data type \"" + type.name + "\" is not supported");
}

Json make_v3_data_type(const DataType& type) {
  const auto with_length = [&] {
    return format_named_configuration({type_name(type), {{"length_bytes", type.item_size}}});
  };
  switch (type.kind) {
    case TypeKind::datetime:
    case TypeKind::timedelta:
      return format_named_configuration(
          {type_name(type),
           {{"unit", std::string(type.time_unit.name)}, {"scale_factor", type.time_unit.count}}});
    case TypeKind::fixed_bytes:
    case TypeKind::fixed_utf32:
      return with_length();
    case TypeKind::structure:
      return make_struct(type);
    default:
      return type_name(type);
  }
}

}  // namespace zarrcore
