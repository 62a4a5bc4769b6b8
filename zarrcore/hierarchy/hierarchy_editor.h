// Changes the nodes of a hierarchy: implements the functions of Hierarchy that change nodes.
//
// A change is made with the lock of the hierarchy held. The consolidated metadata that contains the
// changed documents is removed first, and put again by flush().
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "zarrcore/hierarchy/consolidated_copies.h"
#include "zarrcore/hierarchy/hierarchy.h"
#include "zarrcore/metadata/format.h"

namespace zarrcore {

class HierarchyEditor {
 public:
  // The hierarchy must outlive it. Its format is known.
  explicit HierarchyEditor(Hierarchy& hierarchy);

  // Restores consolidated metadata that another program has left out of date. If that fails, the
  // next program tries it.
  void start();
  void end_opening() { is_new_ = false; }

  // Each throws Error if something exists where the node would be.
  void create_root(const NodeMetadata& root);
  void create(const std::string& path, NodeMetadata metadata);
  void erase(std::span<const std::string> paths);
  void rename(const std::string& path, const std::string& name);
  bool exchange(const std::string& path, const std::string& other);
  // node_metadata.cpp has these.
  void update(const std::string& path, const std::function<void(NodeMetadata&)>& edit,
              std::optional<NodeKind> wanted);
  void update_attributes(const std::string& path, const std::function<void(Json&)>& edit,
                         std::optional<NodeKind> wanted, long held);
  void flush(const std::string& path);
  void flush();
  void consolidate(const std::vector<std::string>& groups);
  void remove_consolidated(const std::vector<std::string>& groups);

 private:
  // The name of a node, for messages.
  std::string name_of(const std::string& path) const { return store_.description() + ": /" + path; }
  ConsolidatedCopies& copies();
  void remove_copies(const std::vector<std::string>& groups);
  void change_documents(const std::vector<std::string>& groups,
                        const std::function<void()>& change);

  bool is_new_store();
  void check_is_new(const std::string& path) const;
  bool has_documents(const std::string& path) const;
  std::vector<Document> documents_of(const NodeMetadata& metadata, const std::string& path) const;
  std::vector<Document> new_documents_of(const NodeMetadata& metadata,
                                         const std::string& path) const;
  void put_documents(const std::vector<Document>& documents);
  void put_new_documents(const std::string& path, const std::vector<Document>& documents);
  void put_updated(const std::string& path);
  std::string group_of(const std::string& path) const;
  void erase_values(const std::string& path);
  void rename_values(const std::string& path, const std::string& target);
  void forget_after(const std::string& path, const std::function<void()>& remove);
  void forget(const std::string& path);

  Hierarchy& hierarchy_;
  Store& store_;
  const Format& format_;
  std::mutex mutex_;                            // held during a change
  std::unique_ptr<ConsolidatedCopies> copies_;  // null until it is needed
  // Nodes with updated metadata, with the metadata that was last read or put.
  std::map<std::string, std::shared_ptr<const NodeMetadata>, std::less<>> updated_;
  bool lacks_copies_ = false;  // true if consolidated metadata may have been removed
  bool is_new_ = false;        // true if everything in the store was put by this object
};

}  // namespace zarrcore
