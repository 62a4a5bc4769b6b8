#include "autotest/cpp/support/stored_array.h"

#include <cstring>

#include "autotest/cpp/support/layout.h"
#include "zarrcore/base/path.h"
#include "zarrcore/hierarchy/hierarchy.h"
#include "zarrcore/metadata/documents.h"

namespace zarrcore::test {
namespace {

// The elements of one chunk in stored order; fill values where it reaches past the array.
Bytes stored_chunk(const ArrayMetadata& metadata, const CodecChain& chain, const Shape& chunk,
                   ByteSpan values) {
  const std::size_t item_size = memory_size(metadata.data_type.item_size);
  const Strides array_strides = c_strides(metadata.shape, item_size);
  const Shape& stored_shape = chain.stored_spec().shape;
  const Strides stored_strides = c_strides(stored_shape, item_size);
  Bytes bytes(memory_size(chain.decoded_size()));
  for_each_index(stored_shape, [&](const Shape& index) {
    Shape element(index.size());
    bool is_inside = true;
    for (std::size_t i = 0; i < index.size(); ++i) {
      const std::size_t axis = chain.axis_order()[i];
      element[axis] = chunk[axis] * metadata.chunk_shape[axis] + index[i];
      is_inside = is_inside && element[axis] < metadata.shape[axis];
    }
    const std::byte* source =
        is_inside ? values.data() + offset_of(element, array_strides) : metadata.fill_value->data();
    std::memcpy(bytes.data() + offset_of(index, stored_strides), source, item_size);
  });
  return bytes;
}

bool is_filled_with(const Bytes& chunk, const Bytes& fill) {
  for (std::size_t i = 0; i < chunk.size(); i += fill.size()) {
    if (!std::equal(fill.begin(), fill.end(), chunk.begin() + static_cast<std::ptrdiff_t>(i))) {
      return false;
    }
  }
  return true;
}

}  // namespace

Json array_document(const Shape& shape, const Shape& chunk_shape, std::string_view type,
                    std::string_view codecs, std::string_view fill_value) {
  return Json{
      {"zarr_format", 3},
      {"node_type", "array"},
      {"shape", shape},
      {"data_type", parse_json(type)},
      {"chunk_grid", {{"name", "regular"}, {"configuration", {{"chunk_shape", chunk_shape}}}}},
      {"chunk_key_encoding", {{"name", "default"}}},
      {"fill_value", parse_json(fill_value)},
      {"codecs", parse_json(codecs)}};
}

std::string codec(std::string_view name, std::string_view configuration) {
  return R"({"name": ")" + std::string(name) + R"(", "configuration": {)" +
         std::string(configuration) + "}}";
}

std::string bytes_codec(std::string_view endian) {
  return codec("bytes", R"("endian": ")" + std::string(endian) + '"');
}

std::string transpose_codec(const std::vector<std::size_t>& order) {
  return codec("transpose", "\"order\": " + Json(order).dump());
}

std::string sharding_codec(const Shape& inner_shape, std::string_view codecs,
                           std::string_view index_codecs, std::string_view location) {
  std::string configuration = "\"chunk_shape\": " + Json(inner_shape).dump();
  configuration.append(", \"codecs\": ").append(codecs);
  configuration.append(", \"index_codecs\": ").append(index_codecs);
  configuration.append(", \"index_location\": \"").append(location).append("\"");
  return codec("sharding_indexed", configuration);
}

std::string codec_list(const std::vector<std::string>& codecs) {
  std::string list = "[";
  for (const std::string& item : codecs) list += (list.size() > 1 ? ", " : "") + item;
  return list + "]";
}

std::string index_codecs() {
  return codec_list({bytes_codec(), codec("crc32c")});
}

void put_document(Store& store, const std::string& path, const Json& document) {
  store.put(join_path(path, "zarr.json"), bytes_of(dump_json(document)));
}

void write_array(Store& store, const std::string& path, const Json& document, ByteSpan values) {
  put_document(store, path, document);
  const auto metadata = std::get<ArrayMetadata>(parse_v3_node(document, path));
  const ChunkGrid grid = ChunkGrid::regular(metadata.shape, metadata.chunk_shape);
  const CodecChain chain(metadata.codecs,
                         {metadata.chunk_shape, metadata.data_type, *metadata.fill_value});
  Shape chunk_counts;
  for (std::size_t i = 0; i < grid.rank(); ++i) {
    chunk_counts.push_back(grid.dimension(i).chunk_count());
  }
  for_each_index(chunk_counts, [&](const Shape& chunk) {
    const Bytes stored = stored_chunk(metadata, chain, chunk, values);
    if (is_filled_with(stored, *metadata.fill_value)) return;
    store.put(join_path(path, metadata.chunk_key_encoding.encode(chunk)),
              chain.encode(stored).span());
  });
}

std::shared_ptr<const Array> open_array(std::shared_ptr<Store> store, const std::string& path,
                                        std::shared_ptr<Context> context) {
  if (context == nullptr) context = std::make_shared<Context>();
  const auto source = store->get(join_path(path, "zarr.json"));
  auto metadata = std::get<ArrayMetadata>(parse_v3_node(parse_json(source->text()), path));
  return std::make_shared<const Array>(std::move(store), path, std::move(metadata),
                                       std::move(context));
}

Bytes selected(ByteSpan values, const Shape& shape, std::size_t item_size,
               const Selection& selection) {
  const Strides strides = c_strides(shape, item_size);
  Bytes bytes;
  for_each_index(selection.count, [&](const Shape& index) {
    const std::byte* element = values.data();
    for (std::size_t i = 0; i < index.size(); ++i) {
      const std::int64_t step = selection.step.empty() ? 1 : selection.step[i];
      const auto position = static_cast<std::ptrdiff_t>(selection.start[i]) +
                            static_cast<std::ptrdiff_t>(index[i]) * step;
      element += position * strides[i];
    }
    bytes.insert(bytes.end(), element, element + item_size);
  });
  return bytes;
}

Selection everything(const Shape& shape) {
  return {Shape(shape.size(), 0), shape, {}};
}

Bytes read(const Array& array, const Selection& selection, const ReadOptions& options) {
  Bytes bytes(memory_size(element_count(selection.count) * array.data_type().item_size));
  array.read(selection, bytes.data(), bytes.size(), options);
  return bytes;
}

Selection random_selection(Random& random, const Shape& shape) {
  Selection selection;
  for (const std::uint64_t length : shape) {
    const std::uint64_t step = random_number(random, 1, 4);
    const std::uint64_t count = random_number(random, 1, (length - 1) / step + 1);
    const std::uint64_t extent = (count - 1) * step;
    const std::uint64_t low = random_number(random, 0, length - 1 - extent);
    const bool is_backwards = random() % 3 == 0;
    selection.start.push_back(is_backwards ? low + extent : low);
    selection.count.push_back(count);
    selection.step.push_back(is_backwards ? -static_cast<std::int64_t>(step)
                                          : static_cast<std::int64_t>(step));
  }
  return selection;
}

}  // namespace zarrcore::test
