#include "zarrcore/metadata/v1.h"

#include <array>

#include "zarrcore/base/error.h"
#include "zarrcore/metadata/members.h"
#include "zarrcore/metadata/numpy_array.h"

namespace zarrcore {
namespace {

constexpr std::string_view kArrayDocument = "meta";
constexpr std::string_view kAttributesDocument = "attrs";

// `compression` is the id of a codec, `compression_opts` its configuration, or for those that have
// nothing but a level this number.
std::optional<CodecMetadata> parse_compression(const Json& document) {
  const Json* compression = find_member(document, "compression");
  if (compression == nullptr || compression->is_null() || *compression == "none") {
    return std::nullopt;
  }
  if (!compression->is_string()) throw Error("\"compression\" is neither a string nor null");
  CodecMetadata codec{"numcodecs." + compression->get<std::string>()};
  if (const Json* options = find_member(document, "compression_opts");
      options != nullptr && !options->is_null()) {
    if (options->is_object()) {
      codec.configuration = *options;
    } else {
      codec.configuration["level"] = *options;
    }
  }
  return codec;
}

class V1Format final : public Format {
 public:
  std::string_view name() const override { return "Zarr v1"; }

  std::optional<NodeMetadata> read_node(const DocumentSource& documents,
                                        const std::string& path) const override {
    if (!path.empty()) return std::nullopt;
    const std::string key(kArrayDocument);
    const auto document = documents.document(key);
    if (!document) return std::nullopt;
    const auto attributes = documents.document(std::string(kAttributesDocument));
    return with_context(
        [&] { return key; },
        [&] { return parse_v1_array(*document, attributes.value_or(Json::object())); });
  }

  std::optional<ConsolidatedDocuments> read_consolidated(
      const DocumentSource& /*documents*/, const std::string& /*path*/) const override {
    return std::nullopt;
  }

  std::vector<std::string> child_names(const DocumentSource& /*documents*/,
                                       const std::string& /*path*/) const override {
    return {};
  }

  // The names are too common to tell by.
  bool is_document(std::string_view /*file_name*/) const override { return false; }
};

}  // namespace

const Format& v1_format() {
  static const V1Format format;
  return format;
}

ArrayMetadata parse_v1_array(const Json& document, const Json& attributes) {
  check_zarr_format(document, 1);
  ArrayMetadata array;
  array.shape = parse_shape(document);
  array.chunk_shape = as_unsigned_list(required_member(document, "chunks"), "\"chunks\"");
  NumpyDtype dtype = parse_numpy_dtype(required_member(document, "dtype"));
  array.codecs = make_codecs(
      dtype, {parse_is_reversed(document, "order"), nullptr, parse_compression(document)},
      array.shape.size());
  array.data_type = dtype.type;
  array.fill_value = parse_optional_fill_value(document, dtype);
  array.chunk_key_encoding = {ChunkKeyEncoding::Kind::v2, '.'};
  if (!attributes.is_object()) throw Error("\"attrs\" is not an object");
  static constexpr std::array<std::string_view, 8> kMembers{
      "zarr_format",      "shape",      "chunks", "dtype", "compression",
      "compression_opts", "fill_value", "order"};
  array.unknown_members = other_members(document, kMembers);
  array.attributes = attributes;
  array.dimension_names = take_dimension_names(array.attributes, array.shape.size());
  return array;
}

}  // namespace zarrcore
