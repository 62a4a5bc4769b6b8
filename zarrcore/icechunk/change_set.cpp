#include "zarrcore/icechunk/change_set.h"

#include <algorithm>
#include <set>
#include <variant>

#include "zarrcore/base/error.h"
#include "zarrcore/base/json.h"
#include "zarrcore/base/path.h"
#include "zarrcore/metadata/documents.h"

namespace zarrcore::icechunk {
namespace {

ChunkGrid grid_of(const ArrayMetadata& metadata) {
  return metadata.chunk_runs.empty() ? ChunkGrid::regular(metadata.shape, metadata.chunk_shape)
                                     : ChunkGrid::rectilinear(metadata.shape, metadata.chunk_runs);
}

// Returns true if it is the document of an array. Throws Error unless it is one of Zarr v3.
bool is_array_document(std::string_view text) {
  const Json document = parse_json(text);
  check_zarr_format(document, 3);
  const std::string* kind = find_string(document, "node_type");
  if (kind == nullptr || (*kind != "array" && *kind != "group")) {
    throw Error("it says neither that the node is an array nor that it is a group");
  }
  return *kind == "array";
}

// The paths of the node at a path and of all below it.
std::vector<std::string> paths_below(const ChangeSet::Nodes& nodes, std::string_view path) {
  std::vector<std::string> paths;
  const std::string start = path.empty() ? std::string() : std::string(path) + '/';
  if (nodes.contains(path)) paths.emplace_back(path);
  for (auto it = nodes.lower_bound(start); it != nodes.end() && it->first.starts_with(start);
       ++it) {
    if (it->first != path) paths.push_back(it->first);
  }
  return paths;
}

}  // namespace

NodeId node_id(const Snapshot& snapshot, std::size_t node) {
  return id_of<NodeId>(snapshot.id(node));
}

ArrayChanges::ArrayChanges(std::string_view document, std::string_view path) {
  const Json json = parse_json(document);
  const Json* names = find_member(json, "dimension_names");
  has_dimension_names = names != nullptr && names->is_array();
  const NodeMetadata node = parse_v3_node(json, std::string(path));
  const auto* array = std::get_if<ArrayMetadata>(&node);
  if (array == nullptr) throw Error("the document of the array is that of a group");
  keys = array->chunk_key_encoding;
  lengths.assign(array->shape.begin(), array->shape.end());
  dimension_names = array->dimension_names;
  const ChunkGrid grid = grid_of(*array);
  for (std::size_t axis = 0; axis < grid.rank(); ++axis) {
    counts.push_back(grid.dimension(axis).chunk_count());
    if (counts.back() > UINT32_MAX) {
      throw Error("Icechunk cannot store " + std::to_string(counts.back()) +
                  " chunks along dimension " + std::to_string(axis));
    }
  }
}

std::optional<std::uint64_t> ArrayChanges::number_of(std::span<const std::uint64_t> index) const {
  std::uint64_t number = 0;
  for (std::size_t axis = 0; axis < counts.size(); ++axis) {
    if (index[axis] >= counts[axis]) return std::nullopt;
    number = number * counts[axis] + index[axis];
  }
  return number;
}

std::vector<std::uint64_t> ArrayChanges::index_of(std::uint64_t number) const {
  std::vector<std::uint64_t> index(counts.size());
  for (std::size_t axis = counts.size(); axis-- > 0;) {
    index[axis] = number % counts[axis];
    number /= counts[axis];
  }
  return index;
}

ArrayChanges ArrayChanges::without_references() const {
  ArrayChanges grid = *this;
  grid.references.clear();
  return grid;
}

bool ArrayChanges::has_chunks_outside_of(const ArrayChanges& grid) const {
  return rank() != grid.rank() ||
         !std::ranges::equal(counts, grid.counts, std::ranges::less_equal());
}

void ArrayChanges::add(const ArrayChanges& others) {
  set_grid(others);
  for (const auto& [number, place] : others.references) references[number] = place;
}

void ArrayChanges::set_grid(const ArrayChanges& changed) {
  if (counts == changed.counts) {
    keys = changed.keys;
    lengths = changed.lengths;
    dimension_names = changed.dimension_names;
    has_dimension_names = changed.has_dimension_names;
    return;
  }
  std::map<std::uint64_t, std::uint64_t> moved;
  if (rank() == changed.rank()) {
    for (const auto& [number, place] : references) {
      if (const auto now = changed.number_of(index_of(number))) moved.emplace(*now, place);
    }
  }
  *this = changed;
  references = std::move(moved);
}

ChangeSet::ChangeSet(const Snapshot& base, std::uint64_t version) : base_(&base) {
  for (std::size_t i = 0; i < base.size(); ++i) {
    nodes.emplace_hint(nodes.end(), base.path(i),
                       Node{node_id(base, i), base.is_array(i), i, nullptr, version});
  }
  std::set<NodeId> ids;
  for (const auto& [path, node] : nodes) {
    if (!ids.insert(node.id).second) throw Error("/" + path + " has the id of another node");
  }
}

const Node* ChangeSet::find(std::string_view path) const {
  const auto it = nodes.find(path);
  return it == nodes.end() ? nullptr : &it->second;
}

ChangeSet::Nodes::const_iterator ChangeSet::find_array_of(std::string_view key) const {
  while (true) {
    const auto it = nodes.find(key);
    if (it != nodes.end()) return it->second.is_array ? it : nodes.end();
    if (key.empty()) return it;
    key = parent_path(key);
  }
}

std::string_view ChangeSet::document(const Node& node) const {
  return node.document ? std::string_view(*node.document) : base_->document(*node.base);
}

// That of the base has not been used before, or its grid would be here.
ArrayChanges& ChangeSet::chunks(const Nodes::value_type& array) const {
  const auto& [path, node] = array;
  const auto it = arrays.find(node.id);
  if (it != arrays.end()) return it->second;
  return arrays.emplace(node.id, ArrayChanges(document(node), path)).first->second;
}

// A node can neither replace one with others below it, nor be in an array.
void ChangeSet::check_free(std::string_view path) const {
  for (std::string_view above = path; !above.empty();) {
    above = parent_path(above);
    const Node* node = find(above);
    if (node != nullptr && node->is_array) {
      throw Error("/" + std::string(above) + " is an array: it cannot contain nodes");
    }
  }
}

bool ChangeSet::put_document(std::string_view path, std::string_view text, std::uint64_t version,
                             const FindLost& find_lost) {
  const auto old = nodes.find(path);
  if (old != nodes.end() && document(old->second) == text) return false;
  const bool is_array = is_array_document(text);
  std::optional<ArrayChanges> chunks;
  if (is_array) chunks.emplace(text, path);
  auto stored = std::make_shared<const std::string>(text);
  if (old != nodes.end() && old->second.is_array == is_array) {
    if (is_array) {
      ArrayChanges& present = this->chunks(*old);
      const auto lost = find_lost(*old, present, *chunks);
      present.set_grid(*chunks);
      for (const std::uint64_t number : lost)
        present.references.emplace(number, ArrayChanges::kErased);
    }
    old->second.document = std::move(stored);
    old->second.version = version;
    return true;
  }
  check_free(path);
  if (is_array && paths_below(nodes, path).size() > (old == nodes.end() ? 0U : 1U)) {
    throw Error("a group that contains nodes cannot become an array");
  }
  if (old != nodes.end()) erase(path);
  const Node node{new_id<NodeId>(), is_array, std::nullopt, std::move(stored), version};
  if (is_array) arrays.emplace(node.id, *std::move(chunks));
  nodes.insert_or_assign(std::string(path), node);
  return true;
}

void ChangeSet::erase(std::string_view path) {
  const auto it = nodes.find(path);
  if (it == nodes.end()) return;
  arrays.erase(it->second.id);
  nodes.erase(it);
}

void ChangeSet::erase_prefix(std::string_view path) {
  for (const std::string& each : paths_below(nodes, path)) erase(each);
}

void ChangeSet::rename(std::string_view from, std::string_view to, bool keeps_ids,
                       std::uint64_t version) {
  const std::vector<std::string> paths = paths_below(nodes, from);
  if (paths.empty()) throw Error("there is no node at /" + std::string(from));
  if (!paths_below(nodes, to).empty() || is_at_or_below(to, from)) {
    throw Error("a node cannot be moved to /" + std::string(to));
  }
  check_free(to);
  // The log of a commit cannot say that one node replaces another.
  for (const std::string& path : paths) {
    keeps_ids &= !base_->find(moved_path(path, from, to)).has_value();
  }
  for (const std::string& path : paths) {
    Node node = nodes.extract(path).mapped();
    node.version = version;
    const std::string place = moved_path(path, from, to);
    if (!keeps_ids) {
      if (!node.document) node.document = std::make_shared<const std::string>(document(node));
      auto chunks = arrays.extract(node.id);
      const bool returns = node.base && base_->path(*node.base) == place;
      node.id = returns ? node_id(*base_, *node.base) : new_id<NodeId>();
      if (!chunks.empty()) {
        chunks.key() = node.id;
        arrays.insert(std::move(chunks));
      }
    }
    nodes.insert_or_assign(place, std::move(node));
  }
}

bool ChangeSet::is_from_base(const Node& node) const {
  return node.base && node_id(*base_, *node.base) == node.id;
}

bool ChangeSet::is_moved(const Nodes::value_type& node) const {
  return is_from_base(node.second) && base_->path(*node.second.base) != node.first;
}

bool ChangeSet::is_updated(const Node& node) const {
  return is_from_base(node) && node.document && *node.document != base_->document(*node.base);
}

bool ChangeSet::is_changed(const Nodes::value_type& node) const {
  return !is_from_base(node.second) || is_moved(node) || is_updated(node.second);
}

bool ChangeSet::has_changed_chunks(const Node& node) const {
  const auto it = arrays.find(node.id);
  return it != arrays.end() && !it->second.references.empty();
}

std::uint64_t ChangeSet::count() const {
  std::uint64_t count = deleted().size();
  for (const auto& node : nodes) {
    count += static_cast<std::uint64_t>(is_changed(node));
    if (has_changed_chunks(node.second)) count += arrays.at(node.second.id).references.size();
  }
  return count;
}

std::vector<std::size_t> ChangeSet::deleted() const {
  std::vector<bool> exists(base_->size());
  for (const auto& [path, node] : nodes) {
    if (is_from_base(node)) exists[*node.base] = true;
  }
  std::vector<std::size_t> gone;
  for (std::size_t i = 0; i < exists.size(); ++i) {
    if (!exists[i]) gone.push_back(i);
  }
  return gone;
}

}  // namespace zarrcore::icechunk
