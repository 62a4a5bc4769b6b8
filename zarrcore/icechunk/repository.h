// An Icechunk repository: its branches, its tags and the snapshots that they name, in either
// format. Only the file of branches and tags is ever replaced; it is read when a repository is
// opened, and what this object says stays the same afterwards.
//
//   format 1   refs/branch.NAME/ref.json, refs/tag.NAME/ref.json, with ref.json.deleted for a tag
//              that was deleted; config.yaml
//   format 2   repo: all branches and tags, all snapshots, the configuration
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "zarrcore/base/json.h"
#include "zarrcore/store/requests.h"
#include "zarrcore/store/store.h"

namespace zarrcore::icechunk {

// In format 2.
inline constexpr std::string_view kRepositoryFile = "repo";
// The configuration in format 1.
inline constexpr std::string_view kConfigFile = "config.yaml";

// The keys of the files of a branch and a tag in format 1, and of the file that says that the tag
// was deleted. The tag's file stays.
std::string branch_key(std::string_view name);
std::string tag_key(std::string_view name);
std::string tag_deletion_key(std::string_view name);

// What selects a snapshot of a repository.
struct VersionName {
  enum class Kind : std::uint8_t { branch, tag, snapshot };

  Kind kind = Kind::branch;
  std::string name = "main";

  bool operator==(const VersionName&) const = default;
};

// "branch main"
std::string describe(const VersionName& version);

class Repository {
 public:
  // The repository that `files` hold. Throws Error, which names the file, when there is none or it
  // cannot be used. `expected` is the version that will be looked for. With `run`, files that are
  // on the network are requested together as far as they are known, whatever the format is.
  static std::shared_ptr<const Repository> open(std::shared_ptr<Store> files,
                                                const VersionName& expected = {},
                                                const RunTogether& run = {});

  virtual ~Repository() = default;

  virtual int format() const = 0;

  // The id of a snapshot. Throws Error when it, the branch or the tag does not exist.
  virtual std::string find_snapshot(const VersionName& version) const = 0;

  // A branch or tag, and the id of its snapshot; sorted by their names. In format 1 this lists
  // folders.
  struct Ref {
    std::string name;
    std::string snapshot;
  };
  virtual std::vector<Ref> refs(VersionName::Kind kind) const = 0;

  // See configuration.h; an empty object if there is none. Throws Error when it cannot be read.
  virtual Json configuration() const = 0;

  Store& files() const { return *files_; }
  std::string description() const { return files_->description(); }

 protected:
  explicit Repository(std::shared_ptr<Store> files) : files_(std::move(files)) {}

 private:
  std::shared_ptr<Store> files_;
};

}  // namespace zarrcore::icechunk
