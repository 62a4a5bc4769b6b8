#include "zarrcore/metadata/v2.h"

#include <algorithm>
#include <charconv>

#include "zarrcore/base/endian.h"
#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"
#include "zarrcore/metadata/fill_value.h"
#include "zarrcore/metadata/members.h"

namespace zarrcore {
namespace {

constexpr std::string_view kArrayDocument = ".zarray";
constexpr std::string_view kGroupDocument = ".zgroup";
constexpr std::string_view kAttributesDocument = ".zattrs";
constexpr std::string_view kConsolidatedDocument = ".zmetadata";
constexpr std::string_view kDimensionsAttribute = "_ARRAY_DIMENSIONS";

struct TypeAndEndian {
  DataType type;
  Endian endian = kHostEndian;
};

std::optional<DataType> type_of(char kind, std::uint64_t size) {
  const auto one_of = [size](std::initializer_list<std::uint64_t> sizes) {
    return std::find(sizes.begin(), sizes.end(), size) != sizes.end();
  };
  switch (kind) {
    case 'b':
      if (size == 1) return DataType{TypeKind::boolean, size};
      break;
    case 'i':
      if (one_of({1, 2, 4, 8})) return DataType{TypeKind::signed_integer, size};
      break;
    case 'u':
      if (one_of({1, 2, 4, 8})) return DataType{TypeKind::unsigned_integer, size};
      break;
    case 'f':
      if (one_of({2, 4, 8})) return DataType{TypeKind::floating, size};
      break;
    case 'c':
      if (one_of({8, 16})) return DataType{TypeKind::complex, size};
      break;
    case 'S':
      if (size >= 1 && size <= kMaxItemSize) return DataType{TypeKind::fixed_bytes, size};
      break;
    case 'U':
      if (size >= 1 && size <= kMaxItemSize / 4) return DataType{TypeKind::fixed_utf32, size * 4};
      break;
    case 'V':
      if (size >= 1 && size <= kMaxItemSize) return DataType{TypeKind::raw, size};
      break;
    default:
      break;
  }
  return std::nullopt;
}

// A NumPy type string: byte order, kind, size ("<f4", "|u1", ">U12").
TypeAndEndian parse_dtype(const Json& value) {
  if (!value.is_string()) {
    if (value.is_array()) throw Error("structured data types are not supported");
    throw Error("\"dtype\" is " + std::string(describe_kind(value)) +
                " where a string is expected");
  }
  const auto& text = value.get_ref<const std::string&>();
  const Error unsupported("the data type \"" + text + "\" is not supported");
  std::string_view rest = text;
  TypeAndEndian result;
  if (!rest.empty() && std::string_view("<>|=").find(rest[0]) != std::string_view::npos) {
    if (rest[0] == '<') result.endian = Endian::little;
    if (rest[0] == '>') result.endian = Endian::big;
    rest.remove_prefix(1);
  }
  if (rest.size() < 2) throw unsupported;
  std::uint64_t size = 0;
  const char* end = rest.data() + rest.size();
  const auto [stop, error] = std::from_chars(rest.data() + 1, end, size);
  if (error != std::errc() || stop != end) throw unsupported;
  const auto type = type_of(rest[0], size);
  if (!type) throw unsupported;
  result.type = *type;
  return result;
}

// A filter or compressor: `{"id": "zlib", "level": 1}`.
CodecMetadata parse_numcodec(const Json& value, std::string_view what) {
  const Json* id = find_member(value, "id");
  if (id == nullptr || !id->is_string()) {
    throw Error(std::string(what) + " is not an object with an \"id\"");
  }
  CodecMetadata codec{"numcodecs." + id->get<std::string>(), value};
  codec.configuration.erase("id");
  return codec;
}

std::vector<CodecMetadata> parse_codecs(const Json& array, const TypeAndEndian& dtype,
                                        std::size_t rank) {
  std::vector<CodecMetadata> codecs;
  if (const Json* order = find_member(array, "order"); order != nullptr && *order != "C") {
    if (*order != "F") throw Error("\"order\" is " + excerpt(*order) + ", neither C nor F");
    Json axes = Json::array();
    for (std::size_t i = rank; i-- > 0;) axes.push_back(i);
    codecs.push_back({"transpose", {{"order", std::move(axes)}}});
  }
  codecs.push_back({"bytes", Json::object()});
  if (dtype.type.swap_unit() > 1) {
    codecs.back().configuration["endian"] = dtype.endian == Endian::little ? "little" : "big";
  }
  if (const Json* filters = find_member(array, "filters");
      filters != nullptr && !filters->is_null()) {
    if (!filters->is_array()) throw Error("\"filters\" is neither a list nor null");
    for (const Json& filter : *filters) codecs.push_back(parse_numcodec(filter, "a filter"));
  }
  if (const Json* compressor = find_member(array, "compressor");
      compressor != nullptr && !compressor->is_null()) {
    codecs.push_back(parse_numcodec(*compressor, "\"compressor\""));
  }
  return codecs;
}

// xarray's names of dimensions, which leave the attributes when they name every dimension.
std::vector<std::optional<std::string>> take_dimension_names(Json& attributes, std::size_t rank) {
  std::vector<std::optional<std::string>> names(rank);
  const Json* member = find_member(attributes, kDimensionsAttribute);
  if (member == nullptr || !member->is_array() || member->size() != rank) return names;
  for (std::size_t i = 0; i < rank; ++i) {
    if (!(*member)[i].is_string()) return std::vector<std::optional<std::string>>(rank);
    if (auto name = (*member)[i].get<std::string>(); !name.empty()) names[i] = std::move(name);
  }
  attributes.erase(std::string(kDimensionsAttribute));
  return names;
}

// The attributes that stand beside an array or group; none when there is no document.
Json read_attributes(const DocumentSource& documents, const std::string& path) {
  const std::string key = join_path(path, kAttributesDocument);
  auto document = documents(key);
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
        const auto document = documents(key)) {
      return with_context([&] { return key; },
                          [&]() -> NodeMetadata {
                            return parse_v2_array(*document, read_attributes(documents, path),
                                                  path);
                          });
    }
    if (const std::string key = join_path(path, kGroupDocument);
        const auto document = documents(key)) {
      with_context([&] { return key; }, [&] { check_zarr_format(*document, 2); });
      return GroupMetadata{read_attributes(documents, path)};
    }
    return std::nullopt;
  }

