#include "zarrcore/icechunk/refs.h"

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_set>
#include <utility>

#include "zarrcore/base/path.h"
#include "zarrcore/icechunk/change_set.h"
#include "zarrcore/icechunk/icechunk_store.h"
#include "zarrcore/icechunk/mutable_file.h"
#include "zarrcore/icechunk/repository_info.h"

namespace zarrcore::icechunk {
namespace {

constexpr std::string_view kFirstSnapshot = "1CECHNKREP0F1RSTCMT0";
constexpr std::string_view kMain = "main";

using Kind = VersionName::Kind;
using Refs = std::map<std::string, ObjectId>;

// Names of folders in format 1, and alike in format 2.
void check_ref_name(std::string_view name) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 127; };
  if (!is_valid_segment(name) || std::ranges::any_of(name, is_control)) {
    throw Error("\"" + std::string(name) + "\" cannot be the name of a branch or tag");
  }
}

// Throws Error if there is no repository.
int format_at(Store& files) {
  // Not owned: the repository is gone before this function returns.
  return Repository::open(std::shared_ptr<Store>(std::shared_ptr<void>(), &files))->format();
}

int checked_format(Store& files) {
  check_can_replace(files);
  return format_at(files);
}

// Throws Error unless the repository has the snapshot.
ObjectId known_snapshot(const RepositoryInfo& info, std::string_view text) {
  const auto id = parse_id<ObjectId>(text);
  if (!info.snapshots.contains(id)) {
    throw Error("snapshot " + std::string(text) + " does not exist");
  }
  return id;
}

Refs::iterator existing(Refs& refs, std::string_view name, const std::string& ref) {
  const auto it = refs.find(std::string(name));
  if (it == refs.end()) throw Error(ref + " does not exist");
  return it;
}

// In format 1, Icechunk's own files have such names percent-encoded, and are not found by them.
void check_file_name(std::string_view name) {
  constexpr std::string_view kEncoded = "%*?#~[]{}<>|\\^\"`";
  const auto is_encoded = [&](char c) {
    return static_cast<unsigned char>(c) > 126 || kEncoded.find(c) != std::string_view::npos;
  };
  if (std::ranges::any_of(name, is_encoded)) {
    throw Error("\"" + std::string(name) +
                "\" cannot be the name of a branch or tag in format 1: only ASCII characters are "
                "possible, without any of " +
                std::string(kEncoded));
  }
}

std::vector<std::pair<std::string, std::string>> text_properties(
    const std::vector<Property>& properties, int format) {
  std::vector<std::pair<std::string, std::string>> texts;
  for (const Property& property : properties) {
    if (auto text = text_of(property, format)) texts.emplace_back(property.name, *std::move(text));
  }
  return texts;
}

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

void create_repository(Store& files, int format) {
  with_context(files.description(), [&] {
    if (format != 1 && format != 2) throw Error("there is no format " + std::to_string(format));
    check_can_replace(files);
    if (!files.list("", {.max_names = 1}).is_empty()) {
      throw Error("a repository can only be created where no files are");
    }
    const auto id = parse_id<ObjectId>(kFirstSnapshot);
    SnapshotRecord record;
    record.time = time_after(0);
    record.message = "Repository initialized";
    const Buffer snapshot = make_snapshot(id, record, format, {}, {});
    const ValuePart whole{snapshot.span()};
    const PutOptions if_absent{.expected = ValueVersion::absent(),
                               .durability = Durability::after_flush};
    if (!files.put_parts(join_path("snapshots", kFirstSnapshot), {&whole, 1}, if_absent)) {
      throw Error("another program creates a repository");
    }
    if (format == 2) put_file(files, "transactions", id, make_empty_log(id, format).span());
    files.flush();
    const auto check_absent = [](bool exists) {
      if (exists) throw Error("another program has created a repository");
    };
    if (format == 2) {
      change_file(files, kRepositoryFile, [&](const std::optional<Buffer>& content) {
        check_absent(content.has_value());
        return std::optional(NewContent{RepositoryInfo(id, record).file()});
      });
    } else {
      change_ref(files, branch_key(kMain), [&](const std::optional<std::string>& existing) {
        check_absent(existing.has_value());
        return std::string(kFirstSnapshot);
      });
    }
  });
}

