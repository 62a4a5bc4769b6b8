#include <optional>
#include <set>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "zarrcore/base/error.h"
#include "zarrcore/icechunk/icechunk_store.h"
#include "zarrcore/icechunk/refs.h"
#include "zarrcore/icechunk/repository_info.h"

namespace zarrcore::icechunk {
namespace {

constexpr std::string_view kFolders[] = {"snapshots/", "manifests/", "transactions/", "chunks/"};

class Reached {
 public:
  explicit Reached(std::shared_ptr<const Repository> repository)
      : repository_(std::move(repository)) {}

  void add_log(const std::string& id) { keys_.insert("transactions/" + id); }
  // With those before it, which it names in format 1.
  void add_history(std::string snapshot) {
    while (const auto parent = add(snapshot)) snapshot = id_text(*parent);
  }
  // Returns what it names as its parent, unless it has been added before.
  std::optional<ObjectId> add(const std::string& snapshot);

  bool contains(const std::string& key) const { return keys_.contains(key); }

 private:
  std::shared_ptr<const Repository> repository_;
  std::unordered_set<std::string> keys_;
  // Manifests, each with the node id of an array, whose chunks are among the keys.
  std::set<std::pair<std::string, std::string>> parts_;
};

std::optional<ObjectId> Reached::add(const std::string& snapshot) {
  if (!keys_.insert("snapshots/" + snapshot).second) return std::nullopt;
  add_log(snapshot);
  IcechunkStore store(repository_, {VersionName::Kind::snapshot, snapshot}, nullptr);
  const Snapshot& nodes = store.snapshot();
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    if (!nodes.is_array(node)) continue;
    const ByteSpan id = nodes.id(node);
    const std::size_t rank = nodes.dimensions(node).size();
    for (const ManifestPart& part : nodes.manifests(node, rank)) {
      keys_.insert("manifests/" + part.id);
      if (!parts_.emplace(part.id, id_text(id)).second) continue;
      const auto manifest = store.manifest(part.id);
      manifest->for_each(id, rank, [&](auto, std::size_t place) {
        const ChunkReference chunk = manifest->reference(id, place);
        if (chunk.kind == ChunkReference::Kind::native) {
          keys_.insert(IcechunkStore::object_key(chunk));
        }
      });
    }
  }
  return nodes.record().parent;
}

}  // namespace

std::vector<std::string> unreferenced_files(const std::shared_ptr<Store>& files) {
  // Listed first: what a commit names meanwhile is then reached.
  std::vector<std::string> keys;
  for (const std::string_view folder : kFolders) {
    files->visit_values(folder.substr(0, folder.size() - 1),
                        [&](std::string_view key, auto) { keys.emplace_back(key); });
  }
  files->refresh();
  const auto repository = Repository::open(files);
  Reached reached(repository);
  if (repository->format() == 2) {
    const RepositoryInfo info = RepositoryInfo::read(*files);
    // All that are left of the histories, of which files that were migrated may name more.
    for (const auto& [id, record] : info.snapshots) {
      reached.add(id_text(id));
      for (const ObjectId& log : record.pruned_logs) reached.add_log(id_text(log));
    }
  } else {
    for (const auto kind : {VersionName::Kind::branch, VersionName::Kind::tag}) {
      for (const auto& ref : repository->refs(kind)) reached.add_history(ref.snapshot);
    }
  }
  // Names that are no ids are no files of Icechunk.
  std::erase_if(keys, [&](const std::string& key) {
    return reached.contains(key) || !is_object_id(key.substr(key.find('/') + 1));
  });
  return keys;
}

}  // namespace zarrcore::icechunk
