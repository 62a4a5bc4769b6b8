// Commits: the files of a new snapshot are put first; then the branch is moved to it.
#include <algorithm>

#include "zarrcore/icechunk/containers.h"
#include "zarrcore/icechunk/formats.h"
#include "zarrcore/icechunk/manifest_writer.h"
#include "zarrcore/icechunk/mutable_file.h"
#include "zarrcore/icechunk/session.h"
#include "zarrcore/icechunk/snapshot_writer.h"

namespace zarrcore::icechunk {
namespace {

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

}  // namespace

// `record` gets the parent and the time.
ObjectId Transaction::Session::put_snapshot(SnapshotRecord& record) {
  const Snapshot& base = base_->snapshot();
  record.parent = parse_id<ObjectId>(base_->snapshot_id());
  record.time = time_after(base.time());
  ManifestWriter writer(*files_, format_, *base_, *log_, configuration_,
                        options_.max_manifest_size);
  std::map<std::string, ManifestFile> manifests;
  std::vector<NewNode> nodes;
  for (const auto& node : changes_->nodes) {
    const auto& [path, own] = node;
    NewNode added{path, own.id, changes_->document(own), own.is_array, {}, false, {}};
    if (own.is_array) {
      if (changes_->is_kept(own) && !own.document && !changes_->has_changed_chunks(own)) {
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

bool Transaction::Session::move_branch(const ObjectId& snapshot, const SnapshotRecord& record) {
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

std::string Transaction::Session::commit(const CommitOptions& options) {
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
