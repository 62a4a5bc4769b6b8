// A store in a folder of the local file system: a key is a path below the folder (file system
// store of the v3 specification). A put writes a temporary file beside the target and renames it
// (TemporaryFile), so readers see the old value or the new one, also after the process has been
// killed; but a value with PutOptions::is_new_key is written in its place. With
// FileSystemOptions::is_durable, this also holds after a loss of power.
//
// The path decides where a value is: if another program removes, renames or replaces the folder of
// the store, or the folder of a node that has been read or written, every change in it is an error,
// and the folder is not created again.
#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <mutex>

#include "zarrcore/base/api.h"
#include "zarrcore/store/local_files.h"
#include "zarrcore/store/locks.h"
#include "zarrcore/store/store.h"

namespace zarrcore {

struct FileSystemOptions {
  // True if put and erase return only when their effect would survive a loss of power.
  bool is_durable = false;
  // How long to wait for a lock of a folder that another program holds.
  std::chrono::milliseconds lock_timeout = kDefaultLockTimeout;
};

class ZARRCORE_API FileSystemStore final : public Store {
 public:
  // The folder need not exist; the first put creates it.
  explicit FileSystemStore(const std::filesystem::path& root, FileSystemOptions options = {});

  std::optional<Buffer> get(std::string_view key, std::uint64_t max_size) override;
  std::optional<std::vector<Buffer>> get_ranges(std::string_view key,
                                                std::span<const ByteRange> ranges) override;
  std::shared_ptr<OpenValue> open(std::string_view key) override;
  ValueVersion current_version(std::string_view key) override;
  void check_node(std::string_view prefix) override;
  StoreTraits traits() const override {
    return {.is_folder = true,
            .knows_versions = true,
            .puts_conditionally = true,
            .max_open_values = 64,
            .watch = watch_.get()};
  }
  // The temporary file is written and synchronized before the lock is acquired.
  bool put_parts(std::string_view key, std::span<const ValuePart> parts,
                 const PutOptions& options = {}) override;
  std::unique_ptr<StoreLock> lock(std::string_view prefix) override;
  bool erase(std::string_view key, const EraseOptions& options = {}) override;
  void flush() override;
  void remove_leftovers() override { folders_.remove_leftovers(); }
  DirectoryListing list(std::string_view prefix, const ListOptions& options = {}) override;
  void visit_values(std::string_view prefix, const VisitValue& visit,
                    const VisitOptions& options) override;
  void erase_prefix(std::string_view prefix, std::span<const std::string> first) override;
  bool rename_prefix(std::string_view from, std::string_view to,
                     const RenameOptions& options) override;
  std::optional<Parent> parent() const override;
  std::string description() const override { return folders_.root(); }

 private:
  std::string file_of(std::string_view key) const;
  std::string folder_at(std::string_view prefix) const;
  std::optional<EntryKind> listed_kind(std::string_view prefix, std::string_view name,
                                       EntryKind kind) const;
  void sync_if_durable(const std::string& folder) {
    if (options_.is_durable) folders_.sync(folder);
  }
  // Null if the folder does not exist or cannot be locked. Throws Error.
  std::unique_ptr<StoreLock> lock_of(const std::string& folder, LockMode mode);
  // Null for documents: that they are absent shows that a node has been removed.
  const StoreFolders* folders_of(std::string_view key) const;
  // If the key is a document's: StoreFolders::unknown_id() of its node's folder.
  std::optional<FolderId> id_of_node(std::string_view key) const;

  FileSystemOptions options_;
  LockTimeouts timeouts_;
  StoreFolders folders_;
  std::unique_ptr<ValueWatch> watch_;
  std::mutex sync_mutex_;
  std::atomic<bool> must_sync_ = false;  // at the next flush()
};

}  // namespace zarrcore
