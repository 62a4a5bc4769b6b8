#include "zarrcore/icechunk/repository.h"

#include <exception>
#include <utility>

#include "zarrcore/base/error.h"
#include "zarrcore/base/path.h"
#include "zarrcore/icechunk/configuration.h"
#include "zarrcore/icechunk/flexbuffers.h"
#include "zarrcore/icechunk/object_file.h"
#include "zarrcore/icechunk/repository_info.h"

namespace zarrcore::icechunk {
namespace {

constexpr std::string_view kRefs = "refs";
constexpr std::string_view kBranch = "branch.";
constexpr std::string_view kTag = "tag.";
constexpr std::string_view kRefFile = "ref.json";
constexpr std::string_view kDeletedSuffix = ".deleted";
constexpr std::uint64_t kMaxConfigBytes = 16 << 20;
constexpr std::uint64_t kMaxRefBytes = 1 << 20;
// The file of format 2 has the whole history.
constexpr std::uint64_t kMaxRepositoryBytes = std::uint64_t{1} << 30;

// Files that name snapshots, requested together if each request takes long.
class RequestedFiles {
 public:
  // Requests files by their keys if they are on the network and there is a `run`. Throws nothing:
  // an error is reported by get().
  RequestedFiles(Store& files, const std::vector<std::string>& keys, const RunTogether& run)
      : files_(files),
        answers_(run && files.traits().parallel_requests > 1
                     ? requests_.request(keys, files.traits().parallel_requests, run,
                                         [this](const std::string& key) { return request(key); })
                     : DocumentRequests::AnswerScope()) {}

  // The text of a file, which is requested if it was not; null if it does not exist.
  DocumentText get(const std::string& key) const {
    const auto answer = requests_.find(key);
    return answer ? *answer : request(key);
  }

 private:
  DocumentText request(const std::string& key) const {
    auto text = files_.get(key, key == kRepositoryFile ? kMaxRepositoryBytes : kMaxRefBytes);
    return text ? std::make_shared<const Buffer>(*std::move(text)) : nullptr;
  }

  Store& files_;
  DocumentRequests requests_;
  DocumentRequests::AnswerScope answers_;
};

std::string ref_key(std::string_view folder) {
  return join_path(join_path(kRefs, folder), kRefFile);
}

std::string folder_of(const VersionName& version) {
  const bool is_tag = version.kind == VersionName::Kind::tag;
  return std::string(is_tag ? kTag : kBranch) + version.name;
}

std::string deletion_key(std::string_view folder) {
  return ref_key(folder) + std::string(kDeletedSuffix);
}

// Returns true if the version may have a file.
bool has_file(const VersionName& version) {
  return version.kind != VersionName::Kind::snapshot && is_valid_segment(version.name);
}

bool is_deleted(const RequestedFiles& files, const std::string& folder) {
  try {
    return files.get(deletion_key(folder)) != nullptr;
  } catch (const AccessDenied&) {
    return false;  // the answer of stores that do not list when a file does not exist
  }
}

// The id in the file of a branch or tag; nullopt if it does not exist.
std::optional<std::string> read_ref(const RequestedFiles& files, const std::string& folder) {
  const std::string key = ref_key(folder);
  return with_context({key}, [&]() -> std::optional<std::string> {
    const DocumentText text = files.get(key);
    if (!text) return std::nullopt;
    const Json document = parse_json(text->text());
    const std::string* snapshot = find_string(document, "snapshot");
    if (snapshot == nullptr || !is_object_id(*snapshot)) {
      throw Error("it names no snapshot");
    }
    return *snapshot;
  });
}

// The id of the snapshot of a branch or tag; nullopt if there is none of this name.
std::optional<std::string> read_version(const RequestedFiles& files, const VersionName& version) {
  if (!has_file(version)) return std::nullopt;
  const std::string folder = folder_of(version);
  if (version.kind == VersionName::Kind::tag && is_deleted(files, folder)) {
    throw Error("tag " + version.name + " was deleted");
  }
  return read_ref(files, folder);
}

// The keys of the files that say which snapshot `version` is, and that this is a repository.
std::vector<std::string> ref_keys(const VersionName& version) {
  if (!has_file(version)) return {branch_key(VersionName().name)};
  const std::string folder = folder_of(version);
  if (version.kind == VersionName::Kind::branch) return {ref_key(folder)};
  return {ref_key(folder), deletion_key(folder)};
}

class Format1 final : public Repository {
 public:
  // `known_snapshot` is the snapshot of `known`.
  Format1(std::shared_ptr<Store> files, VersionName known, std::string known_snapshot,
          RunTogether run)
      : Repository(std::move(files)),
        known_(std::move(known)),
        known_snapshot_(std::move(known_snapshot)),
        run_(std::move(run)) {}

