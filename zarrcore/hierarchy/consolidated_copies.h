// The consolidated metadata around nodes that are changed: each group may hold a copy of the
// documents of all nodes below it, and readers believe it. The groups that the store itself stands
// in, in folders above its own, count as well.
//
// A copy is true, or it is not there: it is taken away before a node changes, and put again with
// what has changed. Meanwhile a document of the topmost group tells what is owed; whoever changes
// something next makes it again, should this process end in between.
#pragma once

#include <functional>
#include <map>
#include <memory>
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
    std::vector<std::string> updated;  // nodes whose documents change
    std::vector<std::string>
        replaced;                   // with all that is below them: they go, or come from elsewhere
    std::vector<std::string> made;  // since owe() was called for them
  };

  // Looks for the topmost group around `store`.
  ConsolidatedCopies(std::shared_ptr<Store> store, const Format& format, OnProblem on_problem);

  // Keeps others waiting who change nodes of the same hierarchy. Null where the store has no locks.
  std::unique_ptr<StoreLock> lock() const { return top_->lock(""); }

  // Whether somebody who is gone, or has not finished, owes copies.
  bool is_owed() const;

  // For who holds the lock. They throw Error.

  // Makes what is owed, from the documents that there are.
  void make_owed();
  // Takes the copies around a node away that is about to be made: they are owed from now on.
  void owe(const std::string& path);
  // Makes `changes` by calling `change`, and puts the copies, also when it throws.
  void change(const Changes& changes, const std::function<void()>& change);

  // The root of the store gets a copy even if it has none.
  void want_root() { wants_root_ = true; }

 private:
  using Copy = std::map<std::string, LazyDocument, std::less<>>;  // by key in top_
  using Copies = std::map<std::string, Copy>;                     // by group

  std::string in_top(std::string_view path) const;
  Copy collect(const std::string& group) const;
  Copies find(const std::vector<std::string>& paths) const;
  Copies take(const std::vector<std::string>& paths);
  Copies read_owed() const;
  DocumentMap rebuild(const std::string& group, const Copy& copy) const;
  DocumentMap update(const std::string& group, const Copy& copy, const Changes& changes) const;
  bool has_anything_below(const std::string& path) const;
  void note(const Copies& owed);
  void take_away(const std::string& group);
  void put(const std::string& group, const Copy& copy, const Changes& changes);
  void put_copy(const std::string& group, const DocumentMap& documents);

  std::shared_ptr<Store> top_;
  const Format& format_;
  OnProblem on_problem_;
  std::string place_;  // of the store below top_
  bool wants_root_ = false;
  bool owes_ = false;
};

}  // namespace zarrcore
