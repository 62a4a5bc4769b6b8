// Keeps consolidated metadata in sync while nodes change: each group may have a copy of the
// documents of all nodes below it, which readers use instead of the documents. This includes groups
// above the store itself, in folders around its own.
//
// A copy is either correct or missing: it is removed before a node changes, and put again with the
// changes. Meanwhile a document of the topmost group notes which copies are owed. If this process
// ends in between, the next program to change something makes them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "zarrcore/metadata/format.h"
#include "zarrcore/store/store.h"

namespace zarrcore {

class ConsolidatedCopies {
 public:
  using OnProblem = std::function<void(const std::string& problem)>;

  // Node paths in the store.
  struct Changes {
    std::vector<std::string> updated;   // their documents change
    std::vector<std::string> replaced;  // removed, or moved here, with all nodes below them
    std::vector<std::string> made;      // new since owe() was called for them
  };

  // Finds the topmost group around `store`.
  ConsolidatedCopies(std::shared_ptr<Store> store, const Format& format, OnProblem on_problem);

  // Locks out other programs that change nodes of the same hierarchy. Null if the store has no
  // locks.
  std::unique_ptr<StoreLock> lock() const { return top_->lock(""); }

  // Whether copies are owed: by a program that has ended, or has not finished yet.
  bool is_owed() const;
  // The same for a store without the groups around it.
  static bool is_owed_in(Store& store);

  // The following functions are called with the lock held. They throw Error.

  // Makes the owed copies from the existing documents.
  void make_owed();
  // Removes the copies above a node that is about to be made: they are owed from now on.
  void owe(const std::string& path);
  // Makes `changes` by calling `change`, and puts the copies, also when it throws. `change` adds
  // the documents of changed nodes, as they are stored then, to `stored`.
  void change(const Changes& changes, const std::function<void(DocumentMap& stored)>& change);

  // The root of the store gets a copy even if it has none now.
  void want_root() { wants_root_ = true; }
  // The same for a store that has only just been made.
  void want_new_root() { wants_root_ = is_new_ = true; }

 private:
  using Copy = std::map<std::string, LazyDocument, std::less<>>;  // by key in top_
  using Copies = std::map<std::string, Copy>;                     // by group

  std::string in_top(std::string_view path) const;
  Copy collect(const std::string& group) const;
  Copies find(const std::vector<std::string>& paths, const Copies& owed) const;
  Copies take(const std::vector<std::string>& paths);
  Copies read_owed() const;
  DocumentMap rebuild(const std::string& group, const Copy& copy) const;
  DocumentMap update(const std::string& group, const Copy& copy, const Changes& changes,
                     const DocumentMap& stored) const;
  // Adds a document of a copy, or reports why it cannot be used.
  void add_copied(DocumentMap& documents, const std::string& key,
                  const LazyDocument& document) const;
  bool has_anything_below(const std::string& path) const;
  void note(const Copies& owed);
  void take_away(const std::string& group);
  void put(const std::string& group, const Copy& copy, const Changes& changes,
           const DocumentMap& stored);
  void put_copy(const std::string& group, const DocumentMap& documents);

  std::shared_ptr<Store> top_;
  const Format& format_;
  OnProblem on_problem_;
  std::string place_;  // of the store below top_
  bool wants_root_ = false;
  bool is_new_ = false;
  bool owes_ = false;
  std::set<std::string> taken_;  // groups whose copies have been removed and not put again
  bool is_note_lost_ = false;    // another program has made the copies, or removed the store
  bool is_behind_ = false;       // owed copies lack changes that have been made
};

}  // namespace zarrcore
