#include <algorithm>
#include <array>

#include "zarrcore/base/error.h"
#include "zarrcore/base/json.h"
#include "zarrcore/base/path.h"
#include "zarrcore/metadata/document_names.h"
#include "zarrcore/metadata/documents.h"
#include "zarrcore/metadata/format.h"
#include "zarrcore/metadata/numpy_array.h"

namespace zarrcore {
namespace {

// The attributes of an array or group, in their own document; empty when it does not exist.
Json read_attributes(const DocumentSource& documents, const std::string& path) {
  const std::string key = join_path(path, kV2AttributesDocument);
  auto document = documents.document(key);
  if (!document || document->is_null()) return Json::object();
  if (document->is_object()) return std::move(*document);
  throw Error(key + ": the document is " + std::string(describe_kind(*document)) +
              " where an object is expected");
}

// The model of a `.zarray` and the attributes of its `.zattrs` (v2 specification, "metadata").
ArrayMetadata parse_v2_array(const Json& document, const Json& attributes,
                             const std::string& path) {
  check_zarr_format(document, 2);
  std::optional<CodecMetadata> compressor;
  if (const Json* member = find_value(document, "compressor")) {
    compressor = parse_numcodec(*member, "\"compressor\"");
  }
  ArrayMetadata array = parse_numpy_array(document, attributes, find_member(document, "filters"),
                                          std::move(compressor));
  array.chunk_key_encoding = {ChunkKeyEncoding::Kind::v2,
                              parse_separator(document, "dimension_separator", '.')};
  static constexpr std::array<std::string_view, 9> kMembers{
      "zarr_format", "shape",      "chunks",
      "dtype",       "compressor", "fill_value",
      "filters",     "order",      "dimension_separator"};
  array.unknown_members = other_members(document, kMembers);
  array.chunk_prefix = path;
  return array;
}

// The inverse: a `.zarray`. Throws Error when v2 cannot express the array: a rectilinear grid, a
// codec that numcodecs does not have…
Json make_v2_array_document(const ArrayMetadata& array) {
  NumpyMembers members = make_numpy_members(array, "Zarr v2", ChunkKeyEncoding::Kind::v2);
  Json document = Json::object();
  document["zarr_format"] = 2;
  document["shape"] = array.shape;
  document["chunks"] = array.chunk_shape;
  document["dtype"] = std::move(members.dtype);
  document["compressor"] = std::move(members.compressor);
  document["fill_value"] = std::move(members.fill_value);
  document["order"] = members.is_reversed ? "F" : "C";
  document["filters"] = std::move(members.filters);
  if (array.chunk_key_encoding.separator == '/') document["dimension_separator"] = "/";
  add_members(document, array.unknown_members);
  return document;
}

std::optional<NodeMetadata> read_array(const DocumentSource& documents, const std::string& path) {
  const std::string key = join_path(path, kV2ArrayDocument);
  const auto document = documents.document(key);
  if (!document) return std::nullopt;
  return with_context(
      key, [&] { return parse_v2_array(*document, read_attributes(documents, path), path); });
}

std::optional<Json> read_group_document(const DocumentSource& documents, const std::string& path) {
  const std::string key = join_path(path, kV2GroupDocument);
  auto document = documents.document(key);
  if (document) with_context(key, [&] { check_zarr_format(*document, 2); });
  return document;
}

std::optional<NodeMetadata> read_group(const DocumentSource& documents, const std::string& path) {
  const auto document = read_group_document(documents, path);
  if (!document) return std::nullopt;
  // In .zmetadata, zarr-python 3 puts the consolidated metadata of v3 here, without nodes. If a
  // group's own document has that, zarr-python 3.0 sees no nodes below it.
  static constexpr std::array<std::string_view, 2> kMembers{"zarr_format", "consolidated_metadata"};
  return GroupMetadata{read_attributes(documents, path), other_members(*document, kMembers)};
}

class V2Format final : public Format {
 public:
  std::string_view name() const override { return "Zarr v2"; }

  std::optional<NodeMetadata> read_node(const DocumentSource& documents, const std::string& path,
                                        std::optional<NodeKind> wanted) const override {
    std::optional<NodeMetadata> node;
    if (wanted != NodeKind::group) node = read_array(documents, path);
    if (!node && wanted != NodeKind::array) node = read_group(documents, path);
    return node;
  }

  std::vector<std::string> keys_to_read(const std::string& path,
                                        std::optional<NodeKind> wanted) const override {
    std::vector<std::string> keys{join_path(path, kV2AttributesDocument)};
    if (wanted != NodeKind::group) keys.push_back(join_path(path, kV2ArrayDocument));
    if (wanted != NodeKind::array) keys.push_back(join_path(path, kV2GroupDocument));
    return keys;
  }

