// The folders of a store in the file system. Folders below the root are created when they are
// needed; the root is created once. The folders of the store and of its nodes are known by their
// ids: when another program removes, renames or replaces one of them, changes in it are errors, and
// it is not created again. Safe to use from several threads.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "zarrcore/base/process.h"
#include "zarrcore/store/local_files.h"

namespace zarrcore {

class StoreFolders {
 public:
  // The root need not exist. With `is_durable`, it survives a loss of power once it is made.
  StoreFolders(std::string root, bool is_durable);

  const std::string& root() const { return root_; }

  // The id of a node's folder; nullopt if it is known already or the folder does not exist.
  std::optional<FolderId> unknown_id(const std::string& folder) const;
  // From now on, the folder of a node must have this id.
  void register_folder(const std::string& folder, const std::optional<FolderId>& id);
  // Registers a folder that is not known. Throws Error if another one has replaced a known one.
  void check_or_register(const std::string& folder);
  // Throws Error if the known folder at a path, or the nearest one around it, is no longer there.
  void check(const std::string& path) const;
  // Throws Error unless a folder exists at the path of that known folder. A value that is missing
  // in a folder that was moved may exist elsewhere.
  void check_exists(const std::string& path) const;

  // Creates a folder below the root, and its parents. Throws Error as check() does.
  void make(const std::string& folder);
  // The first time, removes files that killed writers have left in a folder, unless it has too many
  // files.
  void remove_leftovers_once(const std::string& folder);

  // This program removes a folder.
  void forget(const std::string& folder);
  // This program has renamed a folder.
  void rename(const std::string& from, const std::string& to);

  // Removes files left by killed writers, from the root down, in as many folders as can be checked
  // quickly.
  void remove_leftovers() noexcept;

  // Waits until changes of the entries of a folder would survive a loss of power, and the folders
  // around it as well. Throws Error.
  void sync(const std::string& folder);

 private:
  struct Known {
    std::string folder;
    FolderId id;
  };

  struct Device {
    std::uint64_t number;
    bool has_lasting_ids;
  };

  static bool is_at_its_path(const Known& known);
  [[noreturn]] void fail_without(Known folder) const;
  // The known folder at a path, or the nearest one around it.
  std::optional<Known> find_known(std::string folder) const;
  void make_root();
  void make_below(const std::string& folder);

  std::string root_;
  bool is_durable_;

  mutable ForkMutex mutex_;
  std::optional<Device> device_;                     // of the last folder that became known
  std::unordered_map<std::string, FolderId> known_;  // the root, since it exists, and nodes
  std::unordered_set<std::string> entered_;
  std::unordered_set<std::string> durable_;  // whose entry would survive a loss of power
};

}  // namespace zarrcore
