#include "zarrcore/base/error.h"
#include "zarrcore/base/json.h"
#include "zarrcore/base/path.h"
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

}  // namespace zarrcore
