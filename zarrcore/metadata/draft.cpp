#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"
#include "zarrcore/dtype/data_type.h"
#include "zarrcore/metadata/document_names.h"
#include "zarrcore/metadata/documents.h"
#include "zarrcore/metadata/fill_value.h"
#include "zarrcore/metadata/format.h"
#include "zarrcore/metadata/numpy_array.h"

namespace zarrcore {
namespace {

constexpr std::string_view kEntryPoint = kNodeDocument;
constexpr std::string_view kMetaRoot = "meta/root";
constexpr std::string_view kDataRoot = "data/root";
// Where zarr-python stores consolidated metadata, as if it were a node.
constexpr std::string_view kConsolidated = "consolidated";

// Refuses extensions that a reader must understand ("extensions").
void check_extensions(const Json& document) {
  const Json* extensions = find_member(document, "extensions");
  if (extensions == nullptr || !extensions->is_array()) return;
  for (const Json& extension : *extensions) {
    const Json* must = find_member(extension, "must_understand");
    if (must != nullptr && must->is_boolean() && !must->get<bool>()) continue;
    const Json* name = find_member(extension, "extension");
    throw Error("the extension " + (name != nullptr ? excerpt(*name) : excerpt(extension)) +
                " is not supported");
  }
}

// The suffix of documents (".json"), or nullopt when the store has no entry point of the draft.
std::optional<std::string> key_suffix(const DocumentSource& documents) {
  const std::string key(kEntryPoint);
  const auto entry = documents.document(key);
  if (!entry || !is_draft_entry_point(*entry)) return std::nullopt;
  return with_context(key, [&] {
    check_extensions(*entry);
    const std::string* suffix = find_string(*entry, "metadata_key_suffix");
    return suffix != nullptr ? *suffix : std::string(".json");
  });
}

// "bool", "r16", "<i4": the core types; those without a byte order have names of v3.
std::optional<NumpyDtype> parse_core_type(const Json& value) {
  const std::string* name = as_string(value);
  const auto core = name != nullptr ? parse_type_name(*name) : std::nullopt;
  if (core && byte_units(*core).empty()) return NumpyDtype{*core, {}, false};
  const auto numpy = name != nullptr ? parse_numpy_type(*name) : std::nullopt;
  const bool is_core =
      numpy && (numpy->type.is_integer() || numpy->type.kind == TypeKind::floating ||
                numpy->type.kind == TypeKind::boolean);
  return is_core ? std::optional(parse_numpy_dtype(value)) : std::nullopt;
}

// Reads a NumPy type string or a core type; or an extension, whose type is also a type string. An
// unknown extension is read as its fallback, which has to be a core type ("extension data types").
NumpyDtype parse_data_type(const Json& value) {
  if (!value.is_object()) {
    const auto core = parse_core_type(value);
    return core ? *core : parse_numpy_dtype(value);
  }
  // zarr-python never names a fallback.
  static constexpr std::array<std::string_view, 2> kKnown{
      "https://purl.org/zarr/spec/protocol/extensions/complex-dtypes/1.0",
      "https://purl.org/zarr/spec/protocol/extensions/datetime-dtypes/1.0"};
  const Json* extension = find_member(value, "extension");
  const Json* fallback = find_member(value, "fallback");
  const bool is_known =
      extension != nullptr && std::ranges::any_of(kKnown, [&](std::string_view known) {
        const std::string* name = as_string(*extension);
        return name != nullptr && *name == known;
      });
  if (!is_known && fallback != nullptr && !fallback->is_null()) {
    if (const auto core = parse_core_type(*fallback)) return *core;
    throw Error("the data type " + excerpt(required_member(value, "type")) + " of the extension " +
                (extension != nullptr ? excerpt(*extension) : "without a name") +
                " is not supported");
  }
  return parse_numpy_dtype(required_member(value, "type"));
}

// "https://purl.org/zarr/spec/codec/gzip/1.0": the name is the second last part.
std::optional<CodecMetadata> parse_compressor(const Json& document) {
  const Json* compressor = find_value(document, "compressor");
  if (compressor == nullptr) return std::nullopt;
  const Json& uri = required_member(*compressor, "codec");
  const std::string text = uri.is_string() ? uri.get<std::string>() : std::string();
  const std::string_view name = last_segment(parent_path(text));
  if (name.empty()) throw Error("the codec " + excerpt(uri) + " is not supported");
  return make_numcodec(name, object_member(*compressor, "configuration"));
}

ArrayMetadata parse_draft_array(const Json& document, const std::string& path) {
  check_extensions(document);
  const Json* transformers = find_member(document, "storage_transformers");
  if (transformers != nullptr && !transformers->empty()) {
    throw Error("the storage transformers " + excerpt(*transformers) + " are not supported");
  }
  ArrayMetadata array;
  array.shape = parse_shape(document);
  const Json& grid = required_member(document, "chunk_grid");
  if (const Json& type = required_member(grid, "type"); type != "regular") {
    throw Error("the chunk grid " + excerpt(type) + " is not supported");
  }
  static constexpr std::array<std::string_view, 3> kGridMembers{"type", "chunk_shape", "separator"};
  if (const Json others = other_members(grid, kGridMembers); !others.empty()) {
    throw Error("the chunk grid has a member \"" + others.begin().key() +
                "\" that is not supported");
  }
  array.chunk_shape = parse_lengths(required_member(grid, "chunk_shape"), "\"chunk_shape\"");
  array.chunk_key_encoding = {ChunkKeyEncoding::Kind::draft,
                              parse_separator(grid, "separator", '/')};
  array.attributes = object_member(document, "attributes");
  // The draft has no member for filters; zarr-python stores them among the attributes.
  const Json filters = array.attributes.value("filters", Json());
  const bool has_filters =
      filters.is_array() && !filters.empty() && filters[0].is_object() && filters[0].contains("id");
  if (has_filters) array.attributes.erase("filters");
  NumpyDtype dtype = parse_data_type(required_member(document, "data_type"));
  array.codecs = make_codecs(dtype,
                             {parse_is_reversed(document, "chunk_memory_layout"),
                              has_filters ? &filters : nullptr, parse_compressor(document)},
                             array.shape.size());
  array.data_type = dtype.type;
  array.fill_value = parse_optional_fill_value(document, dtype);
  array.dimension_names = take_dimension_names(array.attributes, array.shape.size());
  array.chunk_prefix = join_path(kDataRoot, path);
  return array;
}

std::optional<ArrayMetadata> read_array(const DocumentSource& documents, const std::string& path,
                                        const std::string& suffix) {
  const std::string key = join_path(kMetaRoot, path) + ".array" + suffix;
  const auto document = documents.document(key);
  if (!document) return std::nullopt;
  return with_context(key, [&] { return parse_draft_array(*document, path); });
}

// Returns true if there is a group at the root: it has a document, or nodes below it.
bool root_is_group(const DocumentSource& documents, const std::string& suffix) {
  if (documents.has(std::string(kMetaRoot) + ".group" + suffix)) return true;
  const DirectoryListing below = documents.list(std::string(kMetaRoot));
  return !below.is_empty();
}

// The members that an update may change; all others stay as they are stored.
Json make_array_changes(const ArrayMetadata& array) {
  Json members = Json::object();
  members["shape"] = array.shape;
  members["fill_value"] =
      array.fill_value ? format_fill_value(*array.fill_value, array.data_type) : Json();
  members["attributes"] = attributes_with_dimension_names(array);
  return members;
}

// zarr-python knows these compressors, by such names.
Json make_compressor(Json numcodec) {
  Json compressor = Json::object();
  compressor["codec"] =
      "https://purl.org/zarr/spec/codec/" + numcodec["id"].get<std::string>() + "/1.0";
  numcodec.erase("id");
  compressor["configuration"] = std::move(numcodec);
  return compressor;
}

// The inverse of parse_data_type(), for a NumPy type: as zarr-python has it, which gives types
// outside the core these names.
Json make_data_type(const Json& dtype) {
  const std::string* text = as_string(dtype);
  if (dtype == "|b1") return "bool";
  if (dtype == "|i1" || dtype == "|u1") return text->substr(1);
  const char kind = text != nullptr && text->size() > 1 ? (*text)[1] : 'V';
  const char* extension = nullptr;
  switch (kind) {
    case 'i':
    case 'u':
    case 'f':
      return dtype;
    case 'c':
      extension = "https://purl.org/zarr/spec/protocol/extensions/complex-dtypes/1.0";
      break;
    case 'M':
    case 'm':
      extension = "https://purl.org/zarr/spec/protocol/extensions/datetime-dtypes/1.0";
      break;
    default:  // texts, objects and structures, as NumPy's array interface spells them
      extension = "https://numpy.org/doc/stable/reference/arrays.interface.html";
  }
  Json type = Json::object();
  type["extension"] = extension;
  type["type"] = dtype;
  type["fallback"] = nullptr;
  return type;
}

Json make_array_document(const ArrayMetadata& array) {
  NumpyMembers members =
      make_numpy_members(array, "the draft of 2020", ChunkKeyEncoding::Kind::draft);
  Json document = Json::object();
  document["shape"] = array.shape;
  document["data_type"] = make_data_type(members.dtype);
  Json& grid = document["chunk_grid"] = Json::object();
  grid["type"] = "regular";
  grid["chunk_shape"] = array.chunk_shape;
  grid["separator"] = std::string(1, array.chunk_key_encoding.separator);
  document["chunk_memory_layout"] = members.is_reversed ? "F" : "C";
  if (!members.compressor.is_null()) {
    document["compressor"] = make_compressor(std::move(members.compressor));
  }
  document["fill_value"] = std::move(members.fill_value);
  document["extensions"] = Json::array();
  Json& attributes = document["attributes"] = attributes_with_dimension_names(array);
  if (!members.filters.is_null()) attributes["filters"] = std::move(members.filters);
  return document;
}

class DraftFormat final : public Format {
 public:
  DraftFormat() = default;
  // The format of a store whose documents have this suffix.
  explicit DraftFormat(std::string suffix) : suffix_(std::move(suffix)) {}

