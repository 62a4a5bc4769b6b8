// Puts, erases and renames what a store holds of nodes, and keeps in step with it the consolidated
// metadata of the store and what a hierarchy has read.
//
// A change is made with the lock held. The consolidated metadata that contains the changed
// documents is removed first, and put again by restore(). If this process ends in between, the next
// program that opens the store for writing restores it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "zarrcore/hierarchy/consolidated_copies.h"
#include "zarrcore/hierarchy/documents.h"
#include "zarrcore/hierarchy/node_cache.h"
#include "zarrcore/metadata/format.h"
#include "zarrcore/store/store.h"

namespace zarrcore {

class DocumentWriter {
 public:
  // What a hierarchy has read; it must outlive this object.
  DocumentWriter(std::shared_ptr<Store> store, const Format& format, DocumentReader& reader,
                 CopiedDocuments& copied, NodeCache& nodes,
                 ConsolidatedCopies::OnProblem on_problem, RunTogether run_together);

  // Locks out other programs that change nodes of the same hierarchy. Null if the store has no
  // locks.
  std::unique_ptr<StoreLock> lock() const { return copies_.lock(); }

  // The following functions are called with the lock held, and throw Error. Paths are node paths.

  // Removes the consolidated metadata of these groups, before documents in them change.
  void remove_copies(const std::vector<std::string>& groups);
  // The same before `change`. If that fails, the consolidated metadata is restored.
  void change(const std::vector<std::string>& groups, const std::function<void()>& change);
  // Writes the consolidated metadata that was removed, or that another program has left out of
  // date.
  void restore();
  // Returns true if consolidated metadata may have been removed since the last restore().
  bool lacks_copies() const { return lacks_copies_; }
  // Returns true if it is missing because a program has ended, or has not finished yet.
  bool has_note() const { return copies_.has_note(); }
  // restore() writes the root's, also if it has none now. `documents`: all documents of a new
  // store; empty if the store already existed.
  void want_root(const std::vector<Document>& documents);
  // restore() writes the consolidated metadata of these groups anew, or never.
  void consolidate(const std::vector<std::string>& groups);
  void remove_consolidated(const std::vector<std::string>& groups);
  // Returns true if there are groups around the store.
  bool has_groups_around() const { return copies_.has_groups_around(); }

  // The documents of a new node. Where each request waits, without attributes if there are none.
  std::vector<Document> new_documents(const NodeMetadata& metadata, const std::string& path) const;
  // The first document makes the node exist, so it is put last.
  void put(const std::vector<Document>& documents);
  // The documents of a new node. Removes those already put if one cannot be put.
  void put_new(const std::string& path, const std::vector<Document>& documents);
  // Returns true if a document of the node exists.
  bool has_documents(const std::string& path) const;
  // A node, and all nodes below it.
  void erase(const std::string& path);
  void rename(const std::string& path, const std::string& target);
  // In a single operation. Returns false if the store cannot; the nodes then stay.
  bool exchange(const std::string& path, const std::string& other);

 private:
  void forget(const std::string& path);
  void forget_after(const std::string& path, const std::function<void()>& remove);
  void erase_values(const std::string& path);
  void rename_values(const std::string& path, const std::string& target);

  std::shared_ptr<Store> store_;
  const Format& format_;
  DocumentReader& reader_;
  CopiedDocuments& copied_;
  NodeCache& nodes_;
  ConsolidatedCopies copies_;
  bool lacks_copies_ = false;
};

}  // namespace zarrcore