  int format() const override { return 1; }

  std::string find_snapshot(const VersionName& version) const override {
    if (version == known_) return known_snapshot_;
    if (version.kind == VersionName::Kind::snapshot) {
      if (!is_object_id(version.name)) {
        throw Error(version.name + " is no id of a snapshot, which has 20 digits and letters");
      }
      return version.name;
    }
    const auto snapshot = read_version(RequestedFiles(files(), ref_keys(version), run_), version);
    if (!snapshot) throw Error(describe(version) + " does not exist");
    return *snapshot;
  }

  std::vector<Ref> refs(VersionName::Kind kind) const override {
    const bool is_tag = kind == VersionName::Kind::tag;
    const std::string_view beginning = is_tag ? kTag : kBranch;
    std::vector<std::string> folders = files().list(kRefs).prefixes;
    std::erase_if(folders, [&](const std::string& each) { return !each.starts_with(beginning); });
    std::vector<std::string> keys;
    for (const std::string& folder : folders) {
      keys.push_back(ref_key(folder));
      if (is_tag) keys.push_back(deletion_key(folder));
    }
    const RequestedFiles requested(files(), keys, run_);
    std::vector<Ref> refs;
    for (const std::string& folder : folders) {
      if (is_tag && is_deleted(requested, folder)) continue;
      if (auto snapshot = read_ref(requested, folder)) {
        refs.push_back({folder.substr(beginning.size()), *std::move(snapshot)});
      }
    }
    return refs;
  }

  Json configuration() const override {
    return with_context({kConfigFile}, [&] {
      const auto text = files().get(kConfigFile, kMaxConfigBytes);
      return text ? parse_yaml(text->text()) : Json::object();
    });
  }

 private:
  VersionName known_;
  std::string known_snapshot_;
  RunTogether run_;
};

constexpr unsigned kOffline = 2;

// The ids of fields.
namespace refs_field {
constexpr unsigned kName = 0;
constexpr unsigned kSnapshot = 1;
constexpr unsigned kId = 0;  // of a snapshot
constexpr unsigned kAvailability = 0;
constexpr unsigned kReason = 2;
}  // namespace refs_field

class Format2 final : public Repository {
 public:
  Format2(std::shared_ptr<Store> files, Buffer content)
      : Repository(std::move(files)),
        content_(std::move(content)),
        info_(FlatTable::root(content_.span())) {
    check_not_newer(info_.number<std::uint8_t>(info_field::kVersion));
    const FlatTable status = required(info_.table(info_field::kStatus), "status");
    if (status.number<std::uint8_t>(refs_field::kAvailability) == kOffline) {
      const auto reason = status.text(refs_field::kReason).value_or("");
      throw Error("the repository is offline" +
                  (reason.empty() ? std::string() : ": " + std::string(reason)));
    }
  }

  int format() const override { return 2; }

  std::string find_snapshot(const VersionName& version) const override {
    return with_context({kRepositoryFile}, [&] {
      if (version.kind == VersionName::Kind::snapshot) {
        for (const FlatTable snapshot : snapshots()) {
          if (id_in(snapshot) == version.name) return version.name;
        }
      } else {
        for (const FlatTable ref : tables_of(version.kind)) {
          if (name_of(ref) == version.name) return snapshot_of(ref);
        }
      }
      if (version.kind == VersionName::Kind::tag) {
        for (const std::string_view deleted :
             required(info_.vector<std::string_view>(info_field::kDeletedTags), "deleted tags")) {
          if (deleted == version.name) throw Error("tag " + version.name + " was deleted");
        }
      }
      throw Error(describe(version) + " does not exist");
    });
  }

