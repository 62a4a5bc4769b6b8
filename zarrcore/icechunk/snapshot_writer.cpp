#include "zarrcore/icechunk/snapshot_writer.h"

#include <algorithm>

#include "zarrcore/icechunk/flat_builder.h"

namespace zarrcore::icechunk {
namespace {

constexpr std::size_t kOffsetSize = sizeof(std::uint32_t);

template <typename Number>
void append_number(std::vector<std::byte>& bytes, Number number) {
  bytes.resize(bytes.size() + sizeof(Number));
  store_integer(number, Endian::little, bytes.data() + bytes.size() - sizeof(Number));
}

void write_dimensions(FlatBuilder& builder, const FlatBuilder::Table& data, int format,
                      const std::vector<Snapshot::Dimension>& dimensions) {
  std::vector<std::byte> lengths;
  if (format == 1) {
    for (const auto& [length, chunks, name] : dimensions) {
      append_number(lengths, length);
      append_number(lengths, chunks == 0 ? 0 : (length - 1) / chunks + 1);
    }
  }
  builder.structures(data[0], lengths, 2 * sizeof(std::uint64_t), sizeof(std::uint64_t));
  if (format == 1) return;
  FlatBuilder::Place place = builder.offsets(data[3], dimensions.size());
  for (const auto& [length, chunks, name] : dimensions) {
    builder.table(place,
                  FlatFields().number(0, length).number(1, static_cast<std::uint32_t>(chunks)));
    place += kOffsetSize;
  }
}

void write_array(FlatBuilder& builder, FlatBuilder::Place place, int format, const NewNode& node) {
  const bool has_names = node.has_dimension_names;
  FlatFields fields;
  fields.offset(0).offset(2);
  if (has_names) fields.offset(1);
  if (format > 1) fields.offset(3);
  const auto data = builder.table(place, fields);
  write_dimensions(builder, data, format, node.dimensions);
  if (has_names) {
    FlatBuilder::Place each = builder.offsets(data[1], node.dimensions.size());
    for (const auto& dimension : node.dimensions) {
      FlatFields name;
      if (dimension.name) name.offset(0);
      const auto table = builder.table(each, name);
      if (dimension.name) builder.text(table[0], *dimension.name);
      each += kOffsetSize;
    }
  }
  FlatBuilder::Place each = builder.offsets(data[2], node.manifests.size());
  for (const ManifestPart& part : node.manifests) {
    const auto ref =
        builder.table(each, FlatFields().structure(0, parse_id<ObjectId>(part.id)).offset(1));
    std::vector<std::byte> extents;
    for (std::size_t axis = 0; axis < part.from.size(); ++axis) {
      append_number(extents, part.from[axis]);
      append_number(extents, part.to[axis]);
    }
    builder.structures(ref[1], extents, 2 * sizeof(std::uint32_t), sizeof(std::uint32_t));
    each += kOffsetSize;
  }
}

// The order of ids as texts is that of their bytes.
void write_manifest_files(FlatBuilder& builder, const FlatBuilder::Table& root, int format,
                          const std::map<std::string, ManifestFile>& manifests) {
  std::vector<std::byte> structures;
  if (format == 1) {
    for (const auto& [text, file] : manifests) {
      const auto id = parse_id<ObjectId>(text);
      structures.insert(structures.end(), id.begin(), id.end());
      append_number(structures, std::uint32_t{0});
      append_number(structures, file.size);
      append_number(structures, file.reference_count);
      append_number(structures, std::uint32_t{0});
    }
  }
  builder.structures(root[6], structures, 32, sizeof(std::uint64_t));
  if (format == 1) return;
  FlatBuilder::Place place = builder.offsets(root[7], manifests.size());
  for (const auto& [text, file] : manifests) {
    builder.table(place, FlatFields()
                             .number(1, file.size)
                             .structure(0, parse_id<ObjectId>(text))
                             .number(2, file.reference_count));
    place += kOffsetSize;
  }
}

void write_ids(FlatBuilder& builder, FlatBuilder::Place place, std::vector<NodeId> ids) {
  std::ranges::sort(ids);
  builder.structures(place, std::as_bytes(std::span(ids)), kNodeIdSize, 1);
}

FlatBuilder::Table write_log_root(FlatBuilder& builder, const ObjectId& id) {
  FlatFields fields;
  fields.structure(0, id);
  for (unsigned field = 1; field <= 8; ++field) fields.offset(field);
  return builder.table(FlatBuilder::root(), fields);
}

// For the order of moves: '/' is before all other characters.
std::string by_component(std::string_view path) {
  std::string key(path);
  std::ranges::replace(key, '/', '\0');
  return key;
}

void write_moves(FlatBuilder& builder, FlatBuilder::Place place, const ChangeSet& changes) {
  std::map<std::string, const ChangeSet::Nodes::value_type*> moved;
  for (const auto& node : changes.nodes) {
    if (changes.is_moved(node)) moved.emplace(by_component(node.first), &node);
  }
  FlatBuilder::Place each = builder.offsets(place, moved.size());
  for (const auto& [key, node] : moved) {
    const auto table = builder.table(
        each, FlatFields()
                  .offset(0)
                  .offset(1)
                  .structure(2, node->second.id)
                  .number(3, static_cast<std::uint8_t>(node->second.is_array ? 1 : 0)));
    builder.text(table[0], '/' + std::string(changes.base().path(*node->second.base)));
    builder.text(table[1], '/' + node->first);
    each += kOffsetSize;
  }
}

}  // namespace

Buffer make_snapshot(const ObjectId& id, const SnapshotRecord& record, int format,
                     const std::vector<NewNode>& nodes,
                     const std::map<std::string, ManifestFile>& manifests) {
  FlatBuilder builder;
  FlatFields fields;
  fields.number(3, record.time).structure(0, id);
  for (const unsigned field : {2U, 4U, 5U, 6U}) fields.offset(field);
  if (format == 1 && record.parent) fields.structure(1, *record.parent);
  if (format > 1) fields.offset(7);
  const auto root = builder.table(FlatBuilder::root(), fields);
  FlatBuilder::Place place = builder.offsets(root[2], nodes.size());
  for (const NewNode& node : nodes) {
    const auto table =
        builder.table(place, FlatFields()
                                 .structure(0, node.id)
                                 .offset(1)
                                 .offset(2)
                                 .offset(4)
                                 .number(3, static_cast<std::uint8_t>(node.is_array ? 1 : 2)));
    builder.text(table[1], '/' + std::string(node.path));
    builder.bytes(table[2], std::as_bytes(std::span(node.document)));
    if (node.is_array) {
      write_array(builder, table[4], format, node);
    } else {
      builder.table(table[4], FlatFields());
    }
    place += kOffsetSize;
  }
  builder.text(root[4], record.message);
  write_properties(builder, root[5], record.properties);
  write_manifest_files(builder, root, format, manifests);
  return make_envelope(builder.content(), FileType::snapshot, format);
}

Buffer make_empty_log(const ObjectId& id, int format) {
  FlatBuilder builder;
  const auto root = write_log_root(builder, id);
  for (unsigned field = 1; field <= 8; ++field) builder.structures(root[field], {}, 1, 1);
  return make_envelope(builder.content(), FileType::transaction_log, format);
}

Buffer make_log(const ObjectId& id, int format, const ChangeSet& changes,
                const std::map<NodeId, std::vector<std::uint64_t>>& copied) {
  FlatBuilder builder;
  const auto root = write_log_root(builder, id);
  std::map<unsigned, std::vector<NodeId>> ids;
  std::map<NodeId, const ArrayChanges*> chunks;
  for (const auto& [path, node] : changes.nodes) {
    if (!changes.is_kept(node)) {
      ids[node.is_array ? 2 : 1].push_back(node.id);
    } else if (changes.is_updated(node)) {
      ids[node.is_array ? 5 : 6].push_back(node.id);
    }
    const auto it = changes.arrays.find(node.id);
    if (it == changes.arrays.end()) continue;
    if (!it->second.references.empty() || copied.contains(node.id)) {
      chunks.emplace(node.id, &it->second);
    }
  }
  for (const std::size_t node : changes.deleted()) {
    ids[changes.base().is_array(node) ? 4 : 3].push_back(node_id(changes.base(), node));
  }
  for (unsigned field = 1; field <= 6; ++field) {
    write_ids(builder, root[field], std::move(ids[field]));
  }
  FlatBuilder::Place place = builder.offsets(root[7], chunks.size());
  for (const auto& [array, changed] : chunks) {
    const auto table = builder.table(place, FlatFields().structure(0, array).offset(1));
    std::vector<std::uint64_t> numbers;
    const auto others = copied.find(array);
    if (others != copied.end()) {
      numbers = others->second;
    } else {
      numbers.reserve(changed->references.size());
      for (const auto& [number, where] : changed->references) numbers.push_back(number);
    }
    FlatBuilder::Place each = builder.offsets(table[1], numbers.size());
    for (const std::uint64_t number : numbers) {
      const auto chunk = builder.table(each, FlatFields().offset(0));
      std::vector<std::byte> index;
      for (const std::uint64_t at : changed->index_of(number)) {
        append_number(index, static_cast<std::uint32_t>(at));
      }
      builder.structures(chunk[0], index, sizeof(std::uint32_t), sizeof(std::uint32_t));
      each += kOffsetSize;
    }
    place += kOffsetSize;
  }
  write_moves(builder, root[8], changes);
  return make_envelope(builder.content(), FileType::transaction_log, format);
}

void add_changed_chunks(ByteSpan log, const std::function<bool(const NodeId&)>& is_wanted,
                        ChangedChunks& chunks) {
  const Buffer content = open_envelope(log, FileType::transaction_log);
  const FlatTables arrays = required(FlatTable::root(content.span()).tables(7), "changed chunks");
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    NodeId id{};
    std::ranges::copy(required(arrays[i].structure(0, kNodeIdSize), "id of an array"), id.begin());
    auto& indexes = chunks[id];
    if (!is_wanted(id)) continue;
    const FlatTables changed = required(arrays[i].tables(1), "changed chunks");
    for (std::size_t k = 0; k < changed.size(); ++k) {
      const auto numbers =
          required(changed[k].structures(0, sizeof(std::uint32_t)), "index of a chunk");
      std::vector<std::uint64_t> index;
      index.reserve(numbers.size());
      for (std::size_t axis = 0; axis < numbers.size(); ++axis) {
        index.push_back(load_integer<std::uint32_t>(numbers[axis].data(), Endian::little));
      }
      indexes.push_back(std::move(index));
    }
  }
}

}  // namespace zarrcore::icechunk
