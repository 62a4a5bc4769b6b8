// The folders that a store in the file system consists of. Those below its root are made when they
// are needed; the root is made once. When it has been removed, or another one is in its place, the
// store is gone, and nothing of it is made again. Safe to use from several threads.
#pragma once

#include <atomic>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_set>

#include "zarrcore/store/posix_folder.h"

namespace zarrcore {

class StoreFolders {
 public:
  // The root need not exist. If `is_durable`, sync() has something to do.
  StoreFolders(std::string root, bool is_durable);

  const std::string& root() const { return root_; }
  // The one that a file is in.
  static std::string of(const std::string& path);

  // Throws Error when the store was there and is gone.
  void check_root() const;
  // Makes a folder below the root, and those on the way. Throws Error.
  void make(const std::string& folder);

  // A folder that something is put into, which is made if it does not exist. The first time, what
  // killed writers have left in it is removed, unless that would take a look at too many files.
  // Throws Error.
  std::shared_ptr<PosixFolder> open(const std::string& folder);
  // Opens it anew, after it has been removed.
  std::shared_ptr<PosixFolder> open_again(const std::string& folder);
  // Forgets all folders, which may get other paths.
  void forget_open();

  // The same for folders from the root down, as many as are quickly gone through.
  void remove_leftovers() noexcept;

  // Waits until what has been put into a folder, and erased from it, would outlive a loss of power,
  // and so would the folders on the way. Throws Error.
  void sync(const std::string& folder);

 private:
  struct OpenFolder {
    std::string path;
    std::shared_ptr<PosixFolder> folder;
  };

  std::shared_ptr<const PosixFolder> held_root() const;
  // Makes the root if the store has never been there. Throws Error when it is gone.
  void make_root();
  void enter(const std::string& folder);

  std::string root_;
  bool is_durable_;
  std::atomic<bool> has_been_there_;

  mutable std::mutex mutex_;
  std::shared_ptr<const PosixFolder> held_root_;  // since something has been put
  std::list<OpenFolder> open_;                    // the last used first
  long process_;                                  // whose they are
  std::unordered_set<std::string> entered_;
  std::unordered_set<std::string> durable_;  // whose names would outlive a loss of power
};

}  // namespace zarrcore
