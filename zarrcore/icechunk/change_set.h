// The nodes of a repository as a transaction has changed them, and the references to chunks that it
// has changed; the log of a commit, which says the same; and how the changes of two writers become
// one set. All of it is relative to a snapshot, the base, which nodes and chunks are taken from
// that have not changed.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "zarrcore/chunk/chunk_key_encoding.h"
#include "zarrcore/icechunk/object_file.h"
#include "zarrcore/icechunk/snapshot.h"

namespace zarrcore::icechunk {

// A group or an array.
struct Node {
  NodeId id{};
  bool is_array = false;
  // Its position in the base, or of the array that its chunks came from.
  std::optional<std::size_t> base;
  std::shared_ptr<const std::string> document;  // null if it has not changed
  std::uint64_t version = 0;                    // of the document
};

// A node as a transaction has got it from another one.
struct GivenNode {
  std::string path;
  std::string document;
};
using GivenNodes = std::map<NodeId, GivenNode>;

// The chunks of an array.
struct ArrayChanges {
  // As the document says. Throws Error if chunks cannot be stored.
  ArrayChanges(std::string_view document, std::string_view path);

  // The chunk's number in row-major order; nullopt if it is outside of the grid.
  std::optional<std::uint64_t> number_of(std::span<const std::uint64_t> index) const;
  std::vector<std::uint64_t> index_of(std::uint64_t number) const;
  // Returns true if a chunk of this grid is outside of another one.
  bool has_chunks_outside_of(const ArrayChanges& grid) const;
  // The document has changed. References outside of the new grid are dropped.
  void set_grid(const ArrayChanges& changed);

  std::size_t rank() const { return counts.size(); }
  ArrayChanges without_references() const;
  // Adds the changes of the same array by another writer, which win.
  void add(const ArrayChanges& others);

  static constexpr std::uint64_t kErased = UINT64_MAX;

  ChunkKeyEncoding keys;
  std::vector<std::uint64_t> lengths;  // of the array, in elements
  std::vector<std::uint64_t> counts;   // of chunks along each axis
  std::vector<std::optional<std::string>> dimension_names;
  bool has_dimension_names = false;  // in the document, where all may be null
  // By the numbers of chunks: the place in a ReferenceLog, or kErased. Other chunks are in the
  // base, if that has the same rank.
  std::map<std::uint64_t, std::uint64_t> references;
};

// What a transaction has got from another one.
struct GivenChanges {
  GivenNodes nodes;
  // References that are still the same, and those that others have replaced.
  std::map<NodeId, ArrayChanges> chunks;
};

class ChangeSet {
 public:
  // Unchanged. `base` must outlive this.
  ChangeSet(const Snapshot& base, std::uint64_t version);

  using Nodes = std::map<std::string, Node, std::less<>>;  // by their paths
  const Snapshot& base() const { return *base_; }

  // Null if there is none.
  const Node* find(std::string_view path) const;
  // The array at which the key begins, or above its path.
  Nodes::const_iterator find_array_of(std::string_view key) const;
  std::string_view document(const Node& node) const;
  // Of an array of this set.
  ArrayChanges& chunks(const Nodes::value_type& array) const;

  // Each changes nothing when it throws.
  // Returns false if that is the document. Of an array that gets another grid, the numbers that
  // `find_lost` returns have no chunks.
  using FindLost = std::function<std::vector<std::uint64_t>(
      const Nodes::value_type& array, const ArrayChanges& present, const ArrayChanges& changed)>;
  bool put_document(std::string_view path, std::string_view text, std::uint64_t version,
                    const FindLost& find_lost);
  void erase(std::string_view path);         // the node alone
  void erase_prefix(std::string_view path);  // and all below
  // With `keeps_ids`, nodes are moved. Otherwise they become new ones, with the same chunks, but
  // for those that return to their place in the base.
  void rename(std::string_view from, std::string_view to, bool keeps_ids, std::uint64_t version);

  // Returns true if it is a node of the base, maybe moved.
  bool is_from_base(const Node& node) const;
  bool is_moved(const Nodes::value_type& node) const;
  bool is_updated(const Node& node) const;
  // Returns true if it is new, moved or updated.
  bool is_changed(const Nodes::value_type& node) const;
  bool has_changed_chunks(const Node& node) const;
  // How many nodes and chunks have changed.
  std::uint64_t count() const;
  bool is_empty() const { return count() == 0; }
  // Positions of the nodes of the base that no longer exist.
  std::vector<std::size_t> deleted() const;

  Nodes nodes;
  mutable std::map<NodeId, ArrayChanges> arrays;  // those that were used

 private:
  void check_free(std::string_view path) const;

  const Snapshot* base_;
};

NodeId node_id(const Snapshot& snapshot, std::size_t node);

// --- The log of a commit, a file that says what the snapshot has changed (transaction_log.cpp) ---

// Chunks of arrays that came from others are in `copied`, by their numbers.
Buffer make_log(const ObjectId& id, int format, const ChangeSet& changes,
                const std::map<NodeId, std::vector<std::uint64_t>>& copied);
// The log of a commit that changed nothing.
Buffer make_empty_log(const ObjectId& id, int format);

// The chunks that a commit has changed, in order, by the ids of their arrays; without the chunks of
// an array that is not wanted.
using ChangedChunks = std::map<NodeId, std::vector<std::vector<std::uint64_t>>>;
void add_changed_chunks(ByteSpan log, const std::function<bool(const NodeId& array)>& is_wanted,
                        ChangedChunks& chunks);

// Changes of two writers that started from the same snapshot, made one. Nodes are known by their
// ids; chunks by their array's id and their index.
struct MergeOptions {
  bool our_chunks_win = false;     // where both have changed a chunk
  bool our_deletions_win = false;  // of what others have changed
  // Nodes of `ours` as they were when that started, if it did not start from its base alone.
  GivenNodes given = {};
  // Returns true if the references at two places of the log are to the same bytes; without it, none
  // are.
  std::function<bool(std::uint64_t ours, std::uint64_t theirs)> has_same_bytes = {};
};

// Applies the changes of `ours` to `theirs`, whose base is the same snapshot or a later one.
// `their_chunks` are those that have changed in `theirs` since the base of `ours`. Returns what
// contradicts, one sentence each; then `theirs` is in no useful state.
std::vector<std::string> merge_changes(const ChangeSet& ours, ChangeSet& theirs,
                                       const ChangedChunks& their_chunks,
                                       const MergeOptions& options);

}  // namespace zarrcore::icechunk
