// The life of a transaction: it starts from the newest snapshot of a branch, and commits. The files
// of a new snapshot are put first; then the branch is moved to it. If others have moved the branch
// meanwhile, what they have committed becomes the base of the changes.
#include <algorithm>

#include "zarrcore/base/path.h"
#include "zarrcore/icechunk/manifest_writer.h"
#include "zarrcore/icechunk/mutable_file.h"
#include "zarrcore/icechunk/repository_info.h"
#include "zarrcore/icechunk/transaction.h"

namespace zarrcore::icechunk {
namespace {

std::string list_of(const std::vector<std::string>& conflicts) {
  constexpr std::size_t kShown = 10;
  std::string text;
  for (std::size_t i = 0; i < std::min(conflicts.size(), kShown); ++i) {
    text += (i == 0 ? "" : "; ") + conflicts[i];
  }
  if (conflicts.size() > kShown)
    text += "; and " + std::to_string(conflicts.size() - kShown) + " more";
  return text;
}

std::vector<Snapshot::Dimension> dimensions_of(const ArrayChanges& chunks) {
  std::vector<Snapshot::Dimension> dimensions;
  for (std::size_t axis = 0; axis < chunks.rank(); ++axis) {
    dimensions.push_back({chunks.lengths[axis], chunks.counts[axis], {}});
    if (axis < chunks.dimension_names.size()) {
      dimensions.back().name = chunks.dimension_names[axis];
    }
  }
  return dimensions;
}

// Snapshots after the base of a transaction.
struct NewCommits {
  bool has_base = false;  // the branch still has it
  std::vector<ObjectId> commits;
  std::vector<ObjectId> logs;  // of these, and of those between them that have been removed
};

NewCommits commits_since(const std::string& base, const std::shared_ptr<IcechunkStore>& tip,
                         Store& files) {
  NewCommits found;
  const auto base_id = parse_id<ObjectId>(base);
  std::optional<ObjectId> id = parse_id<ObjectId>(tip->snapshot_id());
  std::optional<RepositoryInfo> info;
  if (tip->repository().format() == 2) info = RepositoryInfo::read(files);
  while (id && *id != base_id) {
    if (std::ranges::find(found.commits, *id) != found.commits.end()) {
      throw Error("snapshot " + id_text(*id) + " is its own ancestor");
    }
    found.commits.push_back(*id);
    found.logs.push_back(*id);
    if (info) {
      const auto record = info->snapshots.find(*id);
      if (record == info->snapshots.end()) throw Error("other programs keep changing repo");
      const auto& pruned = record->second.pruned_logs;
      found.logs.insert(found.logs.end(), pruned.begin(), pruned.end());
      id = record->second.parent;
    } else {
      id = read_snapshot(files, id_text(*id)).record().parent;
    }
  }
  found.has_base = id.has_value();
  return found;
}

ChangedChunks read_logs(const std::vector<ObjectId>& logs, const ChangeSet& ours, Store& files) {
  ChangedChunks chunks;
  const auto is_wanted = [&](const NodeId& array) { return ours.arrays.contains(array); };
  for (const ObjectId& id : logs) {
    const std::string key = join_path("transactions", id_text(id));
    with_context({key}, [&] {
      const auto log = files.get(key);
      if (!log) throw Error("the log of the commit does not exist");
      add_changed_chunks(log->span(), is_wanted, chunks);
    });
  }
  return chunks;
}

std::string has_changed(const std::string& branch) {
  return "branch " + branch + " has changed";
}

}  // namespace

CommitConflict::CommitConflict(const std::string& what, std::vector<std::string> conflicts)
    : Error(what + ": " + list_of(conflicts)), conflicts_(std::move(conflicts)) {}

Transaction::Transaction(std::shared_ptr<Store> files, std::string branch,
                         std::shared_ptr<VirtualFiles> virtual_files, std::string prefix,
                         const TransactionOptions& options)
    : files_(std::move(files)),
      branch_(std::move(branch)),
      virtual_files_(std::move(virtual_files)),
      prefix_(std::move(prefix)),
      options_(options),
      creates_branch_(options.creates_branch) {
  with_context(description(), [&] {
    check_can_replace(*files_);
    const VersionName version{VersionName::Kind::branch, branch_};
    const auto repository = newest_repository(version);
    format_ = repository->format();
    if (creates_branch_) check_new_branch(*files_, format_, branch_);
    if (format_ == 1) {
      can_move_nodes_ = false;
    } else {
      const RepositoryInfo info = RepositoryInfo::read(*files_);
      info.check_online();
      can_move_nodes_ = info.is_enabled(kMoveNode);
    }
    configuration_ = with_context("the configuration",
                                  [&] { return Configuration(repository->configuration()); });
    start_from(repository, options.snapshot.empty()
                               ? version
                               : VersionName{VersionName::Kind::snapshot, options.snapshot});
  });
}

std::shared_ptr<const Repository> Transaction::newest_repository(const VersionName& version) const {
  files_->refresh(kRepositoryFile);
  files_->refresh(branch_key(branch_));
  return Repository::open(files_, version);
}

void Transaction::start_from(std::shared_ptr<const Repository> repository,
                             const VersionName& version) {
  auto base = std::make_shared<IcechunkStore>(std::move(repository), version, virtual_files_);
  auto changes = std::make_unique<ChangeSet>(base->snapshot(), ++version_);
  start_from(std::move(base), std::move(changes));
  log_ = std::make_shared<ReferenceLog>(options_.max_memory);
}

void Transaction::start_from(std::shared_ptr<IcechunkStore> base,
                             std::unique_ptr<ChangeSet> changes) {
  base_ = std::move(base);
  changes_ = std::move(changes);
  given_ = {};
  given_by_.clear();
  origins_.clear();
  ++generation_;
}

void Transaction::roll_back() {
  const std::lock_guard lock(mutex_);
  auto changes = std::make_unique<ChangeSet>(base_->snapshot(), ++version_);
  log_ = std::make_shared<ReferenceLog>(options_.max_memory);
  start_from(base_, std::move(changes));
  attempts_.clear();  // what they hold are now changes of others
}

std::string Transaction::commit(const CommitOptions& options) {
  try {
    return commit_changes(options);
  } catch (const CommitConflict&) {
    throw;  // stays one
  } catch (const UnreadableCommit& error) {
    throw UnreadableCommit(description() + ", branch " + branch() + ": " + error.what());
  } catch (...) {
    rethrow_with_context({description(), ", branch ", branch()});
  }
}

// `record` gets the parent and the time.
ObjectId Transaction::put_snapshot(SnapshotRecord& record) {
  const Snapshot& base = base_->snapshot();
  record.parent = parse_id<ObjectId>(base_->snapshot_id());
  record.time = time_after(base.record().time);
  ManifestWriter writer(*files_, format_, *base_, *log_, configuration_,
                        options_.max_manifest_size);
  ManifestFiles manifests;
  std::vector<NewNode> nodes;
  for (const auto& node : changes_->nodes) {
    const auto& [path, own] = node;
    NewNode added{path, own.id, changes_->document(own), own.is_array, {}, false, {}};
    if (own.is_array) {
      if (changes_->is_from_base(own) && !own.document && !changes_->has_changed_chunks(own)) {
        added.dimensions = base.dimensions(*own.base);
        added.has_dimension_names = base.has_dimension_names(*own.base);
        added.manifests = base.manifests(*own.base, added.dimensions.size());
      } else {
        const ArrayChanges& chunks = changes_->chunks(node);
        added.dimensions = dimensions_of(chunks);
        added.has_dimension_names = chunks.has_dimension_names;
        added.manifests =
            with_context({"/", path}, [&] { return writer.write(*changes_, node, chunks); });
      }
      for (const ManifestPart& part : added.manifests) {
        const auto written = writer.written().find(part.id);
        manifests[part.id] =
            written != writer.written().end() ? written->second : base_->manifest_file(part.id);
      }
    }
    nodes.push_back(std::move(added));
  }
  const auto id = new_id<ObjectId>();
  attempts_.push_back({id});
  put_file(*files_, "transactions", id, make_log(id, format_, *changes_, writer.copied).span());
  put_file(*files_, "snapshots", id, make_snapshot(id, record, format_, nodes, manifests).span());
  files_->flush();
  return id;
}

bool Transaction::move_branch(const ObjectId& snapshot, const SnapshotRecord& record) {
  const auto can_move = [&](const std::optional<ObjectId>& tip) {
    if (!tip && !creates_branch_) throw Error("branch " + branch_ + " has been deleted");
    return !tip || (!creates_branch_ && *tip == *record.parent);
  };
  bool is_moved = true;
  if (format_ == 1) {
    change_ref(*files_, branch_key(branch_),
               [&](const std::optional<std::string>& tip) -> std::optional<std::string> {
                 if (tip == id_text(snapshot)) return std::nullopt;
                 is_moved = can_move(tip ? std::optional(parse_id<ObjectId>(*tip)) : std::nullopt);
                 return is_moved ? std::optional(id_text(snapshot)) : std::nullopt;
               });
    return is_moved;
  }
  change_info(*files_, [&](RepositoryInfo& info, const std::string& backup) {
    const auto branch = info.branches.find(branch_);
    const bool exists = branch != info.branches.end();
    const bool is_at_parent = can_move(exists ? std::optional(branch->second) : std::nullopt);
    if (info.snapshots.contains(snapshot)) return false;
    is_moved = is_at_parent;
    if (!is_moved) return false;
    if (!info.snapshots.contains(*record.parent)) {
      throw Error("snapshot " + id_text(*record.parent) + " does not exist");
    }
    info.branches[branch_] = snapshot;
    info.snapshots.emplace(snapshot, record);
    info.note(UpdateType::commit, {branch_, snapshot}, backup);
    return true;
  });
  return is_moved;
}

std::optional<ObjectId> Transaction::rebase(bool ours_win) {
  const VersionName version{VersionName::Kind::branch, branch_};
  auto tip = std::make_shared<IcechunkStore>(newest_repository(version), version, virtual_files_);
  const NewCommits added = commits_since(base_->snapshot_id(), tip, *files_);
  // The answer to an own request may have been lost.
  for (const auto& [snapshot, has_all] : attempts_) {
    if (std::ranges::find(added.commits, snapshot) == added.commits.end()) continue;
    if (has_all) return snapshot;
    throw CommitConflict(has_changed(branch_),
                         {"an earlier commit of these changes has succeeded after an error, as "
                          "snapshot " +
                          id_text(snapshot) + ", which is without what was changed since"});
  }
  if (creates_branch_) throw Error("branch " + branch_ + " already exists");
  if (!added.has_base) {
    throw CommitConflict(
        has_changed(branch_),
        {"it no longer has snapshot " + base_->snapshot_id() + ", from which the changes start"});
  }
  auto merged = std::make_unique<ChangeSet>(tip->snapshot(), ++version_);
  auto conflicts = merge_changes(*changes_, *merged, read_logs(added.logs, *changes_, *files_),
                                 {.our_chunks_win = ours_win, .our_deletions_win = ours_win});
  if (!conflicts.empty()) throw CommitConflict(has_changed(branch_), std::move(conflicts));
  start_from(std::move(tip), std::move(merged));
  return std::nullopt;
}

std::string Transaction::commit_changes(const CommitOptions& options) {
  const std::lock_guard lock(mutex_);
  check_takes_changes();
  if (changes_->is_empty()) {
    if (attempts_.empty()) throw Error("there are no changes to commit");
    rebase(options.ours_win);  // onto none of the attempts
    return base_->snapshot_id();
  }
  SnapshotRecord record;
  record.message = options.message;
  for (const auto& [name, value] : options.properties) {
    record.properties.push_back(text_property(name, value, format_));
  }
  std::ranges::sort(record.properties, {}, &Property::name);
  // Before anybody sees virtual chunks that are in none.
  if (const auto containers = log_->containers(); !containers.empty()) {
    add_containers(*files_, format_, containers);
  }
  ObjectId id = put_snapshot(record);
  while (!move_branch(id, record)) {
    if (const auto own = rebase(options.ours_win)) {
      id = *own;
      break;
    }
    // Others may have made the same groups.
    if (changes_->is_empty()) return base_->snapshot_id();
    id = put_snapshot(record);
  }
  const VersionName version{VersionName::Kind::snapshot, id_text(id)};
  attempts_.clear();
  creates_branch_ = false;
  try {
    start_from(newest_repository(version), version);
  } catch (const std::exception& error) {
    unreadable_ = "snapshot " + version.name + " is committed, but cannot be read: " + error.what();
    throw UnreadableCommit(unreadable_);
  }
  return version.name;
}

}  // namespace zarrcore::icechunk