  std::string_view name() const override { return "Zarr v3 draft of 2020"; }

  std::unique_ptr<const Format> for_store(const DocumentSource& documents) const override {
    auto suffix = key_suffix(documents);
    return suffix ? std::make_unique<DraftFormat>(std::move(*suffix)) : nullptr;
  }

  std::optional<NodeMetadata> read_node(const DocumentSource& documents, const std::string& path,
                                        std::optional<NodeKind> /*wanted*/) const override {
    const auto suffix = suffix_in(documents);
    if (!suffix) return std::nullopt;
    const std::string prefix = join_path(kMetaRoot, path);
    if (!path.empty() || !root_is_group(documents, *suffix)) {
      if (auto array = read_array(documents, path, *suffix)) return std::move(*array);
    }
    if (const std::string key = prefix + ".group" + *suffix;
        const auto document = documents.document(key)) {
      return with_context(key, [&] {
        check_extensions(*document);
        return GroupMetadata{object_member(*document, "attributes")};
      });
    }
    // A group without a document is implied by documents below it; the root always exists.
    const DirectoryListing below = documents.list(prefix);
    if (path.empty() || !below.is_empty()) return GroupMetadata{};
    return std::nullopt;
  }

  std::optional<ArrayMetadata> read_root_array(const DocumentSource& documents) const override {
    const auto suffix = suffix_in(documents);
    if (!suffix || !root_is_group(documents, *suffix)) return std::nullopt;
    return read_array(documents, "", *suffix);
  }

