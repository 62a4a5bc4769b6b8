// Changes of an Icechunk repository: a store that starts from the snapshot of a branch. What is put
// into it or erased is seen by this object alone, until commit() makes all of it one new snapshot
// of the branch.
//
//   zarr.json of a node     becomes a node of the snapshot
//   chunks                  are put into chunks/ID at once, or held if they are small; what changes
//                           is the reference to them
//
// Keys of anything else are errors. Safe to use from several threads at once.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "zarrcore/icechunk/change_set.h"
#include "zarrcore/icechunk/configuration.h"
#include "zarrcore/icechunk/icechunk_store.h"
#include "zarrcore/icechunk/reference_log.h"
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
  // True if changes that others have committed meanwhile are overwritten: their version of a chunk
  // that was changed here as well, and their changes of a node that was deleted here. Otherwise
  // these are conflicts.
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

  // How many nodes and chunks have changed.
  std::uint64_t change_count() const {
    const std::lock_guard lock(mutex_);
    return unreadable_.empty() ? changes_->count() : 0;
  }
  bool has_changes() const { return change_count() != 0; }
  // How often anything was changed: another number shows that changes() may be others.
  std::uint64_t changes_made() const {
    const std::lock_guard lock(mutex_);
    return changes_made_;
  }
  // A commit has failed that the store may carry out nevertheless, or has.
  bool has_failed_commit() const {
    const std::lock_guard lock(mutex_);
    return !attempts_.empty();
  }
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

  const std::string& branch() const { return branch_; }
  // The snapshot that the transaction started from.
  std::string snapshot_id() const {
    const std::lock_guard lock(mutex_);
    return base_->snapshot_id();
  }
  int format() const { return format_; }

  // The changes as JSON, for another process or for another try. Chunks are stored already.
  std::string changes() const;
  // Adds changes() of another transaction, which started from the same snapshot of this repository.
  // Throws CommitConflict if both have changed a node, or put different bytes into a chunk. If the
  // other one began with a merge() of changes() of this one, that includes chunks that were changed
  // before: only what was changed since counts.
  void merge(std::string_view changes);

  // Makes `reference` the chunk that has this key. Throws Error if no chunk can have it.
  void put_reference(std::string_view key, const ChunkReference& reference);

  std::string description() const override { return files_->description(); }
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
  class OpenChunk;

  // A value, which never changes: another put makes another one.
  struct Value {
    ChunkReference reference;
    std::shared_ptr<const void> owner;    // of the bytes of the reference
    std::shared_ptr<IcechunkStore> base;  // reads it
    ValueVersion version;
  };

  // Where a chunk is looked for.
  struct Chunk {
    NodeId array{};
    std::vector<std::uint64_t> index;
    std::uint64_t number = 0;
    std::optional<std::uint64_t> place;     // in the log, or ArrayChanges::kErased
    std::optional<std::size_t> base_array;  // position in the base, which may have the chunk
  };

  // Calls `body` with errors that name the repository, the branch and the key.
  template <typename Body>
  auto naming(std::string_view key, const Body& body) const;

  // Nullopt if the key is absent.
  std::optional<Value> find(std::string_view key) const;
  bool put_document(std::string_view key, std::string_view text, const PutOptions& options);
  // Puts the chunk's bytes first.
  bool put_chunk(std::string_view key, std::span<const ValuePart> parts, const PutOptions& options);
  bool put_reference(std::string_view key, const ChunkReference& reference,
                     const PutOptions& options);

  // These are called with the mutex held, which value_of() of a chunk does not need.
  std::optional<Chunk> find_chunk(std::string_view key) const;
  Chunk find_chunk_to_change(std::string_view key) const;
  // The array of the base that has the array's chunks which have not changed.
  std::optional<std::size_t> base_array_of(const ChangeSet::Nodes::value_type& array,
                                           const ArrayChanges& chunks) const;
  // The chunks of the base outside of the array's present grid, which do not come back when it
  // grows: their numbers in the changed grid.
  std::vector<std::uint64_t> lost_chunks(const ChangeSet::Nodes::value_type& array,
                                         const ArrayChanges& present,
                                         const ArrayChanges& changed) const;
  std::optional<Value> value_of(const Chunk& chunk, const std::shared_ptr<IcechunkStore>& base,
                                const ReferenceLog& log, std::uint64_t generation) const;
  std::optional<Value> value_of(const Node& node) const;
  bool has_version(std::string_view key, const PutOptions& options) const;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> chunks_of(
      const ChangeSet::Nodes::value_type& array, const ArrayChanges& chunks) const;
  // Throws Error after an UnreadableCommit.
  void check_takes_changes() const {
    if (!unreadable_.empty()) throw Error(unreadable_ + "; open the branch again to change it");
  }
  // Each change is noted: what was put before is no longer all that is to be committed.
  void note_change() {
    ++changes_made_;
    for (Attempt& attempt : attempts_) attempt.has_all = false;
  }
  // As it is now: nothing is taken from caches.
  std::shared_ptr<const Repository> newest_repository(const VersionName& version) const;
  void start_from(std::shared_ptr<const Repository> repository, const VersionName& version);
  void start_from(std::shared_ptr<IcechunkStore> base, std::unique_ptr<ChangeSet> changes);
  std::string commit_changes(const CommitOptions& options);
  ObjectId put_snapshot(SnapshotRecord& record);
  // Returns false if the branch has another newest snapshot than the base, or is to be made and
  // exists.
  bool move_branch(const ObjectId& snapshot, const SnapshotRecord& record);
  // Applies the changes to what the branch is now. If that already has an attempt with all changes,
  // it is returned instead.
  std::optional<ObjectId> rebase(bool ours_win);
  void add_changes(std::string_view changes);

  const std::shared_ptr<Store> files_;
  const std::string branch_;
  const std::shared_ptr<VirtualFiles> virtual_files_;
  const std::string prefix_;
  const TransactionOptions options_;
  int format_ = 2;
  bool can_move_nodes_ = true;
  Configuration configuration_;

  mutable std::mutex mutex_;  // guards the members below
  bool creates_branch_;
  std::shared_ptr<IcechunkStore> base_;
  std::unique_ptr<ChangeSet> changes_;
  std::shared_ptr<ReferenceLog> log_;
  GivenChanges given_;    // what merge() has made of no changes,
  std::string given_by_;  // and which changes these were; see fingerprint()
  // Fingerprints of the changes() that these include: of other transactions, and their own.
  mutable std::set<std::string> origins_;
  std::uint64_t generation_ = 0;  // of the base and the log
  std::uint64_t changes_made_ = 0;
  std::uint64_t version_ = 0;  // of the document that was put last
  // A snapshot that was put for a commit which has not succeeded, as far as is known: a store may
  // move the branch to it after an error, also later.
  struct Attempt {
    ObjectId snapshot;
    bool has_all = true;  // of the changes as they are now
  };
  std::vector<Attempt> attempts_;
  std::string unreadable_;  // what an UnreadableCommit has said; empty if there was none
};

}  // namespace zarrcore::icechunk