  std::optional<ConsolidatedDocuments> read_consolidated(const DocumentSource& documents,
                                                         const std::string& path) const override {
    const std::string key = join_path(path, kConsolidatedDocument);
    const auto document = documents(key);
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
  array.shape = as_unsigned_list(required_member(document, "shape"), "\"shape\"");
  array.chunk_shape = as_unsigned_list(required_member(document, "chunks"), "\"chunks\"");
  const TypeAndEndian dtype = parse_dtype(required_member(document, "dtype"));
  array.data_type = dtype.type;
  if (const Json* fill = find_member(document, "fill_value"); fill != nullptr && !fill->is_null()) {
    array.fill_value = parse_fill_value(*fill, array.data_type);
  }
  array.codecs = parse_codecs(document, dtype, array.shape.size());
  array.chunk_key_encoding = {ChunkKeyEncoding::Kind::v2, '.'};
  if (const Json* separator = find_member(document, "dimension_separator");
      separator != nullptr && !separator->is_null()) {
    if (*separator != "/" && *separator != ".") {
      throw Error("\"dimension_separator\" is " + excerpt(*separator) + ", neither . nor /");
    }
    array.chunk_key_encoding.separator = separator->get_ref<const std::string&>()[0];
  }
  array.attributes = attributes;
  array.dimension_names = take_dimension_names(array.attributes, array.shape.size());
  array.chunk_prefix = path;
  return array;
}

}  // namespace zarrcore
