#include "zarrcore/hierarchy/arrays.h"

#include <algorithm>
#include <utility>

#include "zarrcore/array/array_writer.h"
#include "zarrcore/base/buffer.h"
#include "zarrcore/base/error.h"
#include "zarrcore/codec/codec_chain.h"
#include "zarrcore/codec/sharding.h"
#include "zarrcore/dtype/small_float.h"
#include "zarrcore/metadata/fill_value.h"

namespace zarrcore {
namespace {

void check_rank(const NewArray& array, const char* member, std::size_t size) {
  if (size == 0 || size == array.shape.size()) return;
  throw Error(std::string(member) + " has " + std::to_string(size) + " items for " +
              std::to_string(array.shape.size()) + " dimensions");
}

}  // namespace

ArrayMetadata make_array_metadata(const Format& format, const NewArray& array) {
  const NewArrayRules* rules = format.new_array_rules();
  if (rules == nullptr) {
    throw Error("new arrays cannot be written in the format " + std::string(format.name()));
  }
  check_rank(array, "chunk_shape", array.chunk_shape.size());
  check_rank(array, "shard_shape", array.shard_shape.size());
  check_rank(array, "dimension_names", array.dimension_names.size());

  ArrayMetadata metadata;
  metadata.shape = array.shape;
  metadata.data_type = array.data_type;
  metadata.chunk_shape = array.chunk_shape.empty() ? array.shape : array.chunk_shape;
  if (array.chunk_shape.empty()) {
    for (std::uint64_t& length : metadata.chunk_shape) length = std::max<std::uint64_t>(1, length);
  }
  metadata.chunk_key_encoding = {rules->key_kind, rules->key_separator};
  metadata.fill_value_is_mandatory = rules->fill_value_is_mandatory;
  metadata.fill_value_attribute_is_base64 = rules->fill_value_attribute_is_base64;
  const DataType& type = metadata.data_type;
  const std::size_t zero_size = type.is_variable() ? 0 : memory_size(type.item_size);
  metadata.fill_value = array.fill_value ? parse_fill_value(*array.fill_value, type)
                                         : std::vector<std::byte>(zero_size);
  metadata.codecs.push_back(default_array_to_bytes(type));
  metadata.codecs.insert(metadata.codecs.end(), array.compression.begin(), array.compression.end());
  if (!array.shard_shape.empty()) {
    if (!rules->has_shards) {
      throw Error("the format " + std::string(format.name()) + " has no shards");
    }
    metadata.codecs = {make_sharding_metadata(metadata.chunk_shape, metadata.codecs)};
    metadata.chunk_shape = array.shard_shape;
  }
  metadata.attributes = array.attributes;
  metadata.dimension_names.assign(array.dimension_names.begin(), array.dimension_names.end());
  metadata.dimension_names.resize(array.shape.size());
  // Codecs that do not support the type or the chunks throw here.
  const std::vector<std::byte> zero(memory_size(type.item_size));
  const CodecChain chain(metadata.codecs, {metadata.chunk_shape, type, zero});
  return metadata;
}

ArrayMetadata with_long_doubles(ArrayMetadata array, const HierarchyOptions& options) {
  if (!has_unknown_long_double(array.data_type)) return array;
  if (array.data_type.fields != nullptr) {
    throw Error("fields that are long doubles (<f16, <c32) are not supported");
  }
  if (!options.long_double) {
    throw Error(
        "the store does not say which format its long doubles (<f16, <c32) have; the option "
        "LONG_DOUBLE=X87 or LONG_DOUBLE=QUAD states it");
  }
  if (options.is_writable) throw Error("long doubles (<f16, <c32) can only be read");
  const DataType stated = array.data_type;
  array.data_type.float_format = *options.long_double;
  if (array.fill_value) {
    array.fill_value =
        parse_fill_value(format_fill_value(*array.fill_value, stated), array.data_type);
  }
  return array;
}

// Throws Error if another program has replaced an array that is about to be opened. If its folder
// was not known before, consolidated metadata has other documents for it now.
void Hierarchy::check_is_current(const std::string& path, const ArrayMetadata& array) const {
  store_->check_node(array.chunk_prefix);
  if (!is_consolidated() || nodes_.has_changes(path)) return;
  refresh_copies();
  if (changes_ == 0) return;
  const auto now = format_->read_node(documents(), path, NodeKind::array);
  if (!now || !std::holds_alternative<ArrayMetadata>(*now)) return;  // its chunks are gone as well
  ArrayMetadata current = std::get<ArrayMetadata>(*now);
  current.attributes = array.attributes;
  const std::vector<Document> was = format_->array_documents(array, path);
  const std::vector<Document> is = format_->array_documents(current, path);
  if (!std::equal(was.begin(), was.end(), is.begin(), is.end(), [](auto& a, auto& b) {
        return a.key == b.key && is_same_text(a.content, b.content);
      })) {
    throw Error("another program has replaced it; open the store again");
  }
}

std::shared_ptr<const Array> Hierarchy::open_array(std::string_view path,
                                                   std::shared_ptr<Context> context) const {
  auto metadata = node(path, NodeKind::array);
  if (metadata == nullptr) metadata = node(path);
  if (metadata == nullptr) {
    check_not_denied(path);
    throw Error(store_->description() + ": there is no node at /" + normalize_path(path));
  }
  const std::string name = store_->description() + ": /" + normalize_path(path);
  const auto* array = std::get_if<ArrayMetadata>(metadata.get());
  if (array == nullptr) throw Error(name + " is a group, not an array");
  with_context(name, [&] { check_is_current(normalize_path(path), *array); });
  ArrayMetadata known = with_context(name, [&] { return with_long_doubles(*array, options_); });
  return std::make_shared<const Array>(store_, normalize_path(path), std::move(known),
                                       std::move(context));
}

std::shared_ptr<const Array> create_array(Hierarchy& hierarchy, const std::string& path,
                                          const NewArray& array, std::shared_ptr<Context> context) {
  ArrayMetadata metadata = with_context(hierarchy.store()->description() + ": /" + path, [&] {
    return make_array_metadata(hierarchy.format(), array);
  });
  hierarchy.create_node(path, std::move(metadata));
  return hierarchy.open_array(path, std::move(context));
}

std::shared_ptr<const Array> resize_array(Hierarchy& hierarchy, const std::string& path,
                                          const Shape& shape,
                                          const std::shared_ptr<Context>& context,
                                          const WriteOptions& options) {
  const auto old = hierarchy.open_array(path, context);
  check_resize(*old, shape);
  hierarchy.update_node(
      path, [&](NodeMetadata& node) { std::get<ArrayMetadata>(node).shape = shape; },
      NodeKind::array);
  hierarchy.flush_node(path);
  resize(*old, shape, options);
  return hierarchy.open_array(path, context);
}

}  // namespace zarrcore
