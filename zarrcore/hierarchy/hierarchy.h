// The nodes of a store: its groups and arrays, and their metadata.
//
// The life of a hierarchy:
//   open    The constructor finds the format of the root. With consolidated metadata, only the one
//           document that contains it is read from the store; a writable hierarchy reads each node
//           from its own documents.
//   read    node() reads a node when it is first asked for, and caches it. prefetch() and
//           children() request the documents of many nodes at once.
//   change  Creating, renaming and removing a node takes effect at once. update_node() changes
//           the cached metadata alone, however often. Before the first document changes, the
//           consolidated metadata that contains it is removed.
//   flush   flush() merges changed metadata into the documents as they are by then, because other
//           programs may have changed the same nodes. Then it puts consolidated metadata again.
//           Consolidated metadata is correct or missing at any time; if the process ends before,
//           the next writable hierarchy puts it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "zarrcore/array/array.h"
#include "zarrcore/base/api.h"
#include "zarrcore/hierarchy/documents.h"
#include "zarrcore/hierarchy/node_cache.h"
#include "zarrcore/metadata/format.h"
#include "zarrcore/store/requests.h"
#include "zarrcore/store/store.h"

namespace zarrcore {

struct HierarchyOptions {
  bool use_consolidated = true;  // when creating: whether to write consolidated metadata
  bool is_writable = false;      // true if the functions that change nodes may be called
  // The format of NumPy's long doubles; without it, arrays of them cannot be opened.
  std::optional<FloatFormat> long_double = {};
  // Called for faults that are skipped, so that one broken node does not hide the others.
  std::function<void(const std::string& problem)> on_problem = [](const std::string&) {};
  // The names of attributes that are lists or objects of lists. Each of their elements is merged
  // separately with changes by other programs; other attributes are merged as whole values.
  std::set<std::string> merged_by_element = {};
  // How documents of slow stores are requested at once; one after the other if empty.
  RunTogether run_together = {};
  // The path of an array that will be opened: its documents and the documents of the groups around
  // it are requested together with the root's.
  std::string expected_array = {};
  // Documents at the root that have just been requested from this store, by key.
  std::map<std::string, DocumentText> root_documents = {};
  // `lists_root`: the root of a writable store may be listed first, to avoid requests for documents
  // that do not exist. `root_listing`: that listing, if it has just been made.
  bool lists_root = true;
  // True if a store without any value has an empty root group of Zarr v3.
  bool empty_is_group = false;
  std::optional<DirectoryListing> root_listing = {};
};

struct Child {
  enum class Kind : std::uint8_t { array, group, broken };

  std::string name;  // empty for an array at a root that is a group as well
  Kind kind;
  std::string problem;  // if broken: why
};

class DocumentWriter;

class ZARRCORE_API Hierarchy {
 public:
  // Throws Error when there is neither a group nor an array at the root of the store.
  explicit Hierarchy(std::shared_ptr<Store> store, HierarchyOptions options = {});

  // A new hierarchy with the root node `root`. Throws Error when the store already has one.
  static std::unique_ptr<Hierarchy> create(std::shared_ptr<Store> store, const Format& format,
                                           const NodeMetadata& root, HierarchyOptions options = {});
  ~Hierarchy();
  Hierarchy(const Hierarchy&) = delete;
  Hierarchy& operator=(const Hierarchy&) = delete;

  // Opening or creating has ended. Until then, what the store has shown at its beginning still
  // holds, and is not requested again.
  void end_opening();
  // While the returned object exists, the names of nodes are not listed twice.
  std::shared_ptr<void> keep_listings() { return reader_.keep_listings(); }

  const std::shared_ptr<Store>& store() const { return store_; }
  const Format& format() const { return *format_; }
  // Returns true if only consolidated metadata is read.
  bool is_consolidated() const { return !options_.is_writable && copied_.exist(); }

  // The node at `path` ("" for the root, "a/b"; leading and trailing slashes are ignored), or null
  // when it does not exist. With `wanted`, a node of the other kind may be reported as missing,
  // which saves requests. Throws Error, which names the document, when its metadata is invalid. A
  // root that is both a group and an array is the group unless an array is wanted.
  std::shared_ptr<const NodeMetadata> node(std::string_view path,
                                           std::optional<NodeKind> wanted = {}) const;

  // Makes node() see attributes that other programs have changed since the node was read. Changes
  // that are not flushed stay, and are merged by flush(). Changed documents are detected by their
  // versions, or, where that would take a request, only after expect_changes(). Only attributes are
  // refreshed: an array of another shape is another array.
  void refresh_node(std::string_view path) const;
  // From now on, refresh_node() reads each node once more, whether or not a change shows.
  void expect_changes() { ++changes_; }

  // Returns true if a node of this kind exists. The attributes of a group may still turn out to be
  // invalid when it is read. Throws Error like node().
  bool has(std::string_view path, NodeKind kind) const;

  // Reads nodes in advance, with as many requests at once as suit the store. Returns false and does
  // nothing when requests of the store do not wait, or when only consolidated metadata is read.
  bool prefetch(std::span<const std::string> paths, std::optional<NodeKind> wanted) const;

  // The names of the arrays, or groups, directly below the group at `path`, sorted. A node with
  // invalid metadata counts as an array. The name of an array at a root that is also a group is
  // empty.
  std::vector<std::string> child_names(std::string_view path, NodeKind kind) const;

  // The nodes directly below the group at `path`, sorted by name. Reads all of them.
  std::vector<Child> children(std::string_view path) const;