  std::vector<std::string> child_names(const DocumentSource& documents,
                                       const std::string& path) const override {
    const std::string suffix = suffix_in(documents).value_or("");
    DirectoryListing below = documents.list(join_path(kMetaRoot, path));
    std::vector<std::string> names = std::move(below.prefixes);
    for (const std::string& key : below.keys) {
      for (const std::string& ending : {".array" + suffix, ".group" + suffix}) {
        if (key.ends_with(ending)) names.push_back(key.substr(0, key.size() - ending.size()));
      }
    }
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    std::erase_if(names, [](const std::string& name) { return !is_valid_segment(name); });
    if (path.empty()) std::erase(names, kConsolidated);
    return names;
  }

  bool is_document(std::string_view file_name) const override { return file_name == kEntryPoint; }

  std::vector<Document> array_documents(const ArrayMetadata& array,
                                        const std::string& path) const override {
    const std::string key = array_key(path);
    return {{key, with_context(key, [&] { return make_array_changes(array); })}};
  }
  std::vector<Document> new_array_documents(const ArrayMetadata& array,
                                            const std::string& path) const override {
    const std::string key = array_key(path);
    return {{key, with_context(key, [&] { return make_array_document(array); })}};
  }
  bool has_whole_documents() const override { return false; }
  // Only for new nodes in an existing store.
  const NewArrayRules* new_array_rules() const override {
    static constexpr NewArrayRules kRules{
        .key_kind = ChunkKeyEncoding::Kind::draft,
        .compressor_comes_last = true,
    };
    return suffix_ ? &kRules : nullptr;
  }
  std::vector<Document> group_documents(const GroupMetadata& group,
                                        const std::string& path) const override {
    return {{group_key(path), {{"extensions", Json::array()}, {"attributes", group.attributes}}}};
  }
  std::vector<std::string> node_keys(const std::string& path) const override {
    return {array_key(path), group_key(path)};
  }
  std::vector<std::string> node_prefixes(const std::string& path) const override {
    return {join_path(kMetaRoot, path), join_path(kDataRoot, path)};
  }

 private:
  std::optional<std::string> suffix_in(const DocumentSource& documents) const {
    return suffix_ ? suffix_ : key_suffix(documents);
  }
  std::string array_key(const std::string& path) const { return document_key(path, ".array"); }
  std::string group_key(const std::string& path) const { return document_key(path, ".group"); }
  std::string document_key(const std::string& path, std::string_view kind) const {
    if (!suffix_) throw Error("new stores of the 2020 draft cannot be written");
    return join_path(kMetaRoot, path).append(kind).append(*suffix_);
  }

  std::optional<std::string> suffix_;  // of documents; nullopt if each store has its own
};

}  // namespace

const Format& draft_format() {
  static const auto& format = *new DraftFormat;
  return format;
}

bool is_draft_entry_point(const Json& document) {
  const std::string* format = find_string(document, "zarr_format");
  return format != nullptr && format->starts_with("http");
}

}  // namespace zarrcore