void create_ref(Store& files, Kind kind, std::string_view name, std::string_view snapshot) {
  const bool is_tag = kind == Kind::tag;
  const std::string ref = describe({kind, std::string(name)});
  with_context(files.description(), [&] {
    check_ref_name(name);
    if (checked_format(files) == 1) {
      if (is_tag && files.has(tag_deletion_key(name))) throw Error(ref + " was deleted");
      check_file_name(name);
      read_snapshot(files, snapshot);  // there is no list of snapshots
      return change_ref(files, is_tag ? tag_key(name) : branch_key(name),
                        [&](const std::optional<std::string>& present) {
                          if (present) throw Error(ref + " already exists");
                          return std::string(snapshot);
                        });
    }
    change_info(files, [&](RepositoryInfo& info, const std::string& backup) {
      if (is_tag) info.check_enabled(kCreateTag, "new tags");
      if (is_tag && std::ranges::binary_search(info.deleted_tags, name)) {
        throw Error(ref + " was deleted");
      }
      const ObjectId id = known_snapshot(info, snapshot);
      Refs& refs = is_tag ? info.tags : info.branches;
      if (!refs.emplace(name, id).second) throw Error(ref + " already exists");
      info.note(is_tag ? UpdateType::tag_created : UpdateType::branch_created, {std::string(name)},
                backup);
      return true;
    });
  });
}

void check_new_branch(Store& files, int format, std::string_view name) {
  check_ref_name(name);
  bool exists = false;
  if (format == 1) {
    check_file_name(name);
    exists = files.has(branch_key(name));
  } else if (const auto file = files.get(kRepositoryFile)) {
    exists = RepositoryInfo(file->span()).branches.contains(std::string(name));
  }
  if (exists) throw Error("branch " + std::string(name) + " already exists");
}

void reset_branch(Store& files, std::string_view name, std::string_view snapshot) {
  const std::string ref = describe({Kind::branch, std::string(name)});
  with_context(files.description(), [&] {
    check_ref_name(name);
    if (checked_format(files) == 1) {
      read_snapshot(files, snapshot);
      return change_ref(files, branch_key(name), [&](const std::optional<std::string>& present) {
        if (!present) throw Error(ref + " does not exist");
        return std::string(snapshot);
      });
    }
    change_info(files, [&](RepositoryInfo& info, const std::string& backup) {
      const auto branch = existing(info.branches, name, ref);
      const ObjectId previous = branch->second;
      branch->second = known_snapshot(info, snapshot);
      info.note(UpdateType::branch_reset, {std::string(name), previous}, backup);
      return true;
    });
  });
}

void delete_ref(Store& files, Kind kind, std::string_view name) {
  const bool is_tag = kind == Kind::tag;
  const std::string ref = describe({kind, std::string(name)});
  with_context(files.description(), [&] {
    check_ref_name(name);
    if (!is_tag && name == kMain) throw Error("branch main cannot be deleted");
    if (checked_format(files) == 1) {
      if (!is_tag) {
        return remove_file(files, branch_key(name), [&](bool exists) {
          if (!exists) throw Error(ref + " does not exist");
        });
      }
      if (!files.has(tag_key(name))) throw Error(ref + " does not exist");
      return change_file(files, tag_deletion_key(name), [&](const std::optional<Buffer>& content) {
        if (content) throw Error(ref + " was deleted");
        return std::optional(NewContent{Buffer(0)});
      });
    }
    change_info(files, [&](RepositoryInfo& info, const std::string& backup) {
      if (is_tag) info.check_enabled(kDeleteTag, "deleting tags");
      Refs& refs = is_tag ? info.tags : info.branches;
      const auto found = existing(refs, name, ref);
      info.note(is_tag ? UpdateType::tag_deleted : UpdateType::branch_deleted,
                {std::string(name), found->second}, backup);
      refs.erase(found);
      if (is_tag) {
        info.deleted_tags.emplace_back(name);
        std::ranges::sort(info.deleted_tags);
      }
      return true;
    });
  });
}

std::vector<SnapshotInfo> ancestry(Store& files, std::string_view snapshot, std::size_t most) {
  return with_context(files.description(), [&] {
    std::vector<SnapshotInfo> found;
    std::set<std::string> seen;  // damaged files must not lead in a circle
    std::string id(snapshot);
    const auto add = [&](const SnapshotRecord& record, int format) {
      if (!seen.insert(id).second) throw Error("snapshot " + id + " is its own ancestor");
      found.push_back({id, record.parent ? id_text(*record.parent) : std::string(), record.time,
                       record.message, text_properties(record.properties, format)});
      id = found.back().parent;
    };
    if (format_at(files) == 1) {
      while (!id.empty() && found.size() < most) {
        const Snapshot file = read_snapshot(files, id);
        add(file.record(), file.format());
      }
      return found;
    }
    const RepositoryInfo info = RepositoryInfo::read(files);
    while (!id.empty() && found.size() < most) {
      add(info.snapshots.at(known_snapshot(info, id)), 2);
    }
    return found;
  });
}

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