  std::vector<Ref> refs(VersionName::Kind kind) const override {
    return with_context({kRepositoryFile}, [&] {
      std::vector<Ref> refs;
      for (const FlatTable ref : tables_of(kind)) {
        refs.push_back({std::string(name_of(ref)), snapshot_of(ref)});
      }
      return refs;
    });
  }

  Json configuration() const override {
    return with_context({kRepositoryFile, ": config"}, [&] {
      const auto config = info_.bytes(info_field::kConfig);
      return config && !config->empty() ? read_flex_buffer(*config) : Json::object();
    });
  }

 private:
  FlatTables tables_of(VersionName::Kind kind) const {
    const bool is_tag = kind == VersionName::Kind::tag;
    return required(info_.tables(is_tag ? info_field::kTags : info_field::kBranches),
                    is_tag ? "tags" : "branches");
  }

  FlatTables snapshots() const {
    return required(info_.tables(info_field::kSnapshots), "snapshots");
  }

  static std::string_view name_of(const FlatTable& ref) {
    return required(ref.text(refs_field::kName), "name of a branch or tag");
  }

  static std::string id_in(const FlatTable& snapshot) {
    return id_text(
        required(snapshot.structure(refs_field::kId, kObjectIdSize), "id of a snapshot"));
  }

  std::string snapshot_of(const FlatTable& ref) const {
    const auto index = ref.number<std::uint32_t>(refs_field::kSnapshot);
    if (index >= snapshots().size()) {
      throw Error(std::string(name_of(ref)) + " has snapshot " + std::to_string(index) + " of " +
                  std::to_string(snapshots().size()));
    }
    return id_in(snapshots()[index]);
  }

  Buffer content_;
  FlatTable info_;
};

// Null if there is no repository of format 1. Files that have been requested are taken from
// `requested`; for the other arguments, see Repository::open().
std::shared_ptr<const Repository> open_format1(std::shared_ptr<Store> files,
                                               const RequestedFiles& requested,
                                               const VersionName& expected,
                                               const RunTogether& run) {
  // Every repository has a branch main.
  for (const VersionName& known : {expected, VersionName()}) {
    if (auto snapshot = read_version(requested, known)) {
      return std::make_shared<const Format1>(std::move(files), known, *std::move(snapshot), run);
    }
  }
  return nullptr;
}

}  // namespace

std::string branch_key(std::string_view name) {
  return ref_key(std::string(kBranch) + std::string(name));
}

std::string tag_key(std::string_view name) {
  return ref_key(std::string(kTag) + std::string(name));
}

std::string tag_deletion_key(std::string_view name) {
  return deletion_key(std::string(kTag) + std::string(name));
}

std::string describe(const VersionName& version) {
  switch (version.kind) {
    case VersionName::Kind::branch:
      return "branch " + version.name;
    case VersionName::Kind::tag:
      return "tag " + version.name;
    case VersionName::Kind::snapshot:
      break;
  }
  return "snapshot " + version.name;
}

std::shared_ptr<const Repository> Repository::open(std::shared_ptr<Store> files,
                                                   const VersionName& expected,
                                                   const RunTogether& run) {
  const std::string description = files->description();
  return with_context({description}, [&]() -> std::shared_ptr<const Repository> {
    const std::string info_key(kRepositoryFile);
    std::vector<std::string> keys = ref_keys(expected);
    keys.push_back(info_key);
    const RequestedFiles requested(*files, keys, run);
    std::exception_ptr denied;
    try {
      auto repository = with_context(info_key, [&]() -> std::shared_ptr<const Repository> {
        const DocumentText info = requested.get(info_key);
        if (!info) return nullptr;
        return std::make_shared<const Format2>(files,
                                               open_envelope(info->span(), FileType::repository));
      });
      if (repository) return repository;
    } catch (const AccessDenied&) {
      denied = std::current_exception();  // the answer of some stores if there is no such file
    }
    if (auto repository = open_format1(files, requested, expected, run)) return repository;
    if (denied) std::rethrow_exception(denied);
    throw Error("this is no Icechunk repository: it has neither " + info_key + " nor " +
                branch_key(VersionName().name));
  });
}

}  // namespace zarrcore::icechunk
