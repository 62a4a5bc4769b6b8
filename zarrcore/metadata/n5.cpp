// N5 (N5 file-system specification, version 4): a folder is a group, or an array if its
// `attributes.json` says so. Dimensions are listed with the fastest first, so the model has them
// reversed, as zarr-python shows them.
#include <algorithm>
#include <array>

#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"
#include "zarrcore/base/text.h"
#include "zarrcore/metadata/document_names.h"
#include "zarrcore/metadata/documents.h"
#include "zarrcore/metadata/format.h"
#include "zarrcore/metadata/numpy_array.h"

namespace zarrcore {
namespace {

constexpr std::string_view kN5Version = "n5";
constexpr std::array<std::string_view, 6> kN5Members{kN5Version, "dimensions",  "blockSize",
                                                     "dataType", "compression", "compressionType"};

bool is_n5_array(const Json& document) {
  return find_member(document, "dimensions") != nullptr &&
         find_member(document, "dataType") != nullptr;
}

void check_n5_version(const Json& document) {
  constexpr unsigned kNewest = 4;
  const std::string* version = find_string(document, kN5Version);
  if (version == nullptr) return;
  const auto major = parse_number<unsigned>(version->substr(0, version->find('.')));
  if (!major || *major > kNewest) {
    throw Error("\"n5\" is " + excerpt(*find_member(document, kN5Version)) + "; versions up to " +
                std::to_string(kNewest) + " are supported");
  }
}

DataType parse_n5_type(const Json& value) {
  static constexpr std::array<std::string_view, 10> kTypes{"uint8",   "uint16", "uint32", "uint64",
                                                           "int8",    "int16",  "int32",  "int64",
                                                           "float32", "float64"};
  const std::string* name = as_string(value);
  if (name == nullptr || std::ranges::find(kTypes, *name) == kTypes.end()) {
    throw Error("the data type " + excerpt(value) + " of N5 is not supported");
  }
  return *parse_type_name(*name);
}

// The compression of the blocks: an object with a type, or in N5 1 the type alone. zarr-python
// writes compressors that N5 does not have with their ids in numcodecs.
std::vector<CodecMetadata> parse_n5_compression(const Json& document) {
  const Json* compression = find_member(document, "compression");
  const bool is_old = compression == nullptr;
  if (is_old) compression = &required_member(document, "compressionType");
  const std::string* type = is_old ? as_string(*compression) : find_string(*compression, "type");
  if (type == nullptr) {
    throw Error("the compression " + excerpt(*compression) + " is not an object with a \"type\"");
  }
  const auto has = [&](std::string_view member) {
    const Json* value = is_old ? nullptr : find_value(*compression, member);
    return value != nullptr && *value != false;
  };
  if (*type == "raw") return {};
  // Levels do not matter to readers.
  if (*type == "gzip") return {{has("useZlib") ? "numcodecs.zlib" : "numcodecs.gzip"}};
  if (*type == "bzip2") return {{"numcodecs.bz2"}};
  if (*type == "xz") return {{"numcodecs.lzma"}};
  if (*type == "zstd" || *type == "blosc") return {{std::string(kNumcodecs) + *type}};
  if (*type == "lz4" && !has("acceleration")) return {{"n5.lz4"}};
  CodecMetadata other{std::string(kNumcodecs) + *type};
  if (!is_old) other.configuration = *compression;
  for (const char* member : {"type", "id"}) other.configuration.erase(member);
  return {other};
}

// The names of dimensions: from xarray's attribute, or from the attributes that N5's viewers use.
// `axes` is in N5's order, `transform` in the order of arrays in Python.
void set_n5_dimension_names(ArrayMetadata& array) {
  const std::size_t rank = array.shape.size();
  array.dimension_names = take_dimension_names(array.attributes, rank);
  if (std::ranges::any_of(array.dimension_names, [](const auto& name) { return name.has_value(); }))
    return;
  const Json* transform = find_member(array.attributes, "transform");
  const Json* axes = transform != nullptr ? find_member(*transform, "axes") : nullptr;
  const bool is_reversed = axes == nullptr;
  if (is_reversed) axes = find_member(array.attributes, "axes");
  if (axes == nullptr) return;
  Json named = {{kDimensionsAttribute, *axes}};
  array.dimension_names = take_dimension_names(named, rank);
  if (is_reversed) std::ranges::reverse(array.dimension_names);
}

ArrayMetadata parse_n5_array(const Json& document, const std::string& path) {
  ArrayMetadata array;
  array.shape = parse_shape(document, "dimensions");
  const Json* block = find_member(document, "blockSize");
  array.chunk_shape = block != nullptr ? parse_lengths(*block, "\"blockSize\"") : array.shape;
  std::ranges::reverse(array.shape);
  std::ranges::reverse(array.chunk_shape);
  array.data_type = parse_n5_type(required_member(document, "dataType"));
  array.chunk_key_encoding = {ChunkKeyEncoding::Kind::n5, '/'};
  array.fill_value.emplace(memory_size(array.data_type.item_size));
  array.fill_value_is_mandatory = true;
  CodecMetadata bytes{"bytes"};
  if (array.data_type.item_size > 1) bytes.configuration["endian"] = "big";
  Json codecs = Json::array({format_named_configuration(bytes)});
  for (const CodecMetadata& codec : parse_n5_compression(document)) {
    codecs.push_back(format_named_configuration(codec));
  }
  array.codecs = {{"n5.block", {{"codecs", std::move(codecs)}}}};
  array.attributes = other_members(document, kN5Members);
  set_n5_dimension_names(array);
  array.chunk_prefix = path;
  return array;
}

class N5Format final : public Format {
 public:
  std::string_view name() const override { return "N5"; }
  std::string_view read_only_reason() const override { return "it is an N5 container"; }

