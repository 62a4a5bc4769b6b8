// The nodes of a store: which groups and arrays there are, and their metadata. With consolidated
// metadata the store is asked for nothing but the one document that holds it.
//
// Nodes can be changed. Nodes are made, renamed and removed at once; new metadata of one that is
// there is put by flush(), however often it changes until then. Consolidated metadata is removed
// from the store before the first change and written again by flush(), so that nobody ever reads
// what is not true any more.
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
#include "zarrcore/metadata/format.h"
#include "zarrcore/store/store.h"

namespace zarrcore {

struct HierarchyOptions {
  bool use_consolidated = true;  // of one that is created: whether it gets consolidated metadata
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
  bool is_consolidated() const { return consolidated_.has_value(); }

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
  // Replaces the metadata of a node by that of a node of the same kind.
  void update_node(const std::string& path, NodeMetadata metadata);
  // Removes a node and all below it. Not the root: that is the store.
  void erase_node(const std::string& path);
  // Gives a node another name in the same group. Not the root.
  void rename_node(const std::string& path, const std::string& name);
  // Puts the metadata that has been updated, of one node or of all; then consolidated metadata, if
  // there is to be any. What fails is tried again by the next call.
  void flush_node(const std::string& path);
  void flush();

 private:
  Hierarchy(std::shared_ptr<Store> store, HierarchyOptions options, const Format& format)
      : store_(std::move(store)), options_(std::move(options)), format_(&format) {}

  // hierarchy_changes.cpp
  void check_is_new(const std::string& path) const;
  void begin_change(const std::string& path);
  void drop_consolidated(const std::string& group);
  bool has_consolidated(const std::string& group) const;
  std::vector<Document> documents_of(const NodeMetadata& metadata, const std::string& path) const;
  void put_documents(std::vector<Document> documents);
  void put_updated(const std::string& path);
  void forget(const std::string& path);
  void collect_documents(const std::string& path, DocumentMap& documents) const;

  std::shared_ptr<const Buffer> stored_text(const std::string& key) const;
  std::shared_ptr<const NodeMetadata> root_array() const;
  DocumentSource stored_documents() const;
  std::shared_ptr<const NodeMetadata> known_node(const std::string& path) const;
  DocumentSource documents() const;

  std::shared_ptr<Store> store_;
  HierarchyOptions options_;
  const Format* format_ = nullptr;                     // the root's, which all nodes share
  std::mutex change_mutex_;                            // held during a change
  bool must_consolidate_ = false;                      // when nodes have changed
  bool has_changed_ = false;                           // since consolidated metadata was written
  std::set<std::string, std::less<>> updated_;         // nodes whose metadata has yet to be put
  std::set<std::string, std::less<>> known_as_plain_;  // groups that hold no consolidated metadata

  mutable std::mutex mutex_;
  std::optional<ConsolidatedDocuments> consolidated_;  // that is used
  mutable std::map<std::string, std::shared_ptr<const NodeMetadata>, std::less<>> nodes_;
  // The array at a root that is a group as well, or null; nothing until it is asked for.
  mutable std::optional<std::shared_ptr<const NodeMetadata>> root_array_;
  // Groups whose attributes may not have been read.
  mutable std::set<std::string, std::less<>> known_groups_;
  // Of documents at the root, which are asked for more than once.
  mutable std::map<std::string, std::shared_ptr<const Buffer>> root_texts_;
  mutable std::set<std::string> documents_read_;
};

}  // namespace zarrcore
