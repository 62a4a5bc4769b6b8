// The folders of a store in the file system. Folders below the root are created when they are
// needed; the root is created once. After it has been removed or replaced, the store is not created
// again. Safe to use from several threads.
#pragma once

#include <atomic>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_set>

#include "zarrcore/store/local_folder.h"

namespace zarrcore {

class StoreFolders {
 public:
  // The root need not exist. Without `is_durable`, sync() does nothing.
  StoreFolders(std::string root, bool is_durable);

  const std::string& root() const { return root_; }

  // Throws Error when the store existed and has been removed.
  void check_root() const;
  // Creates a folder below the root, and its parents. Throws Error.
  void make(const std::string& folder);

  // A folder for puts, which is created if it does not exist. The first time, files left in it by
  // killed writers are removed, unless it has too many files. Throws Error.
  std::shared_ptr<LocalFolder> open(const std::string& folder);
  // The same after the folder has been removed.
  std::shared_ptr<LocalFolder> open_again(const std::string& folder);
  // Forgets the open folders, because their paths may change.
  void forget_open();

  // Removes files left by killed writers, from the root down, in as many folders as can be checked
  // quickly.
  void remove_leftovers() noexcept;

  // Waits until changes of the entries of a folder would survive a loss of power, and the folders
  // around it as well. Throws Error.
  void sync(const std::string& folder);

 private:
  struct OpenFolder {
    std::string path;
    std::shared_ptr<LocalFolder> folder;
  };

  std::shared_ptr<const LocalFolder> held_root() const;
  // Creates the root if the store has never existed. Throws Error when it has been removed.
  void make_root();
  void enter(const std::string& folder);

  std::string root_;
  bool is_durable_;
  std::atomic<bool> has_existed_;

  mutable std::mutex mutex_;
  std::shared_ptr<const LocalFolder> held_root_;  // since the first put
  std::list<OpenFolder> open_;                    // most recently used first
  long process_;                                  // the process that opened them
  std::unordered_set<std::string> entered_;
  std::unordered_set<std::string> durable_;  // whose entry would survive a loss of power
};

}  // namespace zarrcore