  std::optional<NodeKind> find_kind(const DocumentSource& documents,
                                    const std::string& path) const override {
    if (documents.has(join_path(path, kV2ArrayDocument))) return NodeKind::array;
    if (documents.has(join_path(path, kV2GroupDocument))) return NodeKind::group;
    return std::nullopt;
  }

  std::optional<bool> find_group(const DocumentSource& documents,
                                 const std::string& path) const override {
    return read_group_document(documents, path).has_value();
  }

  std::optional<ConsolidatedDocuments> read_consolidated(const DocumentSource& documents,
                                                         const std::string& path) const override {
    const std::string key = join_path(path, kV2ConsolidatedDocument);
    const auto text = documents.text(key);
    if (text == nullptr) return std::nullopt;
    return with_context(key, [&] {
      if (!JsonMembers::is_object(text->text())) {
        throw Error("the document is " + std::string(describe_kind(parse_json(text->text()))) +
                    " where an object is expected");
      }
      std::optional<Json> format;
      std::string_view metadata;
      for (JsonMembers members(text->text()); members.next();) {
        if (members.raw_key() == "zarr_consolidated_format") format = parse_json(members.value());
        if (members.raw_key() == "metadata") metadata = members.value();
        // These arrays have their chunks elsewhere: here all chunks would seem to be missing.
        if (members.raw_key() == "record_size") {
          throw Error("it belongs to Kerchunk references in Parquet files");
        }
      }
      // Not every writer states the format, of which there is only one.
      if (format && *format != 1) {
        throw Error("\"zarr_consolidated_format\" is " + excerpt(*format) + ", not 1");
      }
      if (metadata.empty()) throw Error("the member \"metadata\" is missing");
      ConsolidatedDocuments consolidated;
      add_consolidated(consolidated, path, text, metadata, "");
      return consolidated;
    });
  }

  bool is_document(std::string_view file_name) const override {
    return file_name == kV2ArrayDocument || file_name == kV2GroupDocument ||
           file_name == kV2AttributesDocument || file_name == kV2ConsolidatedDocument;
  }

  std::vector<Document> array_documents(const ArrayMetadata& array,
                                        const std::string& path) const override {
    const std::string key = join_path(path, kV2ArrayDocument);
    return {{key, with_context(key, [&] { return make_v2_array_document(array); })},
            {join_path(path, kV2AttributesDocument), attributes_with_dimension_names(array)}};
  }

  std::vector<Document> group_documents(const GroupMetadata& group,
                                        const std::string& path) const override {
    Json document = {{"zarr_format", 2}};
    add_members(document, group.unknown_members);
    return {{join_path(path, kV2GroupDocument), std::move(document)},
            {join_path(path, kV2AttributesDocument), group.attributes}};
  }

  const NewArrayRules* new_array_rules() const override {
    static constexpr NewArrayRules kRules{.key_kind = ChunkKeyEncoding::Kind::v2,
                                          .key_separator = '.',
                                          .compressor_comes_last = true};
    return &kRules;
  }

  std::vector<std::string> node_keys(const std::string& path) const override {
    return {join_path(path, kV2ArrayDocument), join_path(path, kV2GroupDocument),
            join_path(path, kV2AttributesDocument), join_path(path, kV2ConsolidatedDocument)};
  }

  std::optional<std::string> consolidated_key(const std::string& path) const override {
    return join_path(path, kV2ConsolidatedDocument);
  }

  Document consolidated_document(const DocumentMap& documents,
                                 const std::string& path) const override {
    static constexpr std::array<std::string_view, 3> kNames{kV2ArrayDocument, kV2GroupDocument,
                                                            kV2AttributesDocument};
    Json content = Json::object();
    content["zarr_consolidated_format"] = 1;
    Json& metadata = content["metadata"] = Json::object();
    for (const auto& [key, document] : documents) {
      const auto name = key_below(path, key);
      if (name && std::find(kNames.begin(), kNames.end(), last_segment(key)) != kNames.end()) {
        metadata[std::string(*name)] = document;
      }
    }
    return {join_path(path, kV2ConsolidatedDocument), std::move(content)};
  }

  std::string document_text(const Json& content) const override {
    // zarr-python 2 reads metadata as ASCII.
    return dump_json(content, {.indentation = 2, .is_ascii = true, .as_read = true});
  }
};

}  // namespace

const Format& v2_format() {
  static const auto& format = *new V2Format;
  return format;
}

}  // namespace zarrcore
