#include "zarrcore/icechunk/refs.h"

#include <algorithm>
#include <set>

#include "zarrcore/base/path.h"
#include "zarrcore/icechunk/formats.h"
#include "zarrcore/icechunk/mutable_file.h"
#include "zarrcore/icechunk/repository_info.h"
#include "zarrcore/icechunk/snapshot_writer.h"

namespace zarrcore::icechunk {
namespace {

constexpr std::string_view kFirstSnapshot = "1CECHNKREP0F1RSTCMT0";
constexpr std::string_view kMain = "main";

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

Snapshot snapshot_file(Store& files, std::string_view id) {
  const std::string key = join_path("snapshots", id);
  return with_context({key}, [&] {
    const auto file = is_object_id(id) ? files.get(key) : std::nullopt;
    if (!file) throw Error("the snapshot does not exist");
    return Snapshot(file->span(), id);
  });
}

// Format 1 has no list of snapshots.
std::string existing_snapshot(Store& files, std::string_view id) {
  snapshot_file(files, id);
  return std::string(id);
}

std::map<std::string, ObjectId>::iterator existing(std::map<std::string, ObjectId>& refs,
                                                   std::string_view kind, std::string_view name) {
  const auto it = refs.find(std::string(name));
  if (it == refs.end()) {
    throw Error(std::string(kind) + ' ' + std::string(name) + " does not exist");
  }
  return it;
}

[[noreturn]] void fail_as_existing(std::string_view kind, std::string_view name) {
  throw Error(std::string(kind) + ' ' + std::string(name) + " already exists");
}

void check_deletable(std::string_view branch) {
  if (branch == kMain) throw Error("branch main cannot be deleted");
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

// Makes the file of a branch or tag that has none.
void create_ref(Store& files, const std::string& key, std::string_view kind, std::string_view name,
                std::string_view snapshot) {
  check_file_name(name);
  const std::string id = existing_snapshot(files, snapshot);
  change_ref(files, key, [&](const std::optional<std::string>& existing) {
    if (existing) fail_as_existing(kind, name);
    return id;
  });
}

std::vector<std::pair<std::string, std::string>> text_properties(
    const std::vector<Property>& properties, int format) {
  std::vector<std::pair<std::string, std::string>> texts;
  for (const Property& property : properties) {
    if (auto text = text_of(property, format)) texts.emplace_back(property.name, *std::move(text));
  }
  return texts;
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

void create_branch(Store& files, std::string_view name, std::string_view snapshot) {
  with_context(files.description(), [&] {
    check_ref_name(name);
    if (checked_format(files) == 1) {
      return create_ref(files, branch_key(name), "branch", name, snapshot);
    }
    change_info(files, [&](RepositoryInfo& info, const std::string& backup) {
      const ObjectId id = known_snapshot(info, snapshot);
      if (!info.branches.emplace(name, id).second) fail_as_existing("branch", name);
      info.note(UpdateType::branch_created, {std::string(name)}, backup);
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
  if (exists) fail_as_existing("branch", name);
}

void reset_branch(Store& files, std::string_view name, std::string_view snapshot) {
  with_context(files.description(), [&] {
    check_ref_name(name);
    if (checked_format(files) == 1) {
      const std::string id = existing_snapshot(files, snapshot);
      return change_ref(files, branch_key(name), [&](const std::optional<std::string>& existing) {
        if (!existing) {
          throw Error("branch " + std::string(name) + " does not exist");
        }
        return id;
      });
    }
    change_info(files, [&](RepositoryInfo& info, const std::string& backup) {
      const auto branch = existing(info.branches, "branch", name);
      const ObjectId previous = branch->second;
      branch->second = known_snapshot(info, snapshot);
      info.note(UpdateType::branch_reset, {std::string(name), previous}, backup);
      return true;
    });
  });
}

void delete_branch(Store& files, std::string_view name) {
  with_context(files.description(), [&] {
    check_ref_name(name);
    check_deletable(name);
    if (checked_format(files) == 1) {
      return remove_file(files, branch_key(name), [&](bool exists) {
        if (!exists) throw Error("branch " + std::string(name) + " does not exist");
      });
    }
    change_info(files, [&](RepositoryInfo& info, const std::string& backup) {
      const auto branch = existing(info.branches, "branch", name);
      info.note(UpdateType::branch_deleted, {std::string(name), branch->second}, backup);
      info.branches.erase(branch);
      return true;
    });
  });
}

void create_tag(Store& files, std::string_view name, std::string_view snapshot) {
  with_context(files.description(), [&] {
    check_ref_name(name);
    if (checked_format(files) == 1) {
      if (files.has(tag_deletion_key(name))) {
        throw Error("tag " + std::string(name) + " was deleted");
      }
      return create_ref(files, tag_key(name), "tag", name, snapshot);
    }
    change_info(files, [&](RepositoryInfo& info, const std::string& backup) {
      info.check_enabled(kCreateTag, "new tags");
      if (std::ranges::binary_search(info.deleted_tags, name)) {
        throw Error("tag " + std::string(name) + " was deleted");
      }
      const ObjectId id = known_snapshot(info, snapshot);
      if (!info.tags.emplace(name, id).second) fail_as_existing("tag", name);
      info.note(UpdateType::tag_created, {std::string(name)}, backup);
      return true;
    });
  });
}

void delete_tag(Store& files, std::string_view name) {
  with_context(files.description(), [&] {
    check_ref_name(name);
    if (checked_format(files) == 1) {
      if (!files.has(tag_key(name))) {
        throw Error("tag " + std::string(name) + " does not exist");
      }
      return change_file(files, tag_deletion_key(name), [&](const std::optional<Buffer>& content) {
        if (content) throw Error("tag " + std::string(name) + " was deleted");
        return std::optional(NewContent{Buffer(0)});
      });
    }
    change_info(files, [&](RepositoryInfo& info, const std::string& backup) {
      info.check_enabled(kDeleteTag, "deleting tags");
      const auto tag = existing(info.tags, "tag", name);
      info.note(UpdateType::tag_deleted, {std::string(name), tag->second}, backup);
      info.tags.erase(tag);
      info.deleted_tags.emplace_back(name);
      std::ranges::sort(info.deleted_tags);
      return true;
    });
  });
}

std::vector<SnapshotInfo> ancestry(Store& files, std::string_view snapshot, std::size_t most) {
  return with_context(files.description(), [&] {
    std::vector<SnapshotInfo> found;
    std::set<std::string> seen;  // damaged files must not lead in a circle
    std::string id(snapshot);
    const auto add = [&](const std::optional<ObjectId>& parent, std::uint64_t time,
                         std::string_view message, const std::vector<Property>& properties,
                         int format) {
      if (!seen.insert(id).second) throw Error("snapshot " + id + " is its own ancestor");
      found.push_back({id, parent ? id_text(*parent) : std::string(), time, std::string(message),
                       text_properties(properties, format)});
      id = found.back().parent;
    };
    if (format_at(files) == 1) {
      while (!id.empty() && found.size() < most) {
        const Snapshot file = snapshot_file(files, id);
        add(file.parent(), file.time(), file.message(), file.properties(), file.format());
      }
      return found;
    }
    const auto file = files.get(kRepositoryFile);
    if (!file) throw Error("the repository has been removed");
    const RepositoryInfo info(file->span());
    while (!id.empty() && found.size() < most) {
      const SnapshotRecord& record = info.snapshots.at(known_snapshot(info, id));
      add(record.parent, record.time, record.message, record.properties, 2);
    }
    return found;
  });
}

}  // namespace zarrcore::icechunk