  // Why the store did not give a document of the node at `path`, or of any node if it is "", so
  // that it was treated as missing; empty if there was none.
  std::string denied(std::string_view path) const;
  // Throws that as an Error. For a node that was not found.
  void check_not_denied(std::string_view path) const;

  // The keys of the metadata documents read so far, sorted.
  std::vector<std::string> documents_read() const { return reader_.documents_read(); }

  // The array at `path`. Throws Error when it does not exist or cannot be used.
  std::shared_ptr<const Array> open_array(std::string_view path,
                                          std::shared_ptr<Context> context) const;

  // The following functions change nodes. They throw Error, which names the node. `path` is a node
  // path. Open arrays do not see the changes.

  // Creates a node below an existing group. Nothing may exist at `path`, not even keys that belong
  // to no node: old chunks would become chunks of the new array.
  void create_node(const std::string& path, NodeMetadata metadata);
  // Changes the metadata of a node, but not its kind. Throws Error when an array is wanted and it
  // is a group: of a root that is both, only the group can be changed.
  void update_node(const std::string& path, const std::function<void(NodeMetadata&)>& edit,
                   std::optional<NodeKind> wanted = {});
  // The same for an edit of attributes alone, which changes nothing when it throws. Not in time
  // that depends on their number: from the second edit on, the metadata that node() has returned
  // may change, unless there are references to it beside the `held` ones of the caller.
  void update_attributes(const std::string& path, const std::function<void(Json&)>& edit,
                         std::optional<NodeKind> wanted = {}, long held = 0);
  // Removes a node and all nodes below it. Not the root, which is the store.
  void erase_node(const std::string& path) { erase_nodes({&path, 1}); }
  // The same for several. Tries all of them before it throws.
  void erase_nodes(std::span<const std::string> paths);
  // Removes the documents of all nodes and nothing else, before the store is removed: meanwhile no
  // node seems to have lost chunks.
  void erase_documents();
  // Renames a node within its group. Not the root.
  void rename_node(const std::string& path, const std::string& name);
  // Exchanges the names of two nodes of a group, of which no changes are pending, in a single
  // operation. Returns false if the store cannot; the nodes then stay.
  bool exchange_nodes(const std::string& path, const std::string& other);
  // Puts updated metadata, of one node or of all. flush() also puts consolidated metadata that is
  // missing because nodes have changed. After a failure, the next call tries again.
  void flush_node(const std::string& path);
  void flush();
  // Puts consolidated metadata into the root, also if it has none. Throws Error when there is no
  // group at the root, or when the format has no consolidated metadata.
  void consolidate() { consolidate({""}); }
  // Puts the consolidated metadata of these groups, and of the groups around them that have some.
  void consolidate(const std::vector<std::string>& groups);
  // Removes the consolidated metadata of these groups. The groups around them keep theirs.
  void remove_consolidated(const std::vector<std::string>& groups);

 private:
  Hierarchy(std::shared_ptr<Store> store, HierarchyOptions options, const Format& format);

  bool is_slow() const { return !is_consolidated() && reader_.is_slow(); }
  DocumentSource documents() const;
  DocumentRequests::AnswerScope request(std::vector<std::string> keys) const;
  DocumentRequests::AnswerScope request_expected() const;
  void read_expected() const;
  void prefetch_node(const std::string& path, std::optional<NodeKind> wanted) const;
  void prefetch_arrays(std::span<const std::string> paths) const;
  std::shared_ptr<const NodeMetadata> root_array() const;
  std::optional<NodeMetadata> read_copied_node(const std::string& path) const;
  void note_read(const std::string& path, std::uint64_t changes) const;
  void refresh_copies() const;
  void check_is_current(const std::string& path, const ArrayMetadata& array) const;
  std::vector<std::string> listed_names(const DocumentSource& source,
                                        const std::string& group) const;
  std::vector<std::string> prefetched_names(const DocumentSource& source,
                                            const std::string& group) const;

  // The name of a node, for messages.
  std::string name_of(const std::string& path) const {
    return store_->description() + ": /" + path;
  }
  // Throws Error if the hierarchy is not writable.
  DocumentWriter& writer();
  void restore_at_opening();
  bool is_new_store();
  void create_root(const NodeMetadata& root);
  void check_is_new(const std::string& path) const;
  void put_updated(const std::string& path);
  std::string group_of(const std::string& path) const;

  std::shared_ptr<Store> store_;
  HierarchyOptions options_;
  const Format* format_ = nullptr;            // the root's format, which all nodes share
  std::unique_ptr<const Format> own_format_;  // if it is for this store alone
  mutable DocumentReader reader_;
  mutable CopiedDocuments copied_;
  mutable NodeCache nodes_;
  std::shared_ptr<void> kept_until_opened_;  // listings

  std::mutex change_mutex_;                 // held during a change
  std::unique_ptr<DocumentWriter> writer_;  // null until it is needed
  // Nodes with updated metadata, with the metadata that was last read or put.
  std::map<std::string, std::shared_ptr<const NodeMetadata>, std::less<>> updated_;
  bool is_new_ = false;  // true if everything in the store was put by this object

  // How often all nodes had to be read again.
  mutable std::atomic<std::uint64_t> changes_ = 0;
  mutable std::mutex mutex_;                            // guards the following
  mutable std::set<std::string, std::less<>> skipped_;  // nodes with a name that none may have
  // The changes before which nodes were read, and the consolidated metadata; none for all others.
  mutable std::map<std::string, std::uint64_t, std::less<>> read_after_;
  mutable std::uint64_t copies_read_after_ = 0;
};

}  // namespace zarrcore
