// Changes of others: those that they have committed meanwhile become the base of a transaction's
// changes, and those that they hand over are added to them.
#include <algorithm>

#include "zarrcore/base/json.h"
#include "zarrcore/base/path.h"
#include "zarrcore/base/text.h"
#include "zarrcore/icechunk/merge.h"
#include "zarrcore/icechunk/session.h"
#include "zarrcore/icechunk/snapshot_writer.h"

namespace zarrcore::icechunk {
namespace {

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
  if (tip->repository().format() == 2) {
    const auto file = files.get("repo");
    if (!file) throw Error("the repository has been removed");
    info.emplace(file->span());
  }
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
      const std::string text = id_text(*id);
      const auto file = files.get(join_path("snapshots", text));
      if (!file) throw Error("snapshot " + text + " does not exist");
      id = Snapshot(file->span(), text).parent();
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

bool is_same_place(const ChunkReference& a, const ChunkReference& b) {
  return a.kind == b.kind && a.kind != ChunkReference::Kind::inlined && a.object == b.object &&
         a.offset == b.offset && a.length == b.length && a.etag == b.etag &&
         a.last_modified == b.last_modified;
}

// Of changes as JSON: the same of the same text alone, also among thousands of workers.
std::string fingerprint(std::string_view changes) {
  return std::to_string(changes.size()) + '-' + std::to_string(fnv1a(changes));
}

Buffer read_whole(IcechunkStore& store, const ChunkReference& reference) {
  const ByteRange whole = ByteRange::at(0, reference.length);
  return std::move(store.read(reference, {&whole, 1}).front());
}

}  // namespace

std::optional<ObjectId> Transaction::Session::rebase(bool ours_win) {
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

std::string Transaction::Session::changes_as_json() const {
  const std::lock_guard lock(mutex_);
  files_->flush();  // another process may commit them
  Json json = changes_to_json(*changes_, given_, *log_);
  json["snapshot"] = base_->snapshot_id();
  if (!given_by_.empty()) json["from"] = given_by_;
  std::string text = dump_json(json);
  origins_.insert(fingerprint(text));
  return text;
}

void Transaction::Session::merge(std::string_view text) {
  const std::lock_guard lock(mutex_);
  const std::string own_origin = fingerprint(text);
  if (origins_.contains(own_origin)) return;  // they are among these, or have been
  ChangeSet added(base_->snapshot(), ++version_);
  GivenChanges given;  // by this one
  std::string origin;
  with_context("the changes to merge", [&] {
    const Json json = parse_json(text);
    const std::string* snapshot = find_string(json, "snapshot");
    if (snapshot == nullptr || *snapshot != base_->snapshot_id()) {
      throw Error("they do not start from snapshot " + base_->snapshot_id());
    }
    given = read_changes(json, version_, added, *log_);
    if (const std::string* from = find_string(json, "from")) origin = *from;
  });
  const auto has_same_bytes = [&](std::uint64_t ours, std::uint64_t theirs) {
    if (ours == ArrayChanges::kErased || theirs == ArrayChanges::kErased) return ours == theirs;
    const auto own = log_->get(ours);
    const auto other = log_->get(theirs);
    return is_same_place(own.reference, other.reference) ||
           (own.reference.length == other.reference.length &&
            read_whole(*base_, own.reference).text() == read_whole(*base_, other.reference).text());
  };
  if (!origins_.contains(origin)) given = {};
  for (const auto& [array, chunks] : given.chunks) {
    const auto& old = chunks.references;
    std::erase_if(added.arrays.at(array).references, [&](const auto& reference) {
      const auto found = old.find(reference.first);
      return found != old.end() && found->second == reference.second;
    });
  }
  ChangedChunks changed;
  for (const auto& node : changes_->nodes) {
    const auto old = given.chunks.find(node.second.id);
    if (!changes_->has_changed_chunks(node.second) && old == given.chunks.end()) continue;
    const ArrayChanges& chunks = changes_->chunks(node);
    auto places = chunks.references;
    if (old != given.chunks.end()) {
      old->second.set_grid(chunks);
      for (const auto& [number, place] : old->second.references) {
        const auto now = places.try_emplace(number, ArrayChanges::kErased).first;
        if (has_same_bytes(now->second, place)) places.erase(now);
      }
    }
    for (const auto& [number, place] : places) {
      changed[node.second.id].push_back(chunks.index_of(number));
    }
  }
  const Snapshot& base = base_->snapshot();
  for (const auto& node : added.nodes) {
    const Node& own = node.second;
    if (!added.is_kept(own) || !(added.is_changed(node) || added.has_changed_chunks(own))) continue;
    given.nodes.try_emplace(own.id, GivenNode{std::string(base.path(*own.base)),
                                              std::string(base.document(*own.base))});
  }
  auto merged = std::make_unique<ChangeSet>(*changes_);
  const auto conflicts = merge_changes(
      added, *merged, changed, {.given = std::move(given.nodes), .has_same_bytes = has_same_bytes});
  if (!conflicts.empty()) {
    throw CommitConflict("the changes to merge contradict earlier ones", conflicts);
  }
  if (changes_->is_empty()) {
    given_.chunks = merged->arrays;
    std::erase_if(given_.chunks, [](const auto& array) { return array.second.references.empty(); });
    for (const auto& node : merged->nodes) {
      if (!merged->is_changed(node)) continue;
      given_.nodes[node.second.id] = {node.first, std::string(merged->document(node.second))};
    }
    given_by_ = own_origin;
  }
  origins_.insert(own_origin);
  if (!origin.empty()) origins_.insert(origin);
  changes_ = std::move(merged);
  note_change();
}

}  // namespace zarrcore::icechunk
