// How the changes of two writers become one set.
#include <utility>

#include "zarrcore/base/json.h"
#include "zarrcore/base/path.h"
#include "zarrcore/icechunk/change_set.h"

namespace zarrcore::icechunk {
namespace {

// Returns true if the arrays can have the same chunks: they differ in what is only a description.
bool has_same_chunks(std::string_view a, std::string_view b) {
  Json documents[] = {parse_json(a), parse_json(b)};
  for (Json& document : documents) {
    document.erase("attributes");
    document.erase("dimension_names");
  }
  return is_same_text(documents[0], documents[1]);
}

class Merge {
 public:
  Merge(const ChangeSet& ours, ChangeSet& theirs, const ChangedChunks& their_chunks,
        const MergeOptions& options)
      : ours_(ours), theirs_(theirs), their_chunks_(their_chunks), options_(options) {
    for (const auto& [path, node] : theirs.nodes) {
      paths_.emplace(node.base ? node_id(theirs.base(), *node.base) : node.id, path);
      places_.emplace(node.id, path);
    }
  }

  std::vector<std::string> run() {
    for (const std::size_t node : ours_.deleted()) erase(node);
    erase_given();
    // Places become free before others take them.
    std::vector<std::pair<const ChangeSet::Nodes::value_type*, Node>> added;
    for (const auto& node : ours_.nodes) {
      if (ours_.is_changed(node) || ours_.has_changed_chunks(node.second) ||
          options_.given.contains(node.second.id)) {
        if (auto merged = merged_node(node)) added.emplace_back(&node, *std::move(merged));
      }
    }
    for (auto& [node, merged] : added) add(*node, std::move(merged));
    check_tree();
    return std::move(conflicts_);
  }

 private:
  void note(std::string_view path, std::string_view problem) {
    conflicts_.push_back('/' + std::string(path) + ' ' + std::string(problem));
  }

  // The node of `theirs_` with this id; end() if it is gone.
  ChangeSet::Nodes::const_iterator find_theirs(const NodeId& id) const {
    const auto place = places_.find(id);
    const auto found = place != places_.end() ? theirs_.nodes.find(place->second) : nodes_end();
    return found != nodes_end() && found->second.id == id ? found : nodes_end();
  }
  ChangeSet::Nodes::const_iterator nodes_end() const { return theirs_.nodes.end(); }

  // Erases given nodes that are no longer in `ours_`.
  void erase_given() {
    GivenNodes gone = options_.given;
    for (const auto& [path, node] : ours_.nodes) gone.erase(node.id);
    for (const auto& [id, given] : gone) {
      const auto theirs = find_theirs(id);
      if (theirs == nodes_end()) continue;
      if (theirs->first != given.path || theirs_.document(theirs->second) != given.document ||
          their_chunks_.contains(id)) {
        note(given.path, "was deleted, and others have changed it");
      } else {
        theirs_.erase(given.path);
      }
    }
  }

  void erase(std::size_t base) {
    const NodeId id = node_id(ours_.base(), base);
    if (options_.given.contains(id)) return;
    const std::string_view path = ours_.base().path(base);
    const auto place = paths_.find(id);
    const auto theirs = place != paths_.end() ? theirs_.nodes.find(place->second) : nodes_end();
    if (theirs == nodes_end()) return;
    if (theirs->first != path) {
      const Node* own = ours_.find(theirs->first);
      const bool is_same_move = own != nullptr && own->id == theirs->second.id;
      if (!is_same_move) note(path, "was deleted, and others have moved it");
      return;
    }
    const bool is_changed = theirs_.document(theirs->second) != ours_.base().document(base) ||
                            their_chunks_.contains(id);
    if (is_changed && !options_.our_deletions_win) {
      return note(path, "was deleted, and others have changed it");
    }
    theirs_.erase(path);
  }

  // What our node becomes, which is taken from its place in `theirs_`. Nullopt if it has not
  // changed since it was given, or since the base, and if there is a conflict.
  std::optional<Node> merged_node(const ChangeSet::Nodes::value_type& ours) {
    const auto& [path, node] = ours;
    if (is_same(ours)) return take(ours, path);
    const auto given = options_.given.find(node.id);
    const bool is_given = given != options_.given.end();
    if (!is_given && !node.base) return node;
    if (!is_given && !ours_.is_from_base(node)) return merged_copy(ours);
    const GivenNode old = is_given ? given->second
                                   : GivenNode{std::string(ours_.base().path(*node.base)),
                                               std::string(ours_.base().document(*node.base))};
    const std::string_view document = ours_.document(node);
    const bool is_moved = path != old.path;
    const bool is_updated = document != old.document;
    const bool has_chunks = ours_.has_changed_chunks(node);
    if (!is_moved && !is_updated && !has_chunks) return std::nullopt;
    const auto theirs = find_theirs(node.id);
    if (theirs == nodes_end() || theirs->first != old.path) {
      note(old.path, theirs == nodes_end() ? "was changed, and others have deleted it"
                                           : "was changed, and others have moved it");
      return std::nullopt;
    }
    const auto stored = theirs->second.document;
    const std::string_view their_document = theirs_.document(theirs->second);
    const bool others_update = their_document != old.document;
    const bool others_put = their_chunks_.contains(node.id);
    // Since the base, any change of the document of an array whose chunks we have put is a
    // conflict; since a worker was given it, only another layout of chunks.
    std::string_view problem;
    if (is_moved && (others_update || others_put)) {
      problem = "was moved, and others have changed it";
    } else if (others_update && (is_updated || (has_chunks && !is_given))) {
      problem = "was changed, and others have changed its metadata";
    } else if (others_update && has_chunks && !has_same_chunks(their_document, old.document)) {
      problem = "was changed, and others have resized it";
    } else if (is_updated && others_put && !has_same_chunks(document, old.document)) {
      problem = "was resized, and others have changed its chunks";
    }
    if (!problem.empty()) {
      note(path, problem);
      return std::nullopt;
    }
    Node merged = take(ours, old.path);
    if (!is_updated) merged.document = stored;
    return merged;
  }

