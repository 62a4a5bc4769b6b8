#include "zarrcore/icechunk/format1.h"

#include "zarrcore/base/json.h"
#include "zarrcore/base/path.h"
#include "zarrcore/icechunk/object_id.h"
#include "zarrcore/icechunk/yaml_containers.h"

namespace zarrcore::icechunk {
namespace {

constexpr std::string_view kRefs = "refs";
constexpr std::string_view kBranch = "branch.";
constexpr std::string_view kTag = "tag.";
constexpr std::string_view kRefFile = "ref.json";
constexpr std::string_view kDeletedSuffix = ".deleted";
constexpr std::string_view kConfigFile = "config.yaml";
constexpr std::uint64_t kMaxRefBytes = 1 << 20;
constexpr std::uint64_t kMaxConfigBytes = 16 << 20;

std::string ref_key(std::string_view folder) {
  return join_path(join_path(kRefs, folder), kRefFile);
}

std::string folder_of(const VersionName& version) {
  const bool is_tag = version.kind == VersionName::Kind::tag;
  return std::string(is_tag ? kTag : kBranch) + version.name;
}

// The id in a file of a branch or tag; nullopt if the file does not exist.
std::optional<std::string> read_ref(Store& files, const std::string& key) {
  return with_context({key}, [&]() -> std::optional<std::string> {
    const auto text = files.get(key, kMaxRefBytes);
    if (!text) return std::nullopt;
    const Json document = parse_json(text->text());
    const std::string* snapshot = find_string(document, "snapshot");
    if (snapshot == nullptr || !is_object_id(*snapshot)) {
      throw Error("it names no snapshot");
    }
    return *snapshot;
  });
}

class Format1 final : public Repository {
 public:
  Format1(std::shared_ptr<Store> files, std::string main_snapshot)
      : Repository(std::move(files)), main_snapshot_(std::move(main_snapshot)) {}

  int format() const override { return 1; }

  std::string find_snapshot(const VersionName& version) const override {
    if (version == VersionName()) return main_snapshot_;
    if (version.kind == VersionName::Kind::snapshot) {
      if (!is_object_id(version.name)) {
        throw Error(version.name + " is no id of a snapshot, which has 20 digits and letters");
      }
      return version.name;
    }
    std::optional<std::string> snapshot;
    const std::string folder = folder_of(version);
    if (is_valid_segment(version.name)) {
      if (version.kind == VersionName::Kind::tag && is_deleted(folder)) {
        throw Error("tag " + version.name + " was deleted");
      }
      snapshot = read_ref(files(), ref_key(folder));
    }
    if (!snapshot) throw Error(describe(version) + " does not exist");
    return *snapshot;
  }

  std::vector<Ref> refs(VersionName::Kind kind) const override {
    const std::string_view beginning = kind == VersionName::Kind::tag ? kTag : kBranch;
    std::vector<Ref> refs;
    for (const std::string& folder : files().list(kRefs).prefixes) {
      if (!folder.starts_with(beginning)) continue;
      if (kind == VersionName::Kind::tag && is_deleted(folder)) continue;
      if (auto snapshot = read_ref(files(), ref_key(folder))) {
        refs.push_back({folder.substr(beginning.size()), *std::move(snapshot)});
      }
    }
    return refs;
  }

  std::optional<std::string> container_url(std::string_view name) const override {
    return with_context({kConfigFile}, [&]() -> std::optional<std::string> {
      const auto text = files().get(kConfigFile, kMaxConfigBytes);
      if (!text) return std::nullopt;
      return find_yaml_container(text->text(), name);
    });
  }

 private:
  // The file of a deleted tag stays.
  bool is_deleted(const std::string& folder) const {
    return files().get(ref_key(folder) + std::string(kDeletedSuffix), kMaxRefBytes).has_value();
  }

  std::string main_snapshot_;
};

}  // namespace

std::string branch_key(std::string_view name) {
  return ref_key(std::string(kBranch) + std::string(name));
}

std::shared_ptr<const Repository> open_format1(std::shared_ptr<Store> files) {
  auto snapshot = read_ref(*files, branch_key(VersionName().name));
  if (!snapshot) return nullptr;
  return std::make_shared<const Format1>(std::move(files), *std::move(snapshot));
}

}  // namespace zarrcore::icechunk
