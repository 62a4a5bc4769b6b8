// The log of a commit.
#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <string_view>

#include "zarrcore/icechunk/change_set.h"
#include "zarrcore/icechunk/flatbuffers.h"

namespace zarrcore::icechunk {
namespace {

// The ids of fields.
namespace log_field {
constexpr unsigned kId = 0;
constexpr unsigned kNewGroups = 1;
constexpr unsigned kNewArrays = 2;
constexpr unsigned kDeletedGroups = 3;
constexpr unsigned kDeletedArrays = 4;
constexpr unsigned kUpdatedArrays = 5;
constexpr unsigned kUpdatedGroups = 6;
constexpr unsigned kChunks = 7;
constexpr unsigned kMoves = 8;
}  // namespace log_field

// For the order of moves: '/' is before all other characters.
std::string by_component(std::string_view path) {
  std::string key(path);
  std::ranges::replace(key, '/', '\0');
  return key;
}

FlatTarget write_moves(FlatBuilder& builder, const ChangeSet& changes) {
  std::map<std::string, const ChangeSet::Nodes::value_type*> moved;
  for (const auto& node : changes.nodes) {
    if (changes.is_moved(node)) moved.emplace(by_component(node.first), &node);
  }
  return builder.vector(moved, [&](const auto& item) {
    const auto& [path, node] = *item.second;
    const std::string from(changes.base().path(*node.base));
    return builder.table(FlatFields()
                             .offset(0, builder.text('/' + from))
                             .offset(1, builder.text('/' + path))
                             .structure(2, node.id)
                             .number(3, static_cast<std::uint8_t>(node.is_array ? 1 : 0)));
  });
}

FlatTarget write_chunks(FlatBuilder& builder, const NodeId& array, const ArrayChanges& changes,
                        const std::vector<std::uint64_t>& numbers) {
  return builder.table(
      FlatFields().structure(0, array).offset(1, builder.vector(numbers, [&](std::uint64_t number) {
        const auto index = changes.index_of(number);
        return builder.table(FlatFields().offset(0, builder.numbers<std::uint32_t>(index)));
      })));
}

}  // namespace

Buffer make_empty_log(const ObjectId& id, int format) {
  FlatBuilder builder;
  FlatFields root;
  root.structure(log_field::kId, id);
  for (unsigned field = log_field::kNewGroups; field <= log_field::kMoves; ++field) {
    root.offset(field, builder.bytes({}));
  }
  return make_envelope(builder.finish(builder.table(root)), FileType::transaction_log, format);
}

Buffer make_log(const ObjectId& id, int format, const ChangeSet& changes,
                const std::map<NodeId, std::vector<std::uint64_t>>& copied) {
  std::array<std::vector<NodeId>, log_field::kChunks> ids;  // by fields
  std::map<NodeId, const ArrayChanges*> chunks;
  for (const auto& [path, node] : changes.nodes) {
    if (!changes.is_from_base(node)) {
      ids[node.is_array ? log_field::kNewArrays : log_field::kNewGroups].push_back(node.id);
    } else if (changes.is_updated(node)) {
      ids[node.is_array ? log_field::kUpdatedArrays : log_field::kUpdatedGroups].push_back(node.id);
    }
    const auto it = changes.arrays.find(node.id);
    if (it == changes.arrays.end()) continue;
    if (!it->second.references.empty() || copied.contains(node.id)) {
      chunks.emplace(node.id, &it->second);
    }
  }
  for (const std::size_t node : changes.deleted()) {
    ids[changes.base().is_array(node) ? log_field::kDeletedArrays : log_field::kDeletedGroups]
        .push_back(node_id(changes.base(), node));
  }
  FlatBuilder builder;
  FlatFields root;
  root.structure(log_field::kId, id);
  for (unsigned field = log_field::kNewGroups; field < log_field::kChunks; ++field) {
    std::ranges::sort(ids[field]);
    root.offset(field, builder.structures(std::as_bytes(std::span(ids[field])), kNodeIdSize, 1));
  }
  root.offset(log_field::kChunks, builder.vector(chunks, [&](const auto& item) {
    const auto& [array, changed] = item;
    const auto others = copied.find(array);
    if (others != copied.end()) return write_chunks(builder, array, *changed, others->second);
    std::vector<std::uint64_t> numbers;
    numbers.reserve(changed->references.size());
    for (const auto& [number, place] : changed->references) numbers.push_back(number);
    return write_chunks(builder, array, *changed, numbers);
  }));
  root.offset(log_field::kMoves, write_moves(builder, changes));
  return make_envelope(builder.finish(builder.table(root)), FileType::transaction_log, format);
}

void add_changed_chunks(ByteSpan log, const std::function<bool(const NodeId&)>& is_wanted,
                        ChangedChunks& chunks) {
  const Buffer content = open_envelope(log, FileType::transaction_log);
  const FlatTable root = FlatTable::root(content.span());
  for (const FlatTable array : required(root.tables(log_field::kChunks), "changed chunks")) {
    const auto id = id_of<NodeId>(required(array.structure(0, kNodeIdSize), "id of an array"));
    auto& indexes = chunks[id];
    if (!is_wanted(id)) continue;
    for (const FlatTable chunk : required(array.tables(1), "changed chunks")) {
      const auto numbers = required(chunk.vector<std::uint32_t>(0), "index of a chunk");
      std::vector<std::uint64_t>& index = indexes.emplace_back();
      for (const std::uint32_t at : numbers) index.push_back(at);
    }
  }
}

}  // namespace zarrcore::icechunk
