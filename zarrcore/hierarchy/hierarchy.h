// The nodes of a store: which groups and arrays there are, and their metadata. With consolidated
// metadata the store is asked for nothing but the one document that holds it.
//
// Nodes can be changed. Nodes are made, renamed and removed at once; new metadata of one that is
// there is put by flush(), however often it changes until then. Others may change the same nodes:
// each is read from its own documents, and what has changed of it is put into those that are there
// by then. Consolidated metadata is true or, from the time that a node is made until flush(),
// absent.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "zarrcore/array/array.h"
#include "zarrcore/hierarchy/consolidated_copies.h"
#include "zarrcore/metadata/format.h"
#include "zarrcore/store/store.h"

namespace zarrcore {

struct HierarchyOptions {
  bool use_consolidated = true;  // of one that is created: whether it gets consolidated metadata
  bool is_writable = false;      // whether the functions that change nodes may be called
  // Told of faults that are passed over: what is wrong with one node must not hide the others.
  std::function<void(const std::string& problem)> on_problem = [](const std::string&) {};
};

struct Child {
  enum class Kind : std::uint8_t { array, group, broken };

  std::string name;  // empty for an array at a root that is a group as well
  Kind kind;
  std::string problem;  // of a broken one: why it is neither
};

class Hierarchy {
 public:
  // Throws Error when there is neither a group nor an array at the root of the store.
  explicit Hierarchy(std::shared_ptr<Store> store, HierarchyOptions options = {});

  // A new hierarchy, whose root is `root`. Throws Error when there is one in the store.
  static std::unique_ptr<Hierarchy> create(std::shared_ptr<Store> store, const Format& format,
                                           const NodeMetadata& root, HierarchyOptions options = {});

  const std::shared_ptr<Store>& store() const { return store_; }
  const Format& format() const { return *format_; }
  // Whether the store is asked for nothing but consolidated metadata.
  bool is_consolidated() const { return consolidated_ && !options_.is_writable; }

  // The node at `path` ("" for the root, "a/b"; slashes around it do not matter), or null when
  // there is none; one that is not `wanted` may count as none, which saves looking for it. Throws
  // Error, which names the document, when its metadata is not right. A root that is both is a group
  // unless an array is wanted.
  std::shared_ptr<const NodeMetadata> node(std::string_view path,
                                           std::optional<NodeKind> wanted = {}) const;

  // Whether there is a node of this kind. The attributes of a group may turn out to be not right
  // when it is read. Throws Error like node().
  bool has(std::string_view path, NodeKind kind) const;

  // Reads nodes that will be asked for, as many at once as the store has requests under way.
  // Returns false, and does nothing, when it has but one, or when nothing is asked of it.
  bool prefetch(std::span<const std::string> paths, NodeKind wanted, ThreadPool& pool,
                const WorkerScope& scope) const;

  // The names of the arrays, or groups, directly below the group at `path`, sorted. A node whose
  // metadata is not right counts as an array. The name of an array at a root that is a group as
  // well is empty.
  std::vector<std::string> child_names(std::string_view path, NodeKind kind) const;

  // The nodes directly below the group at `path`, sorted by name, all of which are read.
  std::vector<Child> children(std::string_view path) const;

  // The keys of the metadata documents that have been read from the store so far, sorted.
  std::vector<std::string> documents_read() const;

  // The array at `path`. Throws Error when there is none or it cannot be used.
  std::shared_ptr<const Array> open_array(std::string_view path,
                                          std::shared_ptr<Context> context) const;

  // Changes, below. Each throws Error, which names the node, when it cannot be made. `path` is a
  // node path. Arrays that were opened before do not learn of changes.

  // Makes a node below a group that is there. Nothing may stand at `path` yet, be it a node or not:
  // old chunks would become the new array's.
  void create_node(const std::string& path, NodeMetadata metadata);
  // Changes the metadata of a node, which stays of the same kind.
  void update_node(const std::string& path, const std::function<void(NodeMetadata&)>& edit);
  // Removes a node and all below it. Not the root: that is the store.
  void erase_node(const std::string& path);
  // Gives a node another name in the same group. Not the root.
  void rename_node(const std::string& path, const std::string& name);
  // Puts the metadata that has been updated, of one node or of all, and flush() consolidated
  // metadata that is absent because nodes were made. What fails is tried again by the next call.
  void flush_node(const std::string& path);
  void flush();

 private:
  Hierarchy(std::shared_ptr<Store> store, HierarchyOptions options, const Format& format)
      : store_(std::move(store)), options_(std::move(options)), format_(&format) {}

  // hierarchy_changes.cpp
  void start_changes();
  ConsolidatedCopies& copies() const;
  void check_is_new(const std::string& path) const;
  bool is_still_there(const std::string& path) const;
  std::vector<Document> documents_of(const NodeMetadata& metadata, const std::string& path) const;
  void put_documents(std::vector<Document> documents);
  void put_updated(const std::string& path);
  void change(ConsolidatedCopies::Changes changes, const std::function<void()>& change);
  void forget(const std::string& path);

  std::shared_ptr<const Buffer> stored_text(const std::string& key) const;
  std::shared_ptr<const NodeMetadata> root_array() const;
  std::optional<NodeMetadata> read_copied_node(const std::string& path) const;
  DocumentSource own_documents() const;
  DocumentSource copied_documents() const;
  std::shared_ptr<const NodeMetadata> known_node(const std::string& path) const;
  DocumentSource documents() const;

  std::shared_ptr<Store> store_;
  HierarchyOptions options_;
  const Format* format_ = nullptr;              // the root's, which all nodes share
  std::mutex change_mutex_;                     // held during a change
  std::unique_ptr<ConsolidatedCopies> copies_;  // for who may change nodes
  // Nodes whose metadata has yet to be put, and what it was when it was read or put last.
  std::map<std::string, std::shared_ptr<const NodeMetadata>, std::less<>> updated_;
  std::set<std::string, std::less<>> made_;  // nodes that consolidated metadata misses
  bool is_unfinished_ = false;               // when consolidated metadata could not be put

  mutable std::mutex mutex_;
  std::optional<ConsolidatedDocuments> consolidated_;
  mutable std::map<std::string, std::shared_ptr<const NodeMetadata>, std::less<>> nodes_;
  // The array at a root that is a group as well, or null; nothing until it is asked for.
  mutable std::optional<std::shared_ptr<const NodeMetadata>> root_array_;
  // Groups whose attributes may not have been read.
  mutable std::set<std::string, std::less<>> known_groups_;
  // Of documents at the root, which are asked for more than once.
  mutable std::map<std::string, std::shared_ptr<const Buffer>> root_texts_;
  // Nodes of which nothing but consolidated metadata tells.
  mutable std::set<std::string, std::less<>> known_by_copy_;
  mutable std::set<std::string> documents_read_;
};

}  // namespace zarrcore
