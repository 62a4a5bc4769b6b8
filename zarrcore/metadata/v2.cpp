#include "zarrcore/metadata/v2.h"

#include <array>

#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"
#include "zarrcore/metadata/members.h"
#include "zarrcore/metadata/numpy_array.h"

namespace zarrcore {
namespace {

constexpr std::string_view kArrayDocument = ".zarray";
constexpr std::string_view kGroupDocument = ".zgroup";
constexpr std::string_view kAttributesDocument = ".zattrs";
constexpr std::string_view kConsolidatedDocument = ".zmetadata";

// The attributes that stand beside an array or group; none when there is no document.
Json read_attributes(const DocumentSource& documents, const std::string& path) {
  const std::string key = join_path(path, kAttributesDocument);
  auto document = documents.document(key);
  if (!document || document->is_null()) return Json::object();
  if (document->is_object()) return std::move(*document);
  throw Error(key + ": the document is " + std::string(describe_kind(*document)) +
              " where an object is expected");
}

class V2Format final : public Format {
 public:
  std::string_view name() const override { return "Zarr v2"; }

  std::optional<NodeMetadata> read_node(const DocumentSource& documents,
                                        const std::string& path) const override {
    if (const std::string key = join_path(path, kArrayDocument);
        const auto document = documents.document(key)) {
      return with_context([&] { return key; },
                          [&]() -> NodeMetadata {
                            return parse_v2_array(*document, read_attributes(documents, path),
                                                  path);
                          });
    }
    if (const std::string key = join_path(path, kGroupDocument);
        const auto document = documents.document(key)) {
      with_context([&] { return key; }, [&] { check_zarr_format(*document, 2); });
      static constexpr std::array<std::string_view, 1> kMembers{"zarr_format"};
      return GroupMetadata{read_attributes(documents, path), other_members(*document, kMembers)};
    }
    return std::nullopt;
  }

  std::optional<ConsolidatedDocuments> read_consolidated(const DocumentSource& documents,
                                                         const std::string& path) const override {
    const std::string key = join_path(path, kConsolidatedDocument);
    const auto document = documents.document(key);
    if (!document) return std::nullopt;
    return with_context([&] { return key; },
                        [&] {
      const Json& format = required_member(*document, "zarr_consolidated_format");
      if (format != 1) {
        throw Error("\"zarr_consolidated_format\" is " + excerpt(format) + ", not 1");
      }
      const Json& metadata = required_member(*document, "metadata");
      if (!metadata.is_object()) throw Error("\"metadata\" is not an object");
      ConsolidatedDocuments consolidated;
      for (const auto& [name, node_document] : metadata.items()) {
        add_consolidated(consolidated, path, name, "", node_document);
      }
      return consolidated;
    });
  }

  bool is_document(std::string_view file_name) const override {
    return file_name == kArrayDocument || file_name == kGroupDocument ||
           file_name == kAttributesDocument || file_name == kConsolidatedDocument;
  }
};

}  // namespace

const Format& v2_format() {
  static const V2Format format;
  return format;
}

ArrayMetadata parse_v2_array(const Json& document, const Json& attributes,
                             const std::string& path) {
  check_zarr_format(document, 2);
  ArrayMetadata array;
  array.shape = parse_shape(document);
  array.chunk_shape = as_unsigned_list(required_member(document, "chunks"), "\"chunks\"");
  NumpyDtype dtype = parse_numpy_dtype(required_member(document, "dtype"));
  NumpyCodecs codecs{parse_is_reversed(document, "order"), find_member(document, "filters"), {}};
  if (const Json* compressor = find_member(document, "compressor");
      compressor != nullptr && !compressor->is_null()) {
    codecs.compressor = parse_numcodec(*compressor, "\"compressor\"");
  }
  array.codecs = make_codecs(dtype, codecs, array.shape.size());
  array.data_type = dtype.type;
  array.fill_value = parse_optional_fill_value(document, dtype);
  array.chunk_key_encoding = {ChunkKeyEncoding::Kind::v2,
                              parse_separator(document, "dimension_separator", '.')};
  array.attributes = attributes;
  array.dimension_names = take_dimension_names(array.attributes, array.shape.size());
  static constexpr std::array<std::string_view, 9> kMembers{
      "zarr_format", "shape",      "chunks",
      "dtype",       "compressor", "fill_value",
      "filters",     "order",      "dimension_separator"};
  array.unknown_members = other_members(document, kMembers);
  array.chunk_prefix = path;
  return array;
}

}  // namespace zarrcore
