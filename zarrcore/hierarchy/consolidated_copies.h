// Keeps consolidated metadata in sync while nodes change: each group may have a copy of the
// documents of all nodes below it, which readers use instead of the documents. This includes groups
// above the store itself, in folders around its own.
//
// A copy is either correct or missing. Before a document changes, the copies that contain it are
// removed; restore() writes them again from the documents. Meanwhile a file of the topmost group
// names the groups that lack their copy. If this process ends in between, the next program that
// opens the store for writing restores them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "zarrcore/metadata/format.h"
#include "zarrcore/store/requests.h"
#include "zarrcore/store/store.h"

namespace zarrcore {

class ConsolidatedCopies {
 public:
  using OnProblem = std::function<void(const std::string& problem)>;
  // Returns true for keys of the store's documents that have been read or put.
  using HasRead = std::function<bool(const std::string& key)>;

  // The key of the file that names groups without their copy: {"groups": [path, …], "writer":
  // NAME}.
  static constexpr std::string_view kNoteKey = ".zarr-consolidation-owed";

  // Finds the topmost group around `store`.
  ConsolidatedCopies(std::shared_ptr<Store> store, const Format& format, OnProblem on_problem,
                     RunTogether run_together, HasRead has_read);

  // Locks out other programs that change nodes of the same hierarchy. Null if the store has no
  // locks.
  std::unique_ptr<StoreLock> lock() const { return top_->lock(""); }

  // Returns true if copies are missing because a program has ended, or has not finished yet.
  bool has_note() const { return format_.consolidated_key("") && has_note_in(*top_); }
  // The same for a store without the groups around it.
  static bool has_note_in(Store& store);

  // The following functions are called with the lock held. They throw Error. Paths are node paths
  // in the store.

  // Returns true if there are groups around the store.
  bool has_groups_around() const { return !place_.empty(); }

  // Removes the copies that contain these nodes. Called before documents of them, or of nodes below
  // them, are put or erased. Nodes that exist in a copy alone get documents.
  void remove(std::span<const std::string> paths);
  // Records the changes that follow remove(). A store where reading all documents would take many
  // requests gets its copies from these changes.
  void note_put(const Document& document);
  void note_erased(const std::string& path);
  void note_renamed(const std::string& path, const std::string& new_path);
  // The removed copies are put again from the documents: an unknown part of a change has been made,
  // or the copies may have been wrong.
  void forget_content() { changed_copies_.clear(); }

  // The root of the store gets a copy even if it has none now. `documents`: all documents of a new
  // store; empty if the store already existed.
  void want_root(std::span<const Document> documents);
  // Missing copies of these groups are no longer to be restored.
  void forget(std::span<const std::string> paths);
  // Writes the missing copies. Copies that cannot be written stay missing and can be tried again.
  void restore();

 private:
  // The content of the file that names the groups without their copy.
  struct Note {
    std::set<std::string> groups;
    std::string writer;  // the only writer that has changed documents since then; empty if unknown
  };

  std::string in_top(std::string_view path) const;
  std::optional<Note> read_note() const;
  void put_note(const std::set<std::string>& groups);
  // Returns the copy of a group; without documents if it is broken, nullopt if there is no copy.
  std::optional<ConsolidatedDocuments> find(const std::string& group) const;
  std::optional<Json> parse(const std::string& key, const LazyDocument& document) const;
  void put_missing_documents(const std::string& group, ConsolidatedDocuments& copy);
  void erase_copy(const std::string& group, const ConsolidatedDocuments& copy);
  void put_copy(const std::string& group);

  std::shared_ptr<Store> top_;
  const Format& format_;
  OnProblem on_problem_;
  RunTogether run_together_;
  HasRead has_read_;
  std::string place_;                       // of the store below top_
  std::string writer_;                      // a name of this object
  std::set<std::string> removed_;           // groups whose copies this object has removed
  std::set<std::string> without_;           // groups that have no copy
  std::set<std::string, std::less<>> own_;  // documents that are known to exist
  // In a store that knows no versions: the removed copies with all changes since, by group.
  std::map<std::string, DocumentMap> changed_copies_;
};

}  // namespace zarrcore