  // The same for a copy, of a node that was erase()d.
  std::optional<Node> merged_copy(const ChangeSet::Nodes::value_type& ours) {
    Node merged = ours.second;
    const std::size_t old = *merged.base;
    merged.base = theirs_.base().find(ours_.base().path(old));
    if (merged.base && node_id(theirs_.base(), *merged.base) == node_id(ours_.base(), old)) {
      return merged;
    }
    note(ours.first, "was moved, and others have deleted it");
    return std::nullopt;
  }

  // Returns true if it is the same node in `theirs_`, but for its chunks.
  bool is_same(const ChangeSet::Nodes::value_type& ours) const {
    const Node* node = theirs_.find(ours.first);
    return node != nullptr && node->id == ours.second.id &&
           theirs_.document(*node) == ours_.document(ours.second);
  }

  Node take(const ChangeSet::Nodes::value_type& ours, const std::string& their_path) {
    if (their_chunks_.contains(ours.second.id) && !options_.our_chunks_win) check_chunks(ours);
    const Node theirs = theirs_.nodes.extract(their_path).mapped();
    Node merged = ours.second;
    merged.base = theirs.base;
    if (!merged.document) merged.document = theirs.document;
    return merged;
  }

  void check_chunks(const ChangeSet::Nodes::value_type& array) {
    const auto changes = ours_.arrays.find(array.second.id);
    if (changes == ours_.arrays.end()) return;
    const ArrayChanges& chunks = changes->second;
    for (const auto& index : their_chunks_.at(array.second.id)) {
      if (index.size() != chunks.rank()) continue;
      const auto number = chunks.number_of(index);
      const auto own = number ? chunks.references.find(*number) : chunks.references.end();
      if (own == chunks.references.end() || is_same_chunk(array.second.id, *own)) continue;
      note(chunks.keys.encode(index, array.first), "was changed, and others have changed it");
    }
  }

  bool is_same_chunk(const NodeId& array,
                     const std::pair<const std::uint64_t, std::uint64_t>& ours) const {
    const auto others = theirs_.arrays.find(array);
    if (!options_.has_same_bytes || others == theirs_.arrays.end()) return false;
    const auto theirs = others->second.references.find(ours.first);
    return theirs != others->second.references.end() &&
           (theirs->second == ours.second || options_.has_same_bytes(ours.second, theirs->second));
  }

  void add(const ChangeSet::Nodes::value_type& ours, Node node) {
    const auto& [path, old] = ours;
    const auto existing = theirs_.nodes.find(path);
    if (existing != theirs_.nodes.end()) {
      // Each writer of a first array makes the groups around it.
      const bool is_same_group = !old.base && !old.is_array && !existing->second.is_array &&
                                 theirs_.document(existing->second) == ours_.document(old);
      if (!is_same_group) note(path, "was created, and others have created it");
      return;
    }
    if (find_theirs(old.id) != nodes_end()) {
      return note(path, "was created, and others have moved it");
    }
    const auto changes = ours_.arrays.find(old.id);
    if (changes != ours_.arrays.end()) {
      const auto [merged, is_new] = theirs_.arrays.try_emplace(old.id, changes->second);
      if (!is_new) merged->second.add(changes->second);
      if (theirs_.document(node) != ours_.document(old)) {
        merged->second.set_grid(ArrayChanges(theirs_.document(node), path));
      }
    }
    theirs_.nodes.emplace(path, std::move(node));
  }

  // Each node is in a group, unless it was in none before.
  void check_tree() {
    for (const auto& [path, node] : theirs_.nodes) {
      if (path.empty()) continue;
      const std::string_view group = parent_path(path);
      const Node* parent = theirs_.find(group);
      if (parent != nullptr && parent->is_array) note(path, "is in an array");
      if (parent == nullptr && (theirs_.base().find(group) || ours_.find(group) != nullptr)) {
        note(path, "is in a group that was deleted");
      }
    }
  }

  const ChangeSet& ours_;
  ChangeSet& theirs_;
  const ChangedChunks& their_chunks_;
  const MergeOptions& options_;
  std::map<NodeId, std::string> paths_;   // in `theirs_`, by ids in its base
  std::map<NodeId, std::string> places_;  // the same by their own ids
  std::vector<std::string> conflicts_;
};

}  // namespace

std::vector<std::string> merge_changes(const ChangeSet& ours, ChangeSet& theirs,
                                       const ChangedChunks& their_chunks,
                                       const MergeOptions& options) {
  return Merge(ours, theirs, their_chunks, options).run();
}

}  // namespace zarrcore::icechunk
