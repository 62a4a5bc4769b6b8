#include <utility>

#include "zarrcore/base/json.h"
#include "zarrcore/base/path.h"
#include "zarrcore/icechunk/configuration.h"
#include "zarrcore/icechunk/formats.h"
#include "zarrcore/icechunk/object_file.h"

namespace zarrcore::icechunk {
namespace {

constexpr std::string_view kRefs = "refs";
constexpr std::string_view kBranch = "branch.";
constexpr std::string_view kTag = "tag.";
constexpr std::string_view kRefFile = "ref.json";
constexpr std::string_view kDeletedSuffix = ".deleted";
constexpr std::uint64_t kMaxConfigBytes = 16 << 20;
constexpr std::uint64_t kMaxRefBytes = 1 << 20;
// That of format 2 has the whole history.
constexpr std::uint64_t kMaxRepositoryBytes = std::uint64_t{1} << 30;

std::string ref_key(std::string_view folder) {
  return join_path(join_path(kRefs, folder), kRefFile);
}

std::string folder_of(const VersionName& version) {
  const bool is_tag = version.kind == VersionName::Kind::tag;
  return std::string(is_tag ? kTag : kBranch) + version.name;
}

// The file that says that a tag was deleted. That of the tag stays.
std::string deletion_key(std::string_view folder) {
  return ref_key(folder) + std::string(kDeletedSuffix);
}

// Whether the version may have a file.
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

class Format1 final : public Repository {
 public:
  // `known_snapshot` is that of `known`.
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

}  // namespace

RequestedFiles::RequestedFiles(Store& files, const std::vector<std::string>& keys,
                               const RunTogether& run)
    : files_(files),
      kept_(run && files.traits().parallel_requests > 1
                ? requests_.request(keys, files.traits().parallel_requests, run,
                                    [this](const std::string& key) { return request(key); })
                : DocumentRequests::AnswerScope()) {}

DocumentText RequestedFiles::get(const std::string& key) const {
  const auto answer = requests_.find(key);
  return answer ? *answer : request(key);
}

DocumentText RequestedFiles::request(const std::string& key) const {
  auto text = files_.get(key, key == kRepositoryFile ? kMaxRepositoryBytes : kMaxRefBytes);
  return text ? std::make_shared<const Buffer>(*std::move(text)) : nullptr;
}

std::string branch_key(std::string_view name) {
  return ref_key(std::string(kBranch) + std::string(name));
}

std::string tag_key(std::string_view name) {
  return ref_key(std::string(kTag) + std::string(name));
}

std::string tag_deletion_key(std::string_view name) {
  return deletion_key(std::string(kTag) + std::string(name));
}

std::vector<std::string> ref_keys(const VersionName& version) {
  if (!has_file(version)) return {branch_key(VersionName().name)};
  const std::string folder = folder_of(version);
  if (version.kind == VersionName::Kind::branch) return {ref_key(folder)};
  return {ref_key(folder), deletion_key(folder)};
}

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

}  // namespace zarrcore::icechunk
