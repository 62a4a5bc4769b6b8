// Changes of an Icechunk repository: a store that starts from the snapshot of a branch. What is put
// into it or erased is seen by this object alone, until commit() makes all of it one new snapshot
// of the branch.
//
//   zarr.json of a node     becomes a node of the snapshot
//   chunks                  are put into chunks/ID at once, or kept if they are small; what changes
//                           is the reference to them
//
// Keys of anything else are errors. Safe to use from several threads at once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "zarrcore/icechunk/icechunk_store.h"
#include "zarrcore/icechunk/refs.h"
#include "zarrcore/store/store.h"

namespace zarrcore::icechunk {

struct TransactionOptions {
  // The snapshot to start from, which the branch has or had; by default its newest.
  std::string snapshot = {};
  // The branch does not exist: the first commit makes it, of `snapshot`. Then, one that others have
  // made is an error.
  bool creates_branch = false;
  // The size in bytes up to which chunks are stored in manifests; by default what the repository's
  // configuration says, or 512.
  std::optional<std::uint64_t> inline_threshold = {};
  // The memory for references to changed chunks, in bytes. Beyond that they go to a temporary file.
  std::uint64_t max_memory = std::uint64_t{16} << 20;
  // The size of a manifest in bytes, not compressed, beyond which it is split whatever the
  // configuration says: manifests are read as a whole.
  std::uint64_t max_manifest_size = std::uint64_t{32} << 20;
};

struct CommitOptions {
  std::string message = {};
  std::vector<std::pair<std::string, std::string>> properties = {};
  // Whether what others have committed meanwhile gives way: their version of a chunk that was
  // changed here as well, and their changes of a node that was deleted here. Otherwise these are
  // conflicts.
  bool ours_win = false;
};

// Changes contradict those of others, which have changed the branch or are to be merged.
class ZARRCORE_API CommitConflict : public Error {
 public:
  // `what` is the beginning of the message.
  CommitConflict(const std::string& what, std::vector<std::string> conflicts);

  // What contradicts, one sentence each.
  const std::vector<std::string>& conflicts() const { return conflicts_; }

 private:
  std::vector<std::string> conflicts_;
};

// The branch has the changes, but its new snapshot cannot be read.
class ZARRCORE_API UnreadableCommit : public Error {
 public:
  using Error::Error;
};

class Transaction final : public Store {
 public:
  // Throws Error if there is no such branch, and if the repository cannot be written to. The store
  // has the keys below `prefix`, or all if it is empty.
  Transaction(std::shared_ptr<Store> files, std::string branch,
              std::shared_ptr<VirtualFiles> virtual_files, std::string prefix = {},
              const TransactionOptions& options = {});
  ~Transaction() override;

  // How many nodes and chunks have changed.
  std::uint64_t change_count() const;
  bool has_changes() const { return change_count() != 0; }
  // How often anything was changed: another number shows that changes() may be others.
  std::uint64_t changes_made() const;
  // A commit has failed that the store may carry out nevertheless, or has.
  bool has_failed_commit() const;
  // Makes the changes a snapshot of the branch, and returns its id; the transaction continues from
  // there. Virtual chunks get containers in the repository's configuration, unless existing ones
  // contain them. If others have changed the branch meanwhile, the changes are applied to that.
  // Throws CommitConflict if they cannot be, and Error if there are no changes. When it throws, the
  // transaction still has its changes and the branch has not; but after UnreadableCommit, they are
  // committed, and the transaction takes no more. A store may also carry out later what it has
  // reported as an error: the next commit() then returns that snapshot, or is a CommitConflict if
  // there have been other changes since, even if these leave none.
  std::string commit(const CommitOptions& options);
  // Drops all changes.
  void roll_back();

  const std::string& branch() const;
  // The snapshot that the transaction started from.
  std::string snapshot_id() const;
  int format() const;

  // The changes as JSON, for another process or for another try. Chunks are stored already.
  std::string changes() const;
  // Adds changes() of another transaction, which started from the same snapshot of this repository.
  // Throws CommitConflict if both have changed a node, or put different bytes into a chunk. If the
  // other one began with a merge() of changes() of this one, that includes chunks that were changed
  // before: only what was changed since counts.
  void merge(std::string_view changes);

  // Makes `reference` the chunk that has this key. Throws Error if no chunk can have it.
  void put_reference(std::string_view key, const ChunkReference& reference);

  std::string description() const override;
  StoreTraits traits() const override;
  std::optional<Buffer> get(std::string_view key, std::uint64_t max_size) override;
  std::optional<std::vector<Buffer>> get_ranges(std::string_view key,
                                                std::span<const ByteRange> ranges) override;
  std::shared_ptr<OpenValue> open(std::string_view key) override;
  ValueVersion current_version(std::string_view key) override;
  DirectoryListing list(std::string_view prefix, const ListOptions& options = {}) override;
  void visit_values(std::string_view prefix, const VisitValue& visit,
                    const VisitOptions& options) override;
  bool put_parts(std::string_view key, std::span<const ValuePart> parts,
                 const PutOptions& options = {}) override;
  bool erase(std::string_view key, const EraseOptions& options = {}) override;
  void erase_prefix(std::string_view prefix, std::span<const std::string> first) override;
  bool rename_prefix(std::string_view from, std::string_view to,
                     const RenameOptions& options = {}) override;

 private:
  class Session;
  class OpenChunk;

  // Calls `body` with errors that name the repository, the branch and the key.
  template <typename Body>
  auto naming(std::string_view key, const Body& body) const;

  std::unique_ptr<Session> session_;
};

}  // namespace zarrcore::icechunk