  std::optional<NodeMetadata> read_node(const DocumentSource& documents, const std::string& path,
                                        std::optional<NodeKind> wanted) const override {
    const std::string key = key_of(path);
    if (const auto document = documents.document(key)) {
      if (path.empty() && !is_n5_document(*document)) return std::nullopt;
      return with_context(key, [&]() -> NodeMetadata {
        check_n5_version(*document);
        if (is_n5_array(*document)) return parse_n5_array(*document, path);
        return GroupMetadata{other_members(*document, kN5Members)};
      });
    }
    // A folder without attributes is a group, unless it holds blocks.
    if (path.empty() || wanted == NodeKind::array || documents.list(path).is_empty()) {
      return std::nullopt;
    }
    for (std::string above = path; !above.empty();) {
      above = parent_path(above);
      const auto document = documents.document(key_of(above));
      if (document && is_n5_array(*document)) return std::nullopt;
    }
    return GroupMetadata{};
  }

  std::vector<std::string> keys_to_read(const std::string& path,
                                        std::optional<NodeKind> /*wanted*/) const override {
    return {key_of(path)};
  }

  bool is_document(std::string_view file_name) const override { return file_name == kN5Document; }

  std::vector<Document> array_documents(const ArrayMetadata& /*array*/,
                                        const std::string& /*path*/) const override {
    throw Error("N5 is not written");
  }
  std::vector<Document> group_documents(const GroupMetadata& /*group*/,
                                        const std::string& /*path*/) const override {
    throw Error("N5 is not written");
  }

  std::vector<std::string> node_keys(const std::string& path) const override {
    return {key_of(path)};
  }

 private:
  static std::string key_of(const std::string& path) { return join_path(path, kN5Document); }
};

}  // namespace

const Format& n5_format() {
  static const auto& format = *new N5Format;
  return format;
}

bool is_n5_document(const Json& document) {
  return find_string(document, kN5Version) != nullptr ||
         (is_n5_array(document) && find_member(document, "blockSize") != nullptr);
}

}  // namespace zarrcore
