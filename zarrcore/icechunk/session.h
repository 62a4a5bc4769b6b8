// What a transaction works with: the snapshot that it started from, and what it has changed.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "zarrcore/icechunk/change_set.h"
#include "zarrcore/icechunk/changes_json.h"
#include "zarrcore/icechunk/configuration.h"
#include "zarrcore/icechunk/icechunk_store.h"
#include "zarrcore/icechunk/reference_log.h"
#include "zarrcore/icechunk/repository_info.h"
#include "zarrcore/icechunk/transaction.h"

namespace zarrcore::icechunk {

class Transaction::Session {
 public:
  Session(std::shared_ptr<Store> files, std::string branch,
          std::shared_ptr<VirtualFiles> virtual_files, std::string prefix,
          const TransactionOptions& options);

  // A value, which never changes: another put makes another one.
  struct Value {
    ChunkReference reference;
    std::shared_ptr<const void> owner;    // of the bytes of the reference
    std::shared_ptr<IcechunkStore> base;  // reads it
    ValueVersion version;

    std::vector<Buffer> read(std::span<const ByteRange> ranges) const {
      return base->read(reference, ranges);
    }
  };

  // Keys and paths are those of the transaction. Nullopt if the key is absent.
  std::optional<Value> find(std::string_view key) const;
  bool put_document(std::string_view key, std::string_view text, const PutOptions& options);
  // Puts the chunk's bytes first.
  bool put_chunk(std::string_view key, std::span<const ValuePart> parts, const PutOptions& options);
  bool put_reference(std::string_view key, const ChunkReference& reference,
                     const PutOptions& options);
  bool erase(std::string_view key, const PutOptions& options);
  void erase_nodes(std::string_view path);
  void rename(std::string_view from, std::string_view to);
  DirectoryListing list(std::string_view prefix) const;
  // False if there is no array at the path.
  bool visit_chunks(std::string_view path, const VisitValue& visit) const;

  // See Transaction.
  std::string commit(const CommitOptions& options);
  void roll_back();
  std::string changes_as_json() const;
  void merge(std::string_view json);
  std::uint64_t change_count() const {
    const std::lock_guard lock(mutex_);
    return unreadable_.empty() ? changes_->count() : 0;
  }
  std::uint64_t changes_made() const {
    const std::lock_guard lock(mutex_);
    return changes_made_;
  }
  bool has_failed_commit() const {
    const std::lock_guard lock(mutex_);
    return !attempts_.empty();
  }
  std::string snapshot_id() const {
    const std::lock_guard lock(mutex_);
    return base_->snapshot_id();
  }
  const std::string& branch() const { return branch_; }
  int format() const { return format_; }
  std::string description() const { return files_->description(); }
  StoreTraits traits() const;

 private:
  // Where a chunk is looked for.
  struct Chunk {
    NodeId array{};
    std::vector<std::uint64_t> index;
    std::uint64_t number = 0;
    std::optional<std::uint64_t> place;     // in the log, or ArrayChanges::kErased
    std::optional<std::size_t> base_array;  // position in the base, which may have the chunk
  };

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
  ObjectId put_snapshot(SnapshotRecord& record);
  // Returns false if the branch has another newest snapshot than the base, or is to be made and
  // exists.
  bool move_branch(const ObjectId& snapshot, const SnapshotRecord& record);
  // Applies the changes to what the branch is now. If that already has an attempt with all changes,
  // it is returned instead.
  std::optional<ObjectId> rebase(bool ours_win);

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
  // Changes that these have come from: those of others, and their own at some time.
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
