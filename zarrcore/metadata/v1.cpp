#include <array>

#include "zarrcore/base/error.h"
#include "zarrcore/metadata/document_names.h"
#include "zarrcore/metadata/documents.h"
#include "zarrcore/metadata/format.h"
#include "zarrcore/metadata/numpy_array.h"

namespace zarrcore {
namespace {

// `compression` is the id of a codec, `compression_opts` its configuration, or only its level if
// the codec has no other option.
std::optional<CodecMetadata> parse_compression(const Json& document) {
  const Json* compression = find_value(document, "compression");
  if (compression == nullptr || *compression == "none") {
    return std::nullopt;
  }
  if (!compression->is_string()) throw Error("\"compression\" is neither a string nor null");
  CodecMetadata codec{"numcodecs." + compression->get<std::string>()};
  if (const Json* options = find_value(document, "compression_opts")) {
    if (options->is_object()) {
      codec.configuration = *options;
    } else {
      codec.configuration["level"] = *options;
    }
  }
  return codec;
}

// Writes a numcodecs configuration, or null, to the members that parse_compression() reads.
void put_compression(Json& document, Json compressor) {
  document["compression"] = "none";
  document["compression_opts"] = nullptr;
  if (compressor.is_null()) return;
  document["compression"] = compressor["id"];
  compressor.erase("id");
  const bool has_level_alone = compressor.size() == 1 && compressor.contains("level");
  if (has_level_alone) {
    document["compression_opts"] = compressor["level"];
  } else if (!compressor.empty()) {
    document["compression_opts"] = std::move(compressor);
  }
}

// The model of a `meta` document with the attributes of `attrs` (v1 specification).
ArrayMetadata parse_v1_array(const Json& document, const Json& attributes) {
  check_zarr_format(document, 1);
  if (!attributes.is_object()) throw Error("\"attrs\" is not an object");
  ArrayMetadata array =
      parse_numpy_array(document, attributes, nullptr, parse_compression(document));
  array.chunk_key_encoding = {ChunkKeyEncoding::Kind::v2, '.'};
  static constexpr std::array<std::string_view, 8> kMembers{
      "zarr_format",      "shape",      "chunks", "dtype", "compression",
      "compression_opts", "fill_value", "order"};
  array.unknown_members = other_members(document, kMembers);
  return array;
}

// The inverse. Throws Error when v1 cannot express the array.
Json make_v1_array_document(const ArrayMetadata& array) {
  constexpr std::string_view kFormat = "Zarr v1";
  if (array.chunk_key_encoding != ChunkKeyEncoding{ChunkKeyEncoding::Kind::v2, '.'}) {
    throw Error(std::string(kFormat) + " cannot express the chunk keys of this array");
  }
  NumpyMembers members = make_numpy_members(array, kFormat, array.chunk_key_encoding.kind);
  if (!members.filters.is_null()) {
    throw Error(std::string(kFormat) + " cannot express the filter " +
                excerpt(members.filters[0]["id"]));
  }
  Json document = Json::object();
  document["zarr_format"] = 1;
  document["shape"] = array.shape;
  document["chunks"] = array.chunk_shape;
  document["dtype"] = std::move(members.dtype);
  put_compression(document, std::move(members.compressor));
  document["fill_value"] = std::move(members.fill_value);
  document["order"] = members.is_reversed ? "F" : "C";
  add_members(document, array.unknown_members);
  return document;
}

class V1Format final : public Format {
 public:
  std::string_view name() const override { return "Zarr v1"; }

  std::optional<NodeMetadata> read_node(const DocumentSource& documents, const std::string& path,
                                        std::optional<NodeKind> /*wanted*/) const override {
    if (!path.empty()) return std::nullopt;
    const std::string key(kV1ArrayDocument);
    const auto document = documents.document(key);
    if (!document) return std::nullopt;
    const auto attributes = documents.document(std::string(kV1AttributesDocument));
    return with_context(
        key, [&] { return parse_v1_array(*document, attributes.value_or(Json::object())); });
  }

  std::vector<std::string> child_names(const DocumentSource& /*documents*/,
                                       const std::string& /*path*/) const override {
    return {};
  }

  // The names are too common to recognize a node.
  bool is_document(std::string_view /*file_name*/) const override { return false; }

  std::vector<Document> array_documents(const ArrayMetadata& array,
                                        const std::string& path) const override {
    if (!path.empty()) throw Error("Zarr v1 has one array, at the root of the store");
    const std::string key(kV1ArrayDocument);
    return {{key, with_context(key, [&] { return make_v1_array_document(array); })},
            {std::string(kV1AttributesDocument), attributes_with_dimension_names(array)}};
  }

  // A new store is an empty group until it gets its array.
  std::vector<Document> group_documents(const GroupMetadata& group,
                                        const std::string& path) const override {
    if (path.empty() && group.attributes.empty()) return {};
    throw Error("Zarr v1 has no groups");
  }

  const NewArrayRules* new_array_rules() const override {
    static constexpr NewArrayRules kRules{
        .key_kind = ChunkKeyEncoding::Kind::v2,
        .key_separator = '.',
        .compressor_comes_last = true,
        .is_single_array = true,
    };
    return &kRules;
  }

  std::vector<std::string> node_keys(const std::string& path) const override {
    if (!path.empty()) return {};
    return {std::string(kV1ArrayDocument), std::string(kV1AttributesDocument)};
  }

  std::string document_text(const Json& content) const override {
    // zarr-python reads metadata as ASCII.
    return dump_json(content, {.indentation = 2, .is_ascii = true, .as_read = true});
  }
};

}  // namespace

const Format& v1_format() {
  static const auto& format = *new V1Format;
  return format;
}

}  // namespace zarrcore
